"""Calls through an interface are found, and its implementations are listed, by real indexers and without."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Run, SemanticDocument
from tests.index.toy_indexer import base_of, definition, documents_of, store
from tests.programs import from_pypi, needs
from tests.semantic.indexers.lab import npm_tool
from tests.tools.repo import Repo, trust

SCIP_TYPESCRIPT = ("@sourcegraph/scip-typescript", "0.4.0", "dist/src/main.js")
PYTHON = {
    "pyproject.toml": "",
    "shapes.py": """\
from typing import Protocol


class Saver(Protocol):
    size: int

    def save(self, name: str) -> None: ...


class Disk:
    size = 1

    def save(self, name: str, deep: bool = False) -> None:
        print(name)


class Named(Saver):
    def save(self, name: str) -> None:
        print(name)


class Other:
    size = 1

    def save(self) -> None: ...


def use(saver: Saver) -> None:
    saver.save("a")


use(Disk())
""",
}
TYPESCRIPT = {
    "package.json": '{"name": "toy"}\n',
    ".gitignore": "node_modules\n",
    "shapes.ts": """\
export interface Saver {
  label?: string;
  save(name: string): void;
  close?(): void;
}
export class Disk {
  save(name: string): void {}
}
export class Named implements Saver {
  save(): void {}
}
export class Other {
  save(name: string, must: number): void {}
}
export function use(saver: Saver) {
  saver.save("a");
}
use(new Disk());
""",
}
GO = {
    "go.mod": "module example.org/toy\n\ngo 1.18\n",
    "store.go": """package toy

type Saver interface {
	Save(name string) error
}

type Disk struct{}

func (d *Disk) Save(name string) error { return nil }

type Other struct{}

func (o Other) Save(name int) error { return nil }

