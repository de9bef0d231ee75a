"""Tools that rename, each asked for the same symbol: CodePlane, a language server, rope and jedi."""

import json
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from bench.lsp import Server
from bench.suites import Kept, environment
from codeplane.refactor import Plan, Verdict
from codeplane.refactor.rename import Sweep, draft, proven
from codeplane.refactor.subject import Subject
from codeplane.session import RepoSession

ROPE, JEDI = "1.14.0", "0.19.2"
_ANSWER_SEC = 90
_TOKEN = re.compile(r"[\w$]+|\S")

Spot = tuple[str, int, int]
"""Path, line from 1, column in characters from 0."""


@dataclass(frozen=True)
class Asked:
    """A symbol where it is defined, and its new name."""

    kind: str
    name: str
    at: Spot
    new: str


@dataclass(frozen=True)
class Answer:
    """The new contents of files; none where the tool does not rename, and why."""

    files: dict[str, bytes]
    why_not: str = ""


class Renamer(Protocol):
    def rename(self, asked: Asked) -> Answer: ...


class Peer:
    """A library in an environment of its own."""

    def __init__(self, tool: str, root: Path) -> None:
        python = environment("renamers", (f"rope=={ROPE}", f"jedi=={JEDI}"))
        program = Path(__file__).with_name("rename_peers.py")
        self._command = [python, str(program), tool, str(root)]
        self._root = root
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        pipe = subprocess.PIPE
        return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def rename(self, asked: Asked) -> Answer:
        path, line, column = asked.at
        text = (self._root / path).read_bytes().decode()
        offset = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column
        message = {"path": path, "line": line, "column": column, "offset": offset, "new": asked.new}
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        ready = select.select([process.stdout], [], [], _ANSWER_SEC)[0]
        said = process.stdout.readline() if ready else b""
        if not said:
            self.stop()
            self._process = self._start()
            return Answer({}, "no answer in time")
        answer = json.loads(said)
        files = {path: content.encode() for path, content in answer.get("files", {}).items()}
        return Answer(files, answer.get("error", "" if files else "no change"))

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class Language:
    """A language server that is asked to rename."""

    def __init__(self, server: Server, root: Path, language: str, *, keeps_open: bool = False) -> None:
        """`keeps_open`: the server forgets a project when the last of its files is closed."""
        self.server, self._root, self._language = server, root, language
        self._keeps_open = keeps_open
        self._open_files: set[Path] = set()

    def rename(self, asked: Asked) -> Answer:
        found = self._at("textDocument/rename", asked.at, newName=asked.new)
        if not found:
            return Answer({}, "no change")
        edits: dict[str, list[dict[str, Any]]] = dict(found.get("changes") or {})
        for change in found.get("documentChanges") or []:
            if "kind" in change:
                return Answer({}, "files would be renamed")
            edits.setdefault(change["textDocument"]["uri"], []).extend(change["edits"])
        files = {}
        for uri, some in edits.items():
            path = self._path(uri)
            if path is None:
                return Answer({}, "files outside would change")
            files[path] = _edited((self._root / path).read_bytes().decode(), some).encode()
        return Answer(files, "" if files else "no change")

    def references(self, at: Spot) -> set[Spot]:
        """What the server calls the references of what is defined at a place."""
        found = self._at("textDocument/references", at, context={"includeDeclaration": True})
        return set(self._spots(found or []))

    def definitions(self, at: Spot) -> set[Spot]:
        """Where the server says that the name at a place is defined; outside of the project, by its file."""
        with self._opened(at[0]) as file:
            found = self.server.definitions(file, at[1] - 1, at[2])
        return {(self._path(uri) or uri, line + 1, column) for uri, line, column in found}

    def stop(self) -> None:
        self.server.stop()

    def _at(self, method: str, at: Spot, **more: Any) -> Any:
        position = {"line": at[1] - 1, "character": at[2]}
        with self._opened(at[0]) as file:
            return self.server.ask(method, textDocument={"uri": file.as_uri()}, position=position, **more)

    @contextmanager
    def _opened(self, path: str) -> Iterator[Path]:
        file = self._root / path
        if file not in self._open_files:
            self.server.open(file, self._language)
        yield file
        if self._keeps_open:
            self._open_files.add(file)
        else:
            self.server.close_file(file)

    def _spots(self, found: list[dict[str, Any]]) -> Iterator[Spot]:
        for one in found:
            path, start = self._path(one["uri"]), one["range"]["start"]
            if path is not None:
                yield path, start["line"] + 1, start["character"]

    def _path(self, uri: str) -> str | None:
        path = Path(unquote(uri.removeprefix("file://")))
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else None


