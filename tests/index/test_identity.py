from pathlib import Path

import pytest

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.index import Workers
from codeplane.names import Index, Snapshot
from codeplane.names.identity import UIDS
from tests.index.conftest import tree_of

APP = RepoPath("app/core.py")


def uid_of(snapshot: Snapshot, name: str, number: int = 0) -> str:
    found = snapshot.definitions_named(name, 10).items[number]
    return snapshot.uid(found.path, found.position)


def write(repo: Path, path: str, text: str) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(text)


def test_a_uid_outlives_edits_around_it_and_finds_its_definition(index: Index, repo: Path) -> None:
    write(repo, APP, "class A:\n    def go(self): ...\n")
    index.refresh()
    with index.snapshot() as snapshot:
        uid = uid_of(snapshot, "go")
        assert snapshot.qualified_name(APP, snapshot.definitions_named("go", 1).items[0].position) == (
            "app.core.A.go"
        )
    assert uid.startswith("sym_") and len(uid) == 20
    write(repo, APP, "import os\n\n\nclass A:\n    x = 1\n\n    def go(self): return os\n")
    index.refresh()
    with index.snapshot() as snapshot:
        found = snapshot.definition_by_uid(uid)
        assert found is not None and (found.lexical_path, found.name_line) == ("A.go", 7)
        assert uid_of(snapshot, "go") == uid


def test_a_uid_is_found_by_a_process_that_never_handed_it_out(
    index: Index, repo: Path, tmp_path: Path, workers: Workers
) -> None:
    write(repo, APP, "def one(): ...\ndef two(): ...\n")
    index.refresh()
    with index.snapshot() as snapshot:
        uid = uid_of(snapshot, "two")
    other = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    with other.snapshot() as snapshot:
        found = snapshot.definition_by_uid(uid)
        assert found is not None and found.name == "two"
        assert snapshot.definition_by_uid("sym_0000000000000000") is None
        assert snapshot.definition_by_uid("two") is None
    other.close()


def test_definitions_that_are_alike_have_different_uids(index: Index, repo: Path) -> None:
    write(repo, APP, "if x:\n    def f(a): ...\nelse:\n    def f(a): ...\ndef f(b): ...\n")
    index.refresh()
    with index.snapshot() as snapshot:
        uids = {snapshot.uid(d.path, d.position) for d in snapshot.definitions_named("f", 10).items}
    assert len(uids) == 3


def test_references_to_a_definition_go_by_all_its_names(index: Index, repo: Path) -> None:
    write(repo, "app/__init__.py", "from app.core import go as start\n")
    write(repo, APP, "def go(): ...\n\n\ngo()\n")
    write(repo, "use.py", "import app\nfrom app import start as begin\n\nbegin()\napp.start()\nother.go()\n")
    write(repo, "else.py", "def go(): ...\n\n\ngo()\n")
    index.refresh()
    with index.snapshot() as snapshot:
        go = next(d for d in snapshot.definitions_named("go", 10).items if d.path == APP)
        refs = snapshot.references_to(go.path, go.position, 100).items
        assert [(r.path, r.line, r.name, r.tier) for r in refs] == [
            ("app/__init__.py", 1, "go", Tier.STRONG),
            ("app/__init__.py", 1, "start", Tier.STRONG),
            (APP, 4, "go", Tier.PROVEN),
            ("use.py", 2, "start", Tier.STRONG),
            ("use.py", 2, "begin", Tier.STRONG),
            ("use.py", 4, "begin", Tier.STRONG),
            ("use.py", 5, "start", Tier.STRONG),
            ("use.py", 6, "go", Tier.ANCHORED),
        ]
        proven = snapshot.references_to(go.path, go.position, 100, Tier.PROVEN)
        assert [r.line for r in proven.items] == [4]


def test_a_name_that_becomes_doubtful_is_no_longer_meant_elsewhere(index: Index, repo: Path) -> None:
    before = "def _b(): ...\ndef other():\n    pass\n"
    write(repo, APP, before)
    write(repo, "use.py", "from app.core import _b\n\n_b\n")
    index.refresh()
    with index.snapshot() as snapshot:
        assert {ref.tier for ref in snapshot.references_in(RepoPath("use.py")) if ref.name == "_b"} == {
            Tier.STRONG
        }
    write(repo, APP, before.replace("    pass\n", "    global _b\n    _b = 1\n"))
    index.refresh()
    with index.snapshot() as snapshot:
        assert {ref.tier for ref in snapshot.references_in(RepoPath("use.py")) if ref.name == "_b"} == {
            Tier.UNKNOWN
        }


def test_a_uid_that_nothing_has_is_told_as_one_and_has_no_nearest_names(index: Index, repo: Path) -> None:
    write(repo, APP, "def symbol(): ...\n")
    index.refresh()
    with index.snapshot() as snapshot, pytest.raises(NotFound, match="has the uid sym_0000") as raised:
        snapshot.symbol("sym_0000000000000000")
    assert raised.value.details == {"absence": "proven_none"}


def test_an_unknown_uid_looks_at_the_definitions_of_few_names(index: Index, repo: Path) -> None:
    write(repo, APP, "".join(f"def name{number}(): ...\n" for number in range(2_000)))
    index.refresh()
    with index.snapshot() as snapshot:
        assert snapshot.definition_by_uid("sym_0123456789abcdef") is None
        assert len(snapshot.answers(UIDS)) < 20
