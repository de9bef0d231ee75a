"""Where a process was when it crashed or was ended, from the stack that Python's `faulthandler` writes."""

import re
from pathlib import Path
from typing import Final

from codeplane.testrun.results import Case, Status

_FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)(?: in (\S+))?')
_BEGINNING: Final = "(most recent call first):"
_MOST_FRAMES: Final = 12


def stopped_at(case: str, target: str, text: str, root: Path) -> Case | None:
    """An error at the innermost frame of the repository in a stack as `faulthandler` writes it."""
    _, marker, stack = text.rpartition(_BEGINNING)
    frames = [(Path(one[1]), int(one[2]), one[3] or "") for one in _FRAME.finditer(stack if marker else "")]
    own = [
        frame for frame in frames if frame[0].is_relative_to(root) and "site-packages" not in frame[0].parts
    ]
    if not own:
        return None
    lines = [
        f"{path.relative_to(root)}:{line} in {name}" for path, line, name in reversed(own[:_MOST_FRAMES])
    ]
    path, line, _ = own[0]
    return Case(
        case, target, Status.ERROR, path=str(path.relative_to(root)), line=line, stack="\n".join(lines)
    )
