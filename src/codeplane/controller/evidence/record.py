"""What a run was shown: one row for each piece of evidence."""

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final, NamedTuple

HANDLE: Final = re.compile(r"ev_[0-9a-f]{6,64}\b")
PROMPT: Final = "prompt"
_POLICY_NAMES: Final = frozenset(
    (
        "agents.md",
        "claude.md",
        "gemini.md",
        "contributing.md",
        "contributing.rst",
        "contributing",
        "copilot-instructions.md",
        "codeowners",
        "security.md",
        ".cursorrules",
        ".editorconfig",
    )
)
_POLICY_FOLDERS: Final = ("policies", ".cursor/rules", ".github/instructions")


class Category(StrEnum):
    """What a piece of evidence can show."""

    REQUIREMENT = "requirement"  # what is asked for: prompt, ticket, API operation
    CODE = "code"  # what is there
    POLICY = "policy"  # how it is done here


class EvidenceRecord(NamedTuple):
    """What a reading verb has shown of one source, as it was then."""

    handle: str
    category: Category
    source: str  # a path, `prompt`, a ticket's key, or an API operation
    first_line: int
    last_line: int
    digest: str
    quote: str = ""

    @property
    def place(self) -> str:
        """The source with its lines."""
        return f"{self.source}:{self.first_line}-{self.last_line}" if self.first_line else self.source


def category_of_file(path: str) -> Category:
    """Whether a file says how things are done here, or is what is there."""
    pure = PurePosixPath(path.lower())
    folder = f"{pure.parent}/"
    if pure.name in _POLICY_NAMES or any(f"{name}/" in folder for name in _POLICY_FOLDERS):
        return Category.POLICY
    return Category.CODE
