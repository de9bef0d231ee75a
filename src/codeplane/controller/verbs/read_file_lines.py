import re
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import action_of, look_around, readable_file
from codeplane.core.errors import InvalidArgument
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Reads lines of a file; the handle that comes with them can be cited in a plan.",
    "Before a plan names the file, and whenever its text matters.",
)
_NUMBER: Final = re.compile(r"\s*(\d+)")


class Args(VerbArgs):
    target_file: Annotated[str, synonyms("path", "file", "file_path")] = Field(min_length=1, max_length=4000)
    start_line: Annotated[int | None, synonyms("from_line", "line_start", "line", "offset")] = Field(
        default=None, ge=1
    )
    end_line: Annotated[int | None, synonyms("to_line", "line_end")] = Field(default=None, ge=1)


def example(turn: Turn) -> dict[str, Any]:
    return {"targetFile": some_file(turn)}


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The file that is meant, with the lines that it has; else what is in its directory."""
    text = str(values.get("target_file", ""))
    path = readable_file(turn, text) if text else None
    if path is None:
        return look_around(turn, text) if text else None
    count = turn.call.repo.tree.read(path).count(b"\n") + 1
    lines = {name: values[name] for name in ("start_line", "end_line") if isinstance(values.get(name), int)}
    if len(lines) == 2 and lines["start_line"] > lines["end_line"]:
        lines = {"start_line": lines["end_line"], "end_line": lines["start_line"]}
    if lines.get("start_line", 1) >= count:
        lines = {}
    return action_of(Verb.READ_FILE_LINES, "With a file that is there.", {"target_file": str(path), **lines})


def some_file(turn: Turn) -> str:
    """A file that can be read: the README if there is one."""
    with turn.call.snapshot() as snapshot:
        paths = sorted(snapshot.digests(), key=lambda path: ("readme" not in path.lower(), len(path), path))
    return str(paths[0]) if paths else "README.md"


def run(turn: Turn, args: Args) -> VerbResult:
    request: dict[str, Any] = {"targets": [args.target_file]}
    if args.start_line is not None:
        request["start_line"] = args.start_line
    if args.end_line is not None:
        request["end_line"] = args.end_line
    step = turn.run_tool("read_source", request)
    [file] = step.body["result"]["files"]
    if file["path"] != args.target_file:
        _refuse_directory(turn, args.target_file)
    text = "\n".join(span["text"] for span in file["spans"])
    first, last = _line_range(text)
    handle = turn.add_evidence("code", file["path"], first, last, file["file_sha256"])
    result = {
        "targetFile": file["path"],
        "digest": file["file_sha256"],
        "startLine": first,
        "endLine": last,
        "totalLines": file["lines"],
        "text": text,
        "evidence": handle,
    }
    return VerbResult(result, f"{step.text}\nevidence {handle}")


def _refuse_directory(turn: Turn, text: str) -> None:
    """A directory is no file, whichever symbol may have its name."""
    with turn.call.snapshot() as snapshot:
        if snapshot.is_directory(text.strip().removeprefix("./").rstrip("/") or "."):
            raise InvalidArgument(f"{text[:80]} is a directory; list_directory_contents shows it.")


def _line_range(text: str) -> tuple[int, int]:
    """The first and the last line number of numbered lines."""
    first = _NUMBER.match(text)
    lines = reversed(text.rsplit("\n", 2))
    last = next((match for line in lines if (match := _NUMBER.match(line)) is not None), first)
    return (int(first[1]), int(last[1])) if first is not None and last is not None else (1, 1)
