"""An indexer for tests: it says what it is told to say about names behind receivers."""

from collections.abc import Mapping, Sequence

from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Run, SemanticDocument, SemanticTarget, store_run
from codeplane.names import Index, Snapshot
from codeplane.session.semantic.imports import Base, take_base

Said = Mapping[tuple[str, int, str], SemanticTarget]
"""Path, line and name → what the name means there."""


def definition(path: str, names: str, number: int = 0) -> SemanticTarget:
    return SemanticTarget("definition", path, names, number)


def external(text: str) -> SemanticTarget:
    return SemanticTarget("external", text=text)


def tell(
    index: Index, said: Said, *, context: str = "python:", inputs: Mapping[str, str] | None = None
) -> int:
    """Has a run say what some names mean, of the tree as it is now; the other names of the same files mean
    nothing to it."""
    with index.snapshot() as snapshot:
        documents = documents_of(snapshot, said)
        sources = [RepoPath(path) for path in snapshot.layout.blobs if path.endswith(".py")]
    run = Run(context, "toy", "1.0", inputs=inputs or {})
    return store(index, run, documents, base_of(index, sources))


def base_of(index: Index, paths: Sequence[RepoPath]) -> Base:
    """What a run over some files rests on that is made of the tree as it is now."""
    with index.snapshot() as snapshot:
        return take_base(snapshot, paths, paths, ())


def store(index: Index, run: Run, documents: Sequence[SemanticDocument], base: Base) -> int:
    """Takes in what a run has said, and gives its number."""
    facts = [one._replace(imports=base.imports.get(one.path, "")) for one in documents]
    with index.database.write() as connection:
        return store_run(connection, run, facts, base.blobs)


def documents_of(snapshot: Snapshot, said: Said) -> list[SemanticDocument]:
    """What is said, as documents about the content that the files have."""
    documents = []
    for path in sorted({path for path, _, _ in said}):
        blob = snapshot.layout.blobs[path]
        assert blob is not None
        targets: list[SemanticTarget] = []
        column = []
        for name, occurrence in snapshot.occurrences_inside(path):
            target = said.get((path, occurrence.line, name))
            if target is not None:
                targets.append(target)
            column.append(len(targets) if target is not None else 0)
        documents.append(SemanticDocument(blob, RepoPath(path), targets, column))
    return documents
