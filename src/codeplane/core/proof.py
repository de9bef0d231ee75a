"""How far an answer is proven, and why an empty one is empty."""

from enum import StrEnum


class Tier(StrEnum):
    """What a reference's binding rests on. Nothing is ever bound by its bare name."""

    PROVEN = "proven"
    """Lexically bound inside its file, with certainty."""
    STRONG = "strong"
    """Bound through an explicit chain of imports and exports."""
    ANCHORED = "anchored"
    """The same token behind a receiver whose type is not proven."""
    UNKNOWN = "unknown"
    """Not bound to anything that is known."""


class Absence(StrEnum):
    """Why an answer has no items."""

    PROVEN_NONE = "proven_none"
    """Everything was read and there is none."""
    NOT_INDEXED = "not_indexed"
    """Some files have not been read yet."""
    PARSE_PARTIAL = "parse_partial"
    """Some files could be read only in part."""
    LANGUAGE_GAP = "language_gap"
    """The text occurs in files whose language has no facts of this kind."""
