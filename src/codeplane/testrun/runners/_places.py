"""Where a failure is: places of the repository in what runners print."""

import re
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath

# A path with an ending and a line, as most tools write it: `dir/file.ext:12`, `file.ext(12)`.
_PLACE: Final = re.compile(r"((?:file://)?[^\s:()'\"<>|]+\.[A-Za-z]{1,5})(?::(\d+)|\((\d+)[,)]|:line (\d+))")
_FRAME: Final = re.compile(r"\s+at \S")
_TOP: Final = RepoPath("")
_FOREIGN: Final = ("node_modules/", "/vendor/", "/gems/", "/rustc/", "site-packages/", "node:internal")
_MOST_LOOKED_AT: Final = 20_000


def relative(path: str, root: Path, cwd: RepoPath = _TOP) -> str:
    """A path as the repository knows it; "" for one outside of it, or of something that was fetched."""
    text = path.removeprefix("file://")
    if any(part in f"/{text}" for part in _FOREIGN):
        return ""
    result = Path(text) if text.startswith("/") else root / cwd / text
    for base in dict.fromkeys((root, root.resolve())):
        # What a run prints is not followed out of the repository.
        if result.is_relative_to(base) and ".." not in result.parts:
            return result.relative_to(base).as_posix().removeprefix("./")
    return ""


def first_place(text: str, root: Path, cwd: RepoPath = _TOP) -> tuple[str, int]:
    """The first line of a file of the repository that a text names; ("", 0) for none."""
    for match in _PLACE.finditer(text[:_MOST_LOOKED_AT]):
        if (path := relative(match[1], root, cwd)) and (root / path).is_file():
            return path, int(match[2] or match[3] or match[4])
    return "", 0


def own_frames(text: str, root: Path) -> str:
    """A stack of JavaScript without frames of what was fetched, and with paths as the repository has them."""
    lines = [line for line in text.splitlines() if not _FRAME.match(line) or first_place(line, root)[0]]
    stack = "\n".join(lines)
    for base in dict.fromkeys((root, root.resolve())):
        stack = stack.replace(f"file://{base}/", "").replace(f"{base}/", "")
    return stack


def first_line(text: str, most: int = 500) -> str:
    """The first line of a text that says something."""
    return next((line.strip()[:most] for line in text.splitlines() if line.strip()), "")
