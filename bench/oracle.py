"""References compared with an independent oracle: what a language server says each name is.

Every reference that CodePlane calls proven or strong has to be one that the server agrees with. Recall is the
share of the server's answers inside the repository that CodePlane gives as well.
"""

import re
import shutil
import subprocess
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.conformance import node
from tests.conformance.node import Unavailable
from tests.index.conftest import tree_of

from bench.corpora import CACHE, npm_package, python_package
from bench.lsp import Judge, Server
from bench.measure import Figure
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.index import Workers
from codeplane.languages.facts import Definition, Role
from codeplane.names import Index, RefFact, Snapshot

PYRIGHT = "1.40.2"
TYPESCRIPT = "5.9.3"
TS_SERVER = "5.1.3"
# Name, version, and a part of the paths that are looked at: the server is slow.
PACKAGES = (
    ("httpx", "0.28.1", ""),
    ("rich", "14.0.0", ""),
    ("sqlparse", "0.5.3", ""),
    ("click", "8.1.8", ""),
    ("flask", "3.1.0", ""),
    ("jinja2", "3.1.6", "/src/"),
    ("requests", "2.32.5", "/src/"),
    ("werkzeug", "3.1.3", "/src/"),
    ("marshmallow", "4.0.1", "/src/"),
    ("starlette", "0.48.0", "/starlette/"),
    ("poetry-core", "2.2.0", "/src/poetry/core/packages/"),
    ("trio", "0.30.0", "/src/trio/_core/"),
    ("networkx", "3.5", "/networkx/classes/"),
    ("celery", "5.5.3", "/celery/app/"),
    ("scrapy", "2.13.3", "/scrapy/core/"),
    ("aiohttp", "3.12.15", "/aiohttp/client"),
    ("peewee", "3.18.2", "/peewee.py"),
    ("docutils", "0.22", "/docutils/parsers/"),
    ("hypothesis", "6.138.0", "/src/hypothesis/internal/"),
    ("sqlalchemy", "2.0.43", "/lib/sqlalchemy/sql/"),
    ("sphinx", "8.2.3", "/sphinx/domains/"),
)
NPM_PACKAGES = (
    ("zod", "4.1.12", "/v4/core/"),
    ("@tanstack/query-core", "5.90.2", "/src/"),
    ("rxjs", "7.8.2", "/src/internal/"),
    ("@reduxjs/toolkit", "2.9.0", "/src/"),
    ("mobx", "6.13.7", "/src/"),
    ("@tanstack/table-core", "8.21.3", "/src/"),
    ("chevrotain", "11.0.3", "/src/"),
    ("@effect/schema", "0.75.5", "/src/"),
    ("puppeteer-core", "24.20.0", "/src/common/"),
)
_NAME = re.compile(r"\w+")
# What may stand between a name and the function that it is given, or the type by which it is called.
_GIVEN = re.compile(r"(?<![\w$#])[\w$#]+(?=(?:: [^=]+)? = (?:async )?\Z|: \Z)")
_CALLED = 6  # lines up to a name that may call what is done with it
_QUOTES = ('"', "'")
_EMBEDDED = re.compile(r"\*?(?:\w+\.)?(?=\w+\s*(?:`|//|$))")
_BEFORE_CODE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#![^\n]*)*", re.DOTALL)
# Classes whose instances are classes.
_META = ("type", "ABCMeta", "EnumMeta", "EnumType")

_Position = tuple[str, int, int]
"""URI, line and column, both from 0."""


@dataclass
class Verdict:
    """What came out of the comparison of one package."""

    asked: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    silent: int = 0  # the server says nothing
    said: Counter[str] = field(default_factory=Counter)  # by kind of definition: the server's answers
    found: Counter[str] = field(default_factory=Counter)  # those that CodePlane gives too


def figures() -> Iterator[Figure]:
    for name, version, only in PACKAGES:
        yield from _figures(name, compare(python_package(name, version), pyright(), "python", only))
    for name, version, only in NPM_PACKAGES:
        yield from _figures(name, compare(npm_package(name, version), typescript(), "typescript", only))


def _figures(name: str, verdict: "Verdict") -> Iterator[Figure]:
    for line in verdict.wrong[:20]:
        print(f"    {line}")
    recall = ", ".join(f"{kind} {verdict.found[kind]}/{verdict.said[kind]}" for kind in sorted(verdict.said))
    detail = f"of {verdict.asked} proven or strong; {verdict.silent} without answer; found: {recall}"
    yield Figure(f"wrong references, {name}", len(verdict.wrong), "", 0, detail)


