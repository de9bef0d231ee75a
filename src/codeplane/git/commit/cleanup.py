"""Cleans up the messages of commits and tags as git does (`commit.cleanup`)."""

import re
from typing import Final, Literal

import pygit2

from codeplane.core.errors import InvalidArgument
from codeplane.git.repo.config import config_text

Mode = Literal["verbatim", "whitespace", "strip"]

_BLANK: Final = " \t\r\v\f"
_MODES: Final[dict[str, Mode]] = {"verbatim": "verbatim", "whitespace": "whitespace", "strip": "strip"}
_PARAGRAPHS: Final = re.compile(r"\n{2,}")


def cleanup_mode(handle: pygit2.Repository) -> Mode:
    """The mode that `commit.cleanup` sets for a message that nobody edits: `whitespace` by default."""
    return _MODES.get((config_text(handle, "commit.cleanup") or "").lower(), "whitespace")


def clean_message(handle: pygit2.Repository, message: str, mode: Mode) -> str:
    """The message without trailing blanks and extra empty lines; `strip` removes comments too."""
    if "\0" in message:
        raise InvalidArgument("A message can't contain a NUL character.")
    if mode == "verbatim":
        return message
    lines = [line.rstrip(_BLANK) for line in message.split("\n")]
    if mode == "strip":
        mark = config_text(handle, "core.commentChar") or "#"
        lines = [line for line in lines if not line.startswith("#" if mark == "auto" else mark)]
    whole = _PARAGRAPHS.sub("\n\n", "\n".join(lines)).strip("\n")
    return f"{whole}\n" if whole else ""
