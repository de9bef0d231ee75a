"""What batch indexers add: recall of references behind a receiver with the tier on and off, and its cost.

The judges are basedpyright for `ty-scip`, the TypeScript server for `scip-typescript`, Eclipse's compiler
for `javac` and gopls for `go-types`. gopls and our extractor both rest on the library go/types: for Go the
comparison with the tier on tests what is made of its types, not the types. `python -m bench.semantic NAME …`
does some of the packages.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.conformance import node
from tests.conformance.node import Unavailable
from tests.index.conftest import tree_of
from tests.index.toy_indexer import base_of, store

from bench.corpora import CACHE, debian_package, debian_source, npm_package, python_package
from bench.eclipse import Eclipse
from bench.lsp import Judge
from bench.measure import Figure
from bench.oracle import Verdict, _Comparison, _Position, _project, gopls, pyright, typescript
from bench.semantic_speed import Slowdown, open_session, slowdowns, unused_slowdowns
from codeplane.core.paths import RepoPath
from codeplane.index import Workers
from codeplane.index.semantics import Run
from codeplane.names import Index, RefFact, Snapshot
from codeplane.semantic.indexer import ContextFiles, Indexer, IndexTask, Tool
from codeplane.semantic.indexers import INDEXERS
from codeplane.semantic.join import Joined, Origin, join
from codeplane.semantic.scip import read_index
from codeplane.session.semantic.imports import IndexedFiles

TY_SCIP = "0.1.0"
SCIP_TYPESCRIPT = "0.4.0"
# Name, version, and a part of the paths that the judge is asked about: it is slow.
PYTHON = (
    ("click", "8.1.8", ""),
    ("flask", "3.1.0", ""),
    ("httpx", "0.28.1", ""),
    ("sqlparse", "0.5.3", ""),
    ("requests", "2.32.5", ""),
    ("marshmallow", "4.0.1", ""),
    ("werkzeug", "3.1.3", "/src/"),
    ("scrapy", "2.13.3", "/scrapy/core/"),
    ("celery", "5.5.3", "/celery/app/"),
)
TYPESCRIPT = (
    ("@tanstack/query-core", "5.90.2", "/src/"),
    ("rxjs", "7.8.2", "/src/internal/"),
    ("zod", "4.1.12", "/v4/core/"),
    ("mobx", "6.13.7", "/src/"),
    ("@reduxjs/toolkit", "2.9.0", "/src/"),
)
# Names are import paths; Debian keeps the sources of Go libraries in packages.
GO = (
    ("github.com/spf13/pflag", "1.0.6~git20210604-d5e0c0615ace-1", ""),
    ("github.com/spf13/cobra", "1.6.1-1", ""),
    ("github.com/spf13/afero", "1.9.3-1", ""),
    ("github.com/gorilla/mux", "1.8.0-1", ""),
    ("github.com/go-chi/chi", "5.0.7-1", ""),
    ("github.com/burntsushi/toml", "1.2.0-2", ""),
)
# Names of Debian's source packages.
JAVA = (
    ("commons-csv", "1.9.0-1", ""),
    ("jsoup", "1.15.3-1", ""),
    ("jackson-core", "2.14.1-2~deb12u1", ""),
    ("libcommons-codec-java", "1.15-1", ""),
    ("commons-io", "2.11.0-2", ""),
    ("libcommons-collections4-java", "4.2-1", ""),
    ("jcommander", "1.71-4", ""),
    ("javapoet", "1.13.0-1", ""),
)


@dataclass
class Tally:
    """The judge's answers about references behind a receiver, and what the tier says to them."""

    on: Verdict = field(default_factory=Verdict)
    off: Verdict = field(default_factory=Verdict)


@dataclass
class Cost:
    """What a run and its import took."""

    indexer_sec: float
    import_sec: float
    before: int  # bytes of the index
    after: int


def figures(chosen: tuple[str, ...] = ()) -> Iterator[Figure]:
    totals = {language: Tally() for language in _SUBJECTS}
    for language, name, version, only in _packages(chosen):
        try:
            measured = measure(_SUBJECTS[language].fetch(name, version), language, only)
        except Unavailable as reason:
            print(f"{name} is left out: {reason}", flush=True)
            continue
        yield from _package_figures(name, measured)
        for mode in ("on", "off"):
            verdict, total = getattr(measured.tally, mode), getattr(totals[language], mode)
            total.said.update(verdict.said)
            total.found.update(verdict.found)
    for language, total in totals.items():
        if total.on.said:
            yield from _language_figures(language, total)
    if not chosen:
        yield from _unused_figures(*PYTHON[0][:2])


def _unused_figures(name: str, version: str) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        for one in unused_slowdowns(python_package(name, version), "python", Path(folder)):
            yield Figure(f"{name}, tier {one.question}", one.ratio, "×", 1.1, one.detail)