def compare(root: Path, oracle: "Oracle", language: str, only: str = "") -> Verdict:
    """Asks the server about every name of every file that is indexed as the language."""
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder:
        workers = Workers(2)
        index = Index.open(Path(folder) / "index.db", tree_of(root), workers)
        index.refresh()
        server = oracle.serve(root)
        try:
            with index.snapshot() as snapshot:
                comparison = _Comparison(root, snapshot, server, verdict)
                for file in _files(snapshot, language):
                    if only in file:
                        comparison.file(file, language)
        finally:
            server.stop()
            index.close()
            workers.close()
    return verdict


def _project(root: Path) -> Path:
    """The folder of the project: archives hold one that is named after the release."""
    folders = [child for child in root.iterdir() if child.is_dir() and child.name != ".git"]
    return folders[0] if len(folders) == 1 else root


def _files(snapshot: Snapshot, language: str) -> Iterator[RepoPath]:
    after: RepoPath | None = None
    while found := snapshot.files(1000, after).items:
        yield from (file.path for file in found if file.language == language and file.state == "ok")
        after = found[-1].path


class _Comparison:
    def __init__(self, root: Path, snapshot: Snapshot, server: Judge, verdict: Verdict) -> None:
        self.root, self.snapshot, self.server, self.verdict = root, snapshot, server, verdict
        self._known_aliases: dict[str, dict[tuple[int, int], Sequence[Place]]] = {}
        self._known_names: dict[str, dict[tuple[int, int], Definition]] = {}

    def file(self, path: RepoPath, language: str) -> None:
        file = self.root / path
        try:
            lines = file.read_text().split("\n")
        except UnicodeDecodeError:
            return
        self.server.open(file, language)
        inside = self.root.as_uri() + "/"
        for ref in self.snapshot.references_in(path):
            if not self._is_asked(ref):
                continue
            text = lines[ref.line - 1].encode()[: ref.column].decode()
            column = len(text.encode("utf-16-le")) // 2
            said = self.server.definitions(file, ref.line - 1, column)
            text = "\n".join(lines[max(ref.line - _CALLED, 0) : ref.line])
            ours = self._claimed(ref)
            self._judge(
                path,
                ref,
                [place for place in said if place in ours or not _is_about_use(place, ref, text, inside)],
            )
        self.server.close_file(file)

    def _is_asked(self, ref: RefFact) -> bool:
        """Whether the server is asked about a reference."""
        return ref.role is not Role.DEFINE and ref.receiver != "="

    def _claimed(self, ref: RefFact) -> set[_Position]:
        """Where what CodePlane is sure of is defined."""
        is_sure = ref.tier in (Tier.PROVEN, Tier.STRONG)
        return {self._place(place) for place in ref.target} if is_sure else set()

    def _judge(self, path: RepoPath, ref: RefFact, said: list[_Position]) -> None:
        verdict = self.verdict
        ours = self._claimed(ref)
        claimed = bool(ours)
        own = (self.root / path).as_uri()
        # A property that is written by its name alone, `{name}`, is said to be its own definition as well.
        said = [place for place in said if place[:2] != (own, ref.line - 1) or place[2] != ref.column] or said
        inside = [self._named(place) for place in said if place[0].startswith(self.root.as_uri() + "/")]
        # One side says what was imported, the other where that is: both are right where they agree on that.
        # Of a property `{name}` the server says the import, and the property that is asked for.
        aliases = self._aliases(path)
        if any(aliases.get((line, at)) == ref.target for uri, line, at in said if uri == own):
            inside = [*ours, *inside]
        if claimed:
            verdict.asked += 1
            if not said:
                verdict.silent += 1
            elif not ours & set(inside):
                if self._is_excused(ref, inside):
                    return
                verdict.wrong.append(
                    f"{path}:{ref.line}:{ref.column + 1} {ref.receiver}.{ref.name} {ref.tier}: "
                    f"{[f'{u[-50:]}:{n + 1}' for u, n, _ in sorted(ours)]} "
                    f"not {[f'{u[-50:]}:{n + 1}' for u, n, _ in said]}"
                )
        if inside:
            kind = self._kind(inside[0])
            if kind:
                verdict.said[kind] += 1
                verdict.found[kind] += bool(ours & set(inside))
                if not ours & set(inside):
                    verdict.missed.append(f"{kind} {path}:{ref.line} {ref.receiver}.{ref.name} {ref.tier}")

    def _named(self, place: _Position) -> _Position:
        """Where the name of a definition is. Where a function is exported without one, the server says where
        the statement begins, and CodePlane where `default` is. Where a name is given a function, the server
        says of a call that it means the place behind `name =`, and where it is declared as a constructor the
        one behind `name:`. Of a module it says where its code begins."""
        uri, line, column = place
        names = self._at(self._path(uri))
        if place[1:] not in names and place == _begin(uri):
            return uri, 0, 0
        if place[1:] not in names:
            given = [found.start() for found in _GIVEN.finditer(_line(uri, line)[:column])]
            if known := [start for start in given if (line, start) in names]:
                return uri, line, known[-1]
        found = names.get(place[1:])
        return (uri, found.name_line - 1, found.name_column) if found else place

    def _is_excused(self, ref: RefFact, inside: list[_Position]) -> bool:
        """Whether the server goes by another convention in all that it says, or is wrong."""
        # What `__slots__` lists is made when the class is complete: it is no variable of the class's body.
        quoted = [_line(*place[:2])[place[2] :][:1] in _QUOTES for place in inside]
        if not ref.receiver and quoted and all(quoted):
            return True
        # `x = x` in a class takes the `x` around the class, which has none yet; the server says its own.
        line = _line((self.root / ref.path).as_uri(), ref.line - 1)
        if not ref.receiver and re.fullmatch(rf"\s+{ref.name}\s*=\s*{ref.name}\s*(?:#.*)?", line):
            return True
        return bool(inside) and all(self._is_excuse(ref, place) for place in inside)

    def _is_excuse(self, ref: RefFact, place: _Position) -> bool:
        path = self._path(place[0])
        item = self._at(path).get(place[1:])
        if item is None:
            # `self.x += 1` needs an `x` that is there before, so it defines none; the server thinks it does.
            # Of a variable that is given values in several places, CodePlane names the first and the server
            # the last. Both are one variable where CodePlane says that the other place means it too.
            refs = self.snapshot.references_in(RepoPath(path))
            # A field that Go embeds has no name but its type's: CodePlane names the type, the server says
            # where the field begins, `*package.Type`.
            if path.endswith(".go"):
                before = _line(*place[:2])[place[2] :]
                start = _EMBEDDED.match(before)
                column = place[2] + (start.end() if start else 0)
                return any(
                    (r.line - 1, r.column) == (place[1], column) and r.target == ref.target for r in refs
                )
            names = {self._name(target) for target in ref.target}
            writes = [one for one in refs if one.role is Role.WRITE and one.name in names]
            # A name without a receiver is written in the file that has it.
            homes = {target.path for target in ref.target}
            return any(
                (w.line - 1, w.column) == place[1:]
                and w.target == ref.target
                and (w.receiver or path in homes)
                for w in writes
            )
        if item.parent < 0:
            return False
        # Behind a declared class a member stands for those that override it; the server knows the value.
        meant = Place(path, self._definitions(path).index(item))
        if not set(self.snapshot.classes.overridden(meant)).isdisjoint(ref.target):
            return True
        # In code that is never reached a call of a class, or of an alias of it, is said to mean its
        # constructor.
        if item.name in ("__init__", "__new__") and self._stands_for(ref, Place(path, item.parent)):
            return True
        # Instances do not see the members of the class of their class, and classes see their own ones before.
        bases = self._definitions(path)[item.parent].bases
        return any(base.rpartition(".")[2] in _META for base in bases)

    def _stands_for(self, ref: RefFact, owner: Place) -> bool:
        """Whether what a reference means is a class, or a name that is given it."""
        if owner in ref.target:
            return True
        name = self._definitions(owner.path)[owner.definition].name
        values = [_line(*self._place(place)[:2]) for place in ref.target if place.definition >= 0]
        return any(re.match(rf"{ref.name} = {re.escape(name)}\b", value) for value in values)

    def _path(self, uri: str) -> RepoPath:
        return RepoPath(unquote(uri.removeprefix("file://")).removeprefix(f"{self.root}/"))

    def _place(self, place: Place) -> _Position:
        uri = (self.root / place.path).as_uri()
        if place.definition < 0:
            return uri, 0, 0
        item = self._definitions(place.path)[place.definition]
        return uri, item.name_line - 1, item.name_column

    def _name(self, place: Place) -> str:
        return self._definitions(place.path)[place.definition].name if place.definition >= 0 else ""

    def _kind(self, place: _Position) -> str:
        """The kind of the definition that stands at a place, or "" where there is none: a local variable."""
        item = self._at(self._path(place[0])).get(place[1:])
        return item.kind if item else "" if any(place[1:]) else "module"

    def _at(self, path: RepoPath) -> dict[tuple[int, int], Definition]:
        """Line and column, from 0, of a name → what it is the name of."""
        if path not in self._known_names:
            found = {(item.name_line - 1, item.name_column): item for item in self._definitions(path)}
            unnamed = [item for item in found.values() if item.name == "default"]
            found |= {(item.span.start_line - 1, item.span.start_column): item for item in unnamed}
            self._known_names[path] = found
        return self._known_names[path]

    def _aliases(self, path: str) -> dict[tuple[int, int], Sequence[Place]]:
        """Where names stand in import and export statements of a file → what they mean."""
        if path not in self._known_aliases:
            refs = self.snapshot.references_in(RepoPath(path))
            self._known_aliases[path] = {
                (ref.line - 1, ref.column): ref.target
                for ref in refs
                if ref.role in (Role.IMPORT, Role.EXPORT)
            }
        return self._known_aliases[path]

    def _definitions(self, path: str) -> Sequence[Definition]:
        facts = self.snapshot.facts(path)
        return facts.definitions if facts else []