func Use(s Saver) { _ = s.Save("a") }
""",
}


def indexed(base: Path, files: Mapping[str, str]) -> Repo:
    """A trusted repository of which the installed indexer has said everything."""
    repo = Repo(base, files)
    trust(repo.root, base)
    repo.session.close()
    repo = Repo.at(repo.root, base)
    [context] = repo.result("semantic_refresh")["contexts"]
    assert context["status"] == "completed" and context["indexed"] == 1, context
    return repo


def by_kind(repo: Repo, symbol: str) -> dict[str, list[tuple[str, int]]]:
    """Kinds of references with tier and line."""
    files = repo.result("refs_find", symbol=symbol)["files"]
    refs = [one for file in files for one in file["refs"]]
    return {
        kind: sorted((one["tier"], one["line"]) for one in refs if one["kind"] == kind)
        for kind in sorted({one["kind"] for one in refs})
    }


def names(result: Mapping[str, object], field: str) -> dict[str, str]:
    types = result.get(field) or []
    assert isinstance(types, list)
    return {one["name"]: one["tier"] for one in types}


def put_first(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    put_first(monkeypatch, from_pypi("ty-scip", "0.1.0"))
    return indexed(tmp_path, PYTHON)


def test_a_call_through_a_protocol_is_a_possible_call_of_what_may_implement_it(python: Repo) -> None:
    assert by_kind(python, "Saver.save") == {
        "call": [("strong", 29)],
        "implement": [("anchored", 13)],
        "override": [("proven", 18)],
    }
    assert by_kind(python, "Disk.save") == {"call": [("anchored", 29)]}
    assert by_kind(python, "Other.save") == {}, "its class lacks what the protocol demands"
    answer = python.ask("graph_callers", symbol="Disk.save").text
    assert "refers to Saver.save, which this may implement\n  saver  shapes.py:29" in answer
    assert "1 override or 1 implementation" in python.ask("graph_callers", symbol="Saver.save").text
    hierarchy = python.result("types_hierarchy", symbol="Saver")
    assert names(hierarchy, "derived") == {"Named": "proven"}
    assert names(hierarchy, "implementations") == {"Disk": "anchored"}
    assert (
        "implements: Saver (shapes.py:4, by its methods)"
        in python.ask("symbols_get_card", symbol="Disk").text
    )


@pytest.mark.parametrize(
    ("symbol", "doubt"), [("Disk.save", "Saver has a member save"), ("Saver.save", "Disk may")]
)
def test_members_of_a_protocol_and_of_its_implementers_are_not_renamed_apart(
    python: Repo, symbol: str, doubt: str
) -> None:
    asked = python.result("refactor_rename", symbol=symbol, new_name="store")
    assert asked["outcome"] == "needs_decision" and doubt in str(asked["doubts"])
    assert "shapes.py:29" in str(asked["undecided"])
    assert (python.root / "shapes.py").read_text() == PYTHON["shapes.py"]


def test_what_implements_a_protocol_is_in_use(python: Repo) -> None:
    plan = python.result("refactor_delete", symbol="Disk.save", apply="never")
    assert plan["outcome"] == "needs_decision" and "shapes.py:29" in str(plan["undecided"])


def test_types_that_fit_an_interface_of_typescript_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    path = npm_tool(tmp_path / "tools", "scip-typescript", *SCIP_TYPESCRIPT)
    put_first(monkeypatch, Path(path.partition(":")[0]))
    put_first(monkeypatch, tmp_path / "tools" / "node_modules" / ".bin")
    repo = indexed(tmp_path, TYPESCRIPT)
    assert by_kind(repo, "Saver.save") == {
        "call": [("strong", 16)],
        "implement": [("anchored", 7)],
        "override": [("proven", 10)],
    }
    assert by_kind(repo, "Disk.save") == {"call": [("anchored", 16)]}
    hierarchy = repo.result("types_hierarchy", symbol="Saver")
    assert names(hierarchy, "implementations") == {"Disk": "anchored"}


def test_go_knows_what_implements_an_interface(tmp_path: Path) -> None:
    needs("go")
    repo = indexed(tmp_path, GO)
    assert by_kind(repo, "Saver.Save") == {"call": [("strong", 15)], "implement": [("strong", 9)]}
    assert by_kind(repo, "Disk.Save") == {"call": [("anchored", 15)]}
    assert by_kind(repo, "Other.Save") == {}, "its parameter is of another type"
    hierarchy = repo.result("types_hierarchy", symbol="Saver")
    assert names(hierarchy, "implementations") == {"Disk": "strong"}
    text = repo.ask("types_hierarchy", symbol="Disk").text
    assert "implements: Saver (store.go:3)" in text
    # The compiler has not seen this: from here on only methods are compared.
    repo.write("store.go", GO["store.go"].replace("error\n}", "error\n\tLoad() error\n}"))
    assert names(repo.result("types_hierarchy", symbol="Saver"), "implementations") == {}


RELATED = {
    "base.py": "class Base:\n    def run(self): ...\n",
    "below.py": "import base\n\nclass Below(base.lazy()):\n    def run(self): ...\n",
}


def related(repo: Repo) -> None:
    """Has a run say that a class implements another, which its header does not tell."""
    repo.result("refs_find", symbol="Base.run")
    index = repo.session.index
    with index.snapshot() as snapshot:
        [document] = documents_of(snapshot, {("below.py", 1, "base"): definition("base.py", "Base")})
        paths = [RepoPath(path) for path in RELATED]
    targets = [definition("below.py", "Below"), *document.targets]
    targets += [definition("below.py", "Below.run"), definition("base.py", "Base.run")]
    column = [value + 1 if value else 0 for value in document.column]
    pairs = [(0, 1), (2, 3)]
    document = SemanticDocument(document.blob, document.path, targets, column, implementations=pairs)
    run = Run("python:", "toy", "1.0")
    store(index, run, [document], base_of(index, paths))


def test_what_an_indexer_says_of_implementations_counts_as_long_as_it_holds(tmp_path: Path) -> None:
    repo = Repo(tmp_path, RELATED)
    related(repo)
    assert by_kind(repo, "Base.run") == {"implement": [("strong", 4)]}
    assert "; 1 by toy 1.0" in repo.ask("refs_find", symbol="Base.run").text
    assert names(repo.result("types_hierarchy", symbol="Base"), "implementations") == {"Below": "strong"}
    repo.write("base.py", RELATED["base.py"] + "    def walk(self): ...\n")
    assert by_kind(repo, "Base.run") == {}, "it may lack what the base has now"
    repo.write("base.py", RELATED["base.py"])
    repo.write("below.py", RELATED["below.py"] + "\n")
    assert names(repo.result("types_hierarchy", symbol="Base"), "implementations") == {}
