"""What a write has done to the code: definitions that are others now, and tests that are concerned."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from codeplane.core.paths import RepoPath
from codeplane.graph.diff.breakage import Breakage, breakage
from codeplane.graph.diff.repository import FileDiff, State, changed_definitions, structural_diff
from codeplane.graph.tests.by_coverage import Learnt
from codeplane.graph.tests.impact import Impact, Known, affected_tests, refined
from codeplane.jail import shown
from codeplane.names import Codebase, Snapshot

Contents = Mapping[RepoPath, bytes | None]

_BROKEN = ("partial", "failed")
_IN_LINE = re.compile(r"syntax error in line (\d+)")
_LONGEST = 120
# A write does not wait long for what it tells besides.
_MOST_FILES = 60


@dataclass(frozen=True)
class Effects:
    """By file. `broken` are those that could be parsed whole before and cannot be now."""

    files: tuple[FileDiff, ...] = ()
    impact: Impact = field(default_factory=lambda: Impact((), (), ()))
    unparsable: tuple[RepoPath, ...] = ()
    syntax: tuple[str, ...] = ()  # of each broken file, where it cannot be parsed
    breakage: Breakage = field(default_factory=Breakage)


@dataclass(frozen=True)
class Before:
    """What is known of files before they are changed."""

    blobs: Mapping[str, int | None]
    states: Mapping[str, str]
    impact: Impact  # the tests that lead to the files


def state_before(snapshot: Snapshot, old: Contents) -> Before:
    """To be asked before the write: who imports a file is known already."""
    layout = snapshot.layout.blobs
    blobs: dict[str, int | None] = {path: layout[path] for path in old if path in layout}
    states = {path: _parse_state(snapshot, blob) for path, blob in blobs.items()}
    return Before(blobs, states, affected_tests(snapshot, sorted(map(RepoPath, blobs))))


def effects(
    snapshot: Snapshot, was: Before, old: Contents, new: Contents, learnt: Learnt | None = None
) -> Effects:
    """The difference that a write has made, as the index has it now."""
    layout = snapshot.layout.blobs
    blobs: dict[str, int | None] = {path: layout[path] for path in new if path in layout}
    then = State("before", was.blobs, snapshot, old.get, snapshot.epoch)
    files = list(structural_diff(then, State("after", blobs, snapshot, new.get, snapshot.epoch)))
    unparsable = [
        RepoPath(path)
        for path, blob in blobs.items()
        if _parse_state(snapshot, blob) in _BROKEN and was.states.get(path, "ok") == "ok"
    ]
    new_paths = sorted(RepoPath(path) for path in blobs if path not in was.blobs)
    impact = _both_impacts(affected_tests(snapshot, new_paths), was.impact, layout)
    knowledge = Known(changed_definitions(files), learnt, _MOST_FILES)
    impact = refined(snapshot, impact, sorted(map(RepoPath, blobs)), knowledge)
    # A file that cannot be parsed whole seems to lack what it has.
    parsable = [file for file in files if file.path not in unparsable]
    syntax = tuple(_first_syntax_error(snapshot, path, new.get(path)) for path in unparsable)
    return Effects(
        tuple(files), impact, tuple(unparsable), syntax, breakage(snapshot, was.blobs, old, parsable)
    )


def _first_syntax_error(snapshot: Snapshot, path: RepoPath, data: bytes | None) -> str:
    """`path:line: text` of the first line that cannot be parsed; the reason where no line is to blame."""
    file = snapshot.file(path)
    reason = file.reason if file is not None else ""
    match = _IN_LINE.fullmatch(reason)
    if match is None:
        return f"{shown(path)}: {reason or 'cannot be parsed'}"
    lines = (data or b"").split(b"\n")
    text = lines[min(int(match[1]), len(lines)) - 1].decode("utf-8", "replace").strip()
    return f"{shown(path)}:{match[1]}: {text[:_LONGEST]}"


def _both_impacts(now: Impact, then: Impact, there: Container[str]) -> Impact:
    """Tests that lead to what was made and to what was there, as far as they are still there themselves."""
    paths = {one.path for one in now.tests}
    more = [one for one in then.tests if one.path not in paths and one.path in there]
    reasons = dict.fromkeys([*now.reasons, *then.reasons])
    return Impact([*now.tests, *more], [*now.nameless_files, *then.nameless_files], list(reasons))


def _parse_state(code: Codebase, blob: int | None) -> str:
    facts = code.facts_of(blob) if blob is not None else None
    return facts.state if facts is not None else "ok"