def _is_about_use(place: _Position, ref: RefFact, text: str, root: str) -> bool:
    """Whether the server says what is done with a name, a function that is called with it or on it or an
    operator, as it does where it does not know a member, and in code that is never reached. There it also
    says which constructor a call runs."""
    if place[1:] == (0, 0):
        return False
    found = _NAME.match(_line(place[0], place[1]), place[2])
    name = found.group() if found else ref.name
    is_call = not ref.receiver and ref.role is Role.CALL
    if name == ref.name or (is_call and place[0].startswith(root)):
        return False
    is_operator = name.startswith("__") and name.endswith("__")
    return is_operator or re.search(rf"\b{re.escape(name)}\(", text) is not None


@lru_cache(maxsize=200)
def _lines(uri: str) -> list[str]:
    return Path(unquote(uri.removeprefix("file://"))).read_text().split("\n")


@lru_cache(maxsize=200)
def _begin(uri: str) -> _Position:
    """Where the code of a file begins, behind the comments at its top."""
    text = "\n".join(_lines(uri))
    found = _BEFORE_CODE.match(text)
    before = text[: found.end() if found else 0]
    return uri, before.count("\n"), len(before) - before.rfind("\n") - 1


def _line(uri: str, line: int) -> str:
    return _lines(uri)[line]


