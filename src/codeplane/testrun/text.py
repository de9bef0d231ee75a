"""What programs print, as text that can be shown."""

import re
from typing import Final

from codeplane.process import Finished

_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f\x9b]"
)


def plain(text: str) -> str:
    """Text without colours and other control characters, that can be written as UTF-8."""
    result = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return result.encode("utf-8", "replace").decode("utf-8")


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def what_was_said(finished: Finished, most: int = 2000) -> str:
    """The end of what a runner printed, errors first, without colours."""
    text = plain(finished.said)
    return text if len(text) <= most else f"…{text[-most:]}"