class Remembered:
    """A tool whose answers are kept; it is started when it is asked for something new."""

    def __init__(self, name: str, tool: Renamer, kept: Kept) -> None:
        self._name, self._tool, self._kept = name, tool, kept

    def rename(self, asked: Asked) -> Answer:
        path, line, column = asked.at
        key = f"{self._name} {path}:{line}:{column} {asked.new}"
        files, why_not = self._kept.get(key, lambda: self._ask(asked))
        return Answer({path: content.encode() for path, content in files.items()}, why_not)

    def _ask(self, asked: Asked) -> tuple[dict[str, str], str]:
        answer = self._tool.rename(asked)
        return {path: content.decode() for path, content in answer.files.items()}, answer.why_not


def planned(session: RepoSession, subject: Subject, new: str) -> Plan:
    """What CodePlane makes of a rename."""
    with session.index.snapshot() as snapshot:
        plan = draft(snapshot, subject, new, Sweep())
    return proven(session.index, plan)


def answer_of(plan: Plan) -> Answer:
    """The edits of a plan that may be applied without a decision."""
    if plan.verdict is not Verdict.OK:
        return Answer({}, str(plan.verdict))
    return Answer({edit.path: edit.after for edit in plan.change.edits.edits if edit.after is not None})


def spots(root: Path, answer: Answer, asked: Asked) -> set[Spot]:
    """Where the new name was written, by the places that the old one had."""
    places: set[Spot] = set()
    for path, content in answer.files.items():
        before = (root / path).read_bytes().decode().split("\n")
        for at, line in enumerate(content.decode().split("\n")):
            if at >= len(before) or line != before[at]:
                columns = _old_columns(before[at] if at < len(before) else "", line, asked)
                places |= {(path, at + 1, column) for column in columns}
    return places


def _old_columns(before: str, after: str, asked: Asked) -> Iterator[int]:
    """Where the names stood that have become the new one in a line. `{ size }` becomes `{ size: length }`:
    what is only added belongs to the name before it."""
    old, new = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    matcher = SequenceMatcher(None, [one[0] for one in old], [one[0] for one in new], autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        written = sum(one[0] == asked.new for one in new[first:last]) if tag != "equal" else 0
        replaced = [one.start() for one in old[start:end] if one[0] == asked.name]
        yield from replaced[:written]
        if written > len(replaced):
            before_it = [one.start() for one in old[:start] if one[0] == asked.name]
            yield from before_it[-1:] or [one.start() for one in old[end:] if one[0] == asked.name][:1]


def _edited(text: str, edits: list[dict[str, Any]]) -> str:
    """A text with the edits of a language server in it, whose columns count in units of UTF-16."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda one: _place(one["range"]["start"]), reverse=True):
        (first, start), (last, end) = _place(edit["range"]["start"]), _place(edit["range"]["end"])
        before, after = _cut(lines[first], start)[0], _cut(lines[last], end)[1]
        lines[first : last + 1] = (before + edit["newText"] + after).split("\n")
    return "\n".join(lines)


def _place(position: dict[str, int]) -> tuple[int, int]:
    return position["line"], position["character"]


def _cut(line: str, column: int) -> tuple[str, str]:
    data = line.encode("utf-16-le")
    return data[: 2 * column].decode("utf-16-le"), data[2 * column :].decode("utf-16-le")