class Oracle(NamedTuple):
    """A language server and how it is set up."""

    command: list[str]
    settings: dict[str, Any]
    options: dict[str, Any]

    def serve(self, root: Path) -> Server:
        """Starts the server on the project in a folder."""
        return Server(self.command, _project(root), self.settings, self.options)


def pyright() -> Oracle:
    """In an environment without packages: what is imported is what is in the repository."""
    home = CACHE.parent / f"basedpyright-{PYRIGHT}"
    program = home / "bin" / "basedpyright-langserver"
    if not program.exists():
        venv.create(home, with_pip=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "-q", f"basedpyright=={PYRIGHT}"], check=True)
    return Oracle([str(program), "--stdio"], {"python": {"pythonPath": str(home / "bin" / "python")}}, {})


def typescript() -> Oracle:
    program = node.package("typescript-language-server", TS_SERVER) / "lib" / "cli.mjs"
    library = node.package("typescript", TYPESCRIPT) / "lib"
    command = [str(node.node()), str(program), "--stdio"]
    # While a project is being read, a server that knows syntax alone would answer.
    return Oracle(command, {}, {"tsserver": {"path": str(library), "useSyntaxServer": "never"}})


def gopls() -> Oracle:
    """Without a network: what is imported is in the repository or the standard library."""
    program = shutil.which("gopls")
    if program is None:
        raise Unavailable("gopls is not installed")
    cache = str(CACHE.parent / "go-build")
    variables = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOCACHE": cache}
    return Oracle([program], {"gopls": {"env": variables}}, {"env": variables})