def _language_figures(language: str, total: Tally) -> Iterator[Figure]:
    said = total.on.said.total()
    on, off = (100 * verdict.found.total() / said for verdict in (total.on, total.off))
    detail = f"{off:.1f} % by structure alone; {said} references; aim {_SUBJECTS[language].aim:.0f} %"
    yield Figure(f"recall behind a receiver, {language}", on, "%", None, detail)
    for kind, count in total.on.said.most_common():
        on, off = (100 * verdict.found[kind] / count for verdict in (total.on, total.off))
        yield Figure(f"  {kind}", on, "%", None, f"{off:.1f} % by structure alone; {count} references")


def _packages(chosen: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    for language, subject in _SUBJECTS.items():
        yield from ((language, *one) for one in subject.packages if not chosen or one[0] in chosen)


def _package_figures(name: str, measured: "Measured") -> Iterator[Figure]:
    tally, cost = measured.tally, measured.cost
    for line in tally.on.wrong[:20]:
        print(f"    {line}")
    said = tally.on.said.total()
    on, off = (100 * one.found.total() / max(1, said) for one in (tally.on, tally.off))
    yield Figure(f"{name}, recall", on, "%", None, f"{off:.1f} % by structure alone, of {said}")
    yield Figure(f"{name}, wrong", len(tally.on.wrong), "", 0, f"{len(tally.off.wrong)} by structure alone")
    ratio = cost.import_sec / max(0.1, cost.indexer_sec)
    yield Figure(f"{name}, import", ratio, "×", 0.5, f"{cost.import_sec:.1f} s; {cost.indexer_sec:.1f} s")
    yield Figure(f"{name}, index.db", cost.after / cost.before, "×", 1.5, f"{cost.after / 1e6:.1f} MB")
    for one in measured.slowdowns:
        yield Figure(f"{name}, {one.question}", one.ratio, "×", 1.2, one.detail)


class Measured(NamedTuple):
    """What came out of one package."""

    tally: Tally
    cost: Cost
    slowdowns: list[Slowdown]


def measure(root: Path, language: str, only: str) -> Measured:
    """Indexes a package with and without its indexer, and asks the judge about every name in some files."""
    tally = Tally()
    indexer = _SUBJECTS[language].indexer()
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        workers = Workers(2)
        index = Index.open(Path(folder) / "index.db", tree_of(root), workers)
        index.refresh()
        cost = take_in(index, root, indexer, Path(folder) / "run")
        judge = _SUBJECTS[language].judge(root)
        try:
            with index.snapshot() as snapshot:
                judged = _Both(root, snapshot, judge, tally)
                for path in sorted(snapshot.layout.blobs):
                    facts = snapshot.facts(path)
                    if only in path and facts is not None and facts.language == language:
                        judged.file(RepoPath(path), language)
        finally:
            judge.stop()
            index.close()
            workers.close()
        return Measured(tally, cost, measure_speed(root, language, Path(folder)))


def measure_speed(root: Path, language: str, folder: Path) -> list[Slowdown]:
    """Calls tools on two copies of a package: one without the facts of its indexer, and one with them."""
    copies = [folder / name / "repo" for name in ("without", "with")]
    for copy in copies:
        shutil.copytree(root, copy, symlinks=True)
    session = open_session(copies[1])
    try:
        take_in(session.index, copies[1], _SUBJECTS[language].indexer(), folder / "second")
    finally:
        session.close()
    return list(slowdowns(copies[0], copies[1], language))


def _content(snapshot: Snapshot, path: RepoPath) -> bytes | None:
    """The bytes of a file; none of what git ignores and an indexer reads all the same."""
    return snapshot.source(path) if path in snapshot.layout.blobs else None


def take_in(index: Index, root: Path, found: "Installed", folder: Path) -> Cost:
    """Runs an indexer over a copy of the tree and takes in what it says."""
    scratch, output = folder / "scratch", folder / "output"
    folder.mkdir(exist_ok=True)
    shutil.copytree(root, scratch, symlinks=True, ignore=shutil.ignore_patterns(".git", ".codeplane"))
    output.mkdir()
    with index.snapshot() as snapshot:
        files = tuple(sorted(_sources(snapshot, found.indexer)))
    is_archive = not (root / "pyproject.toml").exists() and not (root / "package.json").exists()
    home = RepoPath(str(_project(root).relative_to(root)).removeprefix(".") if is_archive else "")
    context = ContextFiles(home, files, (home,))
    base = base_of(index, files)
    prepared = found.indexer.prepare(scratch, context)
    began = time.monotonic()
    commands = found.indexer.command(IndexTask(found.tool, scratch, output, context))
    for command in commands:
        cache = str(CACHE.parent / "go-build")
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GOCACHE": cache, **command.env}
        subprocess.run([str(word) for word in command.argv], cwd=command.cwd, env=environment, check=True)
    ended = time.monotonic()
    before = _size(index)
    for command in commands:
        with index.snapshot() as snapshot, command.output.open("rb") as stream:
            enter = tree_of(root).jail.enter
            origin = Origin(enter, command.base, prepared.own_packages)
            files_read = IndexedFiles(snapshot, partial(_content, snapshot))
            joined: Joined = join(read_index(stream), files_read, origin)
        run = Run(f"{found.indexer.name}:", found.indexer.name, found.tool.version)
        store(index, run, joined.documents, base)
    return Cost(ended - began, time.monotonic() - ended, before, _size(index))


def _sources(snapshot: Snapshot, indexer: Indexer) -> Iterator[RepoPath]:
    for path in snapshot.layout.blobs:
        facts = snapshot.facts(path)
        if facts is not None and facts.language in indexer.languages:
            yield RepoPath(path)


def _size(index: Index) -> int:
    index.database.fold()
    return index.database.path.stat().st_size


@dataclass(frozen=True)
class Installed:
    indexer: Indexer
    tool: Tool


def ty_scip() -> Installed:
    home = CACHE.parent / f"ty-scip-{TY_SCIP}"
    program = home / "bin" / "ty-scip"
    if not program.exists():
        venv.create(home, with_pip=True)
        subprocess.run([str(home / "bin" / "pip"), "install", "-q", f"ty-scip=={TY_SCIP}"], check=True)
    return Installed(INDEXERS["ty-scip"], Tool(program, TY_SCIP))


def scip_typescript() -> Installed:
    package = node.package("@sourcegraph/scip-typescript", SCIP_TYPESCRIPT)
    program = CACHE.parent / "scip-typescript"
    program.write_text(f'#!/bin/sh\nexec "{node.node()}" "{package}/dist/src/main.js" "$@"\n')
    program.chmod(0o755)
    return Installed(INDEXERS["scip-typescript"], Tool(program, SCIP_TYPESCRIPT))


def go_types() -> Installed:
    program = shutil.which("go")
    if program is None:
        raise Unavailable("go is not installed")
    said = subprocess.run([program, "env", "GOVERSION"], check=True, capture_output=True, text=True)
    return Installed(INDEXERS["go-types"], Tool(Path(program), said.stdout.strip().removeprefix("go")))


def javac() -> Installed:
    program = shutil.which("java")
    if program is None:
        raise Unavailable("java is not installed")
    output = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return Installed(INDEXERS["javac"], Tool(Path(program), output.stdout.split()[1]))


def go_package(name: str, version: str) -> Path:
    """The sources of a Go library as Debian has them. No module is required: `go list` fails as a whole where
    one cannot be fetched, so what other libraries define is missing for the indexer and the judge alike."""
    package = f"golang-{name.replace('github.com', 'github').replace('/', '-')}-dev"
    root = debian_package(package, version, f"usr/share/gocode/src/{_SPELLING.get(name, name)}")
    module = root / "package" / "go.mod"
    lines = module.read_text().splitlines()
    module.write_text(next(line for line in lines if line.startswith("module ")) + "\n\ngo 1.18\n")
    (root / "package" / "go.sum").unlink(missing_ok=True)
    return root


class Subject(NamedTuple):
    """The packages of a language, and what measures them."""

    packages: tuple[tuple[str, str, str], ...]
    fetch: Callable[[str, str], Path]
    judge: Callable[[Path], Judge]
    indexer: Callable[[], Installed]
    aim: float  # percent with the tier on


_SPELLING = {"github.com/burntsushi/toml": "github.com/BurntSushi/toml"}
_SUBJECTS = {
    "python": Subject(PYTHON, python_package, lambda root: pyright().serve(root), ty_scip, 98),
    "typescript": Subject(
        TYPESCRIPT, npm_package, lambda root: typescript().serve(root), scip_typescript, 93
    ),
    "go": Subject(GO, go_package, lambda root: gopls().serve(root), go_types, 98),
    "java": Subject(JAVA, debian_source, Eclipse, javac, 98),
}


class _Both(_Comparison):
    """Judges references behind a receiver twice: by all sources, and by the structure of the code alone."""

    def __init__(self, root: Path, snapshot: Snapshot, judge: Judge, tally: Tally) -> None:
        super().__init__(root, snapshot, judge, tally.on)
        self._tally = tally
        self._by_structure: tuple[str, dict[tuple[int, int], RefFact]] = ("", {})

    def _is_asked(self, ref: RefFact) -> bool:
        return bool(ref.receiver) and super()._is_asked(ref)

    def _judge(self, path: RepoPath, ref: RefFact, said: list[_Position]) -> None:
        if self._by_structure[0] != path:
            refs = self.snapshot.structural_references.inside(path)
            self._by_structure = (path, {(one.line, one.column): one for one in refs})
        self.verdict = self._tally.on
        super()._judge(path, ref, said)
        self.verdict = self._tally.off
        super()._judge(path, self._by_structure[1][ref.line, ref.column], said)


def main() -> None:
    for figure in figures(tuple(sys.argv[1:])):
        mark = "" if figure.holds else "  MISSED"
        print(f"{figure.name:<40} {figure.value:>8.2f} {figure.unit:<2} {figure.detail}{mark}", flush=True)


if __name__ == "__main__":
    main()
