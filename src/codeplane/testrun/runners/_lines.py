"""Lines that our reporters write, read into cases, and followed while they are written."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import Malformed, decode_json
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import Place, Standing
from codeplane.testrun.stacks import stopped_at
from codeplane.testrun.target import Target

LEARNT: Final = "learnt.json"
REPORTERS: Final = Path(__file__).parent.parent / "reporters"
_LARGEST: Final = 64 << 20
_LONGEST: Final = 6000
_STATUSES: Final = {one.value: one for one in Status}

Owner = Callable[[str], str]
"""From the id of a test to that of its target."""


def report_file(reports: Path) -> Path:
    return reports / "report.jsonl"


def reporting(place: Place) -> dict[str, str]:
    """What a reporter is told by its environment."""
    environment = {"CODEPLANE_REPORT": str(report_file(place.reports)), "CODEPLANE_ROOT": str(place.root)}
    if place.coverage:
        environment["CODEPLANE_COVERAGE"] = json.dumps([str(directory) for directory in place.coverage])
        environment |= {
            "CODEPLANE_LEARN": str(place.reports / LEARNT),
            "CODEPLANE_LEARN_ROOT": str(place.root),
        }
    return environment


def read_lines(reports: Path) -> list[dict[str, Any]]:
    """Every whole line that was written."""
    try:
        with report_file(reports).open("rb") as stream:
            data = stream.read(_LARGEST)
    except OSError:
        return []
    return [line for text in data.split(b"\n") if (line := _parse_line(text)) is not None]


def _parse_line(text: bytes) -> dict[str, Any] | None:
    try:
        read = decode_json(text)
    except Malformed:
        return None
    return read if isinstance(read, dict) and isinstance(read.get("e"), str) else None


def cases(lines: Sequence[Mapping[str, Any]], owner: Owner, root: str = "") -> list[Case]:
    """The tests that have ended, and what stood in the way of others; their ids begin with the root."""
    matches = [_case_of_line(line, owner) for line in lines if line["e"] in ("case", "bad")]
    return [replace(case, id=joined(root, case.id)) for case in matches] if root else matches


def _case_of_line(line: Mapping[str, Any], owner: Owner) -> Case:
    name = str(line.get("id", ""))
    status = str(line.get("status", "error"))
    return Case(
        id=name,
        target=owner(str(line.get("file") or name)),
        status=_STATUSES.get(status, Status.ERROR),
        seconds=_number_of(line.get("seconds")),
        message=_text_of(line, "message"),
        kind=_text_of(line, "kind"),
        path=_text_of(line, "path"),
        line=int(_number_of(line.get("line"))),
        stack=_text_of(line, "stack"),
        output=_text_of(line, "output"),
    )


def _number_of(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value == value else 0.0


def _text_of(line: Mapping[str, Any], key: str) -> str:
    value = line.get(key)
    return value[:_LONGEST] if isinstance(value, str) else ""


def has_ended(lines: Sequence[Mapping[str, Any]]) -> bool:
    return any(line["e"] == "end" for line in lines)


def running(lines: Sequence[Mapping[str, Any]]) -> str:
    """The test that had begun and not ended; "" for none."""
    tests: dict[str, None] = {}
    for line in lines:
        if line["e"] == "start":
            tests[str(line.get("id", ""))] = None
        elif line["e"] == "case":
            tests.pop(str(line.get("id", "")), None)
    return list(tests)[-1] if tests else ""


class LineFollower:
    """Reads a report as it grows."""

    def __init__(self, place: Place, owner: Owner, root: str = "") -> None:
        self._place, self._owner, self._root = place, owner, root
        self._at = 0
        self._rest = b""
        self._begun: dict[str, None] = {}
        self._running: dict[str, str] = {}
        self._reading = ""
        self._failed = self._complete = False

    def look(self) -> Standing:
        try:
            with report_file(self._place.reports).open("rb") as stream:
                stream.seek(self._at)
                data = stream.read(_LARGEST)
        except OSError:
            data = b""
        self._at += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        for text in whole:
            if (line := _parse_line(text)) is not None:
                self._take_line(line)
        case = next(reversed(self._running), "")
        target = self._running[case] if case else self._reading
        name = joined(self._root, case)
        return Standing(target, name, tuple(self._begun), self._failed, self._complete)

    def _take_line(self, line: Mapping[str, Any]) -> None:
        name = str(line.get("id", ""))
        match line["e"]:
            case "reading":
                self._reading = self._owner(name)
            case "start":
                self._running[name] = self._owner(str(line.get("file") or name))
                self._begun[self._running[name]] = None
            case "through":
                self._running.pop(name, None)
            case "case":
                self._running.pop(name, None)
                self._failed |= line.get("status") in ("failed", "error")
            case "bad":
                self._failed = True
            case "end":
                self._complete = True

    def last_words(self) -> Case | None:
        """Where Python was, from the stack that it wrote when it was asked."""
        try:
            text = report_file(self._place.reports).with_suffix(".jsonl.stacks").read_text("utf-8", "replace")
        except OSError:
            return None
        standing = self.look()
        return stopped_at(standing.case, standing.target, text, self._place.root) if text.strip() else None


def by_file(targets: Sequence[Target]) -> Owner:
    """Ids such as `dir/file.py::name`, relative to the directory that the runner was started in."""
    ids = {
        joined(target.root, _file_of_id(target.selector.partition("\n")[0])): target.id for target in targets
    }
    roots = {target.root for target in targets}

    def owner(name: str) -> str:
        return next((ids[path] for root in roots if (path := joined(root, _file_of_id(name))) in ids), "")

    return owner


def joined(root: str, name: str) -> str:
    """An id that begins where the runner was started, from the top of the repository."""
    return f"{root}/{name}" if root and name else name


def _file_of_id(name: str) -> str:
    return name.partition("::")[0]
