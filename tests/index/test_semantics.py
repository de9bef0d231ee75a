"""What indexers say is kept by content and path, and forgotten with them."""

from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.index import semantics
from codeplane.index.gc import collect
from codeplane.index.semantics import Counts, Run, SemanticDocument, SemanticTarget
from codeplane.names import Index
from codeplane.storage.database import Connection

RUN = Run("python:", "toy", "1.0", head="abc", configuration="cfg", inputs={"uv.lock": "d1"})
TARGETS = (
    SemanticTarget("definition", "b.py", "Thing.run", 1),
    SemanticTarget("external", text="python-stdlib re/compile()."),
    SemanticTarget("ambiguous", choices=(0, 1)),
)


def _blob(index: Index, path: str) -> int:
    with index.snapshot() as snapshot:
        blob = snapshot.layout.blobs[path]
    assert blob is not None
    return blob


def _store(index: Index, path: str, run: Run = RUN, *, whole: bool = True) -> int:
    document = SemanticDocument(
        _blob(index, path),
        RepoPath(path),
        TARGETS,
        (0, 1, 3, 2),
        ("several",),
        Counts(inside=1),
        "led",
        [(0, 1)],
    )
    with index.database.write() as connection:
        return semantics.store_run(connection, run, [document], {RepoPath(path): document.blob}, whole=whole)


def test_facts_come_back_as_they_were_stored(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    index.refresh()
    number = _store(index, "a.py")
    with index.database.read() as connection:
        [facts] = semantics.facts_of(connection, _blob(index, "a.py"), "a.py")
        assert semantics.facts_of(connection, _blob(index, "a.py"), "b.py") == []
        [run] = semantics.runs(connection).values()
        assert semantics.contents_of(connection, number) == {"a.py": _blob(index, "a.py")}
    assert tuple(facts.targets) == TARGETS and list(facts.column) == [0, 1, 3, 2]
    assert (facts.run, facts.ambiguity, facts.counts, facts.imports) == (
        number, ("several",), Counts(inside=1), "led",
    )  # fmt: skip
    assert facts.implementations == [(0, 1)]
    assert (run.indexer, run.version, run.inputs, run.number) == ("toy", "1.0", {"uv.lock": "d1"}, number)


def test_a_run_over_the_whole_context_replaces_the_one_before(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    (repo / "b.py").write_text("y = 1\n")
    index.refresh()
    with index.database.read() as connection:
        before = semantics.generation(connection)
    _store(index, "a.py")
    second = _store(index, "b.py", whole=False)
    with index.database.read() as connection:
        assert semantics.indexed_paths(connection) == {"a.py", "b.py"}
        assert semantics.generation(connection) != before
    third = _store(index, "b.py")
    with index.database.read() as connection:
        assert semantics.indexed_paths(connection) == {"b.py"}
        assert list(semantics.runs(connection)) == [third] != [second]
    with index.database.write() as connection:
        assert semantics.clear(connection, "other") == 0
        assert semantics.clear(connection) == 1
        assert semantics.runs(connection) == {}


def test_the_content_of_facts_is_kept_as_long_as_they_are(index: Index, repo: Path) -> None:
    (repo / "a.py").write_text("x = 1\n")
    index.refresh()
    blob = _blob(index, "a.py")
    _store(index, "a.py")
    with index.database.write() as connection:
        connection.execute("DELETE FROM change")
        connection.execute("DELETE FROM entry")
    collect(index.database, fewest=1)
    with index.database.write() as connection:
        assert _is_there(connection, blob)
        assert len(semantics.facts_of(connection, blob, "a.py")) == 1
        semantics.clear(connection)
    collect(index.database, fewest=1)
    with index.database.read() as connection:
        assert not _is_there(connection, blob)


def _is_there(connection: Connection, blob: int) -> bool:
    return connection.execute("SELECT 1 FROM blob WHERE id = ?", (blob,)).fetchone() is not None
