import os
import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn, work_folder
from codeplane.controller.verb import SCOPE_VIOLATION, Denied, Problem, VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import action_of
from codeplane.core.synonyms import synonyms
from codeplane.storage.files import private_dir, write_private

DESCRIPTOR = VerbDescriptor(
    "Writes a file to the run's scratch folder, which is no part of the repository.",
    "For notes and drafts; scratch files are no evidence.",
)
_LARGEST: Final = 1_000_000
_MOST_FILES: Final = 200


class Args(VerbArgs):
    relative_path: Annotated[str, synonyms("path", "file")] = Field(min_length=1, max_length=400)
    content: Annotated[str, synonyms("text")] = Field(max_length=_LARGEST)


def example(_turn: Turn) -> dict[str, Any]:
    return {"relativePath": "notes.md", "content": "notes"}


def correct(_turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The text in a file of the scratch folder."""
    words = re.findall(r"[A-Za-z0-9][\w.-]*", str(values.get("relative_path", "")).rpartition("/")[2])
    rest = {
        "relative_path": words[-1][-100:] if words else "notes.md",
        "content": values.get("content", "notes"),
    }
    return action_of(Verb.WRITE_SCRATCH_FILE, "Below the scratch folder.", rest)


def run(turn: Turn, args: Args) -> VerbResult:
    root = work_folder(turn.call, turn.run) / "scratch"
    name = _checked_name(args.relative_path)
    for folder in (root.parent.parent, root.parent, root):
        private_dir(folder)
    target = root
    for part in name.parts[:-1]:
        target = target / part
        private_dir(target)
    target = target / name.parts[-1]
    if not target.exists() and sum(1 for _ in root.rglob("*")) >= _MOST_FILES:
        raise _refused(args.relative_path, f"the scratch folder has {_MOST_FILES} files already")
    if target.is_symlink() or target.is_dir():
        raise _refused(args.relative_path, "it is no plain file")
    data = args.content.encode("utf-8", "surrogateescape")
    write_private(target, data)
    shown = f"scratch/{name}"
    return VerbResult({"path": shown, "bytes": len(data)}, f"wrote {shown} ({len(data)} bytes)")


def _checked_name(text: str) -> PurePosixPath:
    name = PurePosixPath(text)
    parts = name.parts
    if (
        name.is_absolute()
        or not parts
        or any(part in ("..", ".") or os.sep in part or "\0" in part for part in parts)
        or any(ord(character) < 32 for character in text)
        or "\\" in text
    ):
        raise _refused(text, "it has to stay below the scratch folder")
    return name


def _refused(text: str, reason: str) -> Denied:
    message = f"{text[:80]!r} is refused: {reason}."
    problem = Problem(SCOPE_VIOLATION, "scope.scratch", "relativePath", message)
    return Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]})
