"""The one reader of XML, which test runners write their reports in."""

from xml.etree.ElementTree import Element, ParseError, fromstring

from codeplane.core.documents import LARGEST_REPORT, Malformed

__all__ = ["Element", "parse_xml"]


def parse_xml(data: bytes, largest: int = LARGEST_REPORT) -> Element:
    """Reads an XML document; one that brings definitions of its own is `Malformed`."""
    if len(data) > largest:
        raise Malformed(f"larger than {largest} bytes")
    # A NUL is an encoding in which the two words would not be seen.
    if b"\0" in data or b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise Malformed("it has entity definitions")
    try:
        return fromstring(data)  # noqa: S314 - no definitions, no entities
    except (ParseError, ValueError, LookupError) as error:
        raise Malformed(str(error)) from error
