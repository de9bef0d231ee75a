"""Facts that are shared: those of a commit out of a store, into one, or through a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.errors import (
    ArtifactForeign,
    ArtifactInvalid,
    FactStoreError,
    InvalidArgument,
    RevisionNotFound,
    StoreDistrusted,
)
from codeplane.fact_store import (
    ArchiveStore,
    ArchiveWriter,
    DistrustRecord,
    FactStore,
    PullReport,
    PushReport,
    check_is_shared,
    find_head,
    is_behind,
    manifest_key,
    move_head,
    open_fact_store,
    pull_facts,
    push_facts,
    repository_ids,
)
from codeplane.index import IndexDatabase, Progress
from codeplane.index.commit_facts import commit_contents
from codeplane.session.checkout import Checkout
from codeplane.storage.files import private_dir, write_private
from codeplane.working_tree import CommitTree, Opened, WorkingTree

_RECORD: Final = "distrusted-stores.json"


@dataclass(frozen=True)
class Ensured:
    """What came of asking the user's store for the facts of a commit."""

    report: PullReport | None = None
    problem: str = ""  # why nothing was taken, in a sentence

    @property
    def from_cache(self) -> bool:
        """Whether facts of the commit came from the store."""
        return self.report is not None and self.report.taken > 0


def ensure_from_store(checkout: Checkout, index: IndexDatabase, tree: CommitTree) -> Ensured | None:
    """Takes the facts that a commit needs from the user's default store, before they would be read here.

    None where no store is set. A store that can't be used costs nothing but a sentence: everything can be
    read here.
    """
    where = checkout.settings.index.store
    if not where:
        return None
    try:
        return Ensured(pull_commit(checkout, index, tree, where))
    except (FactStoreError, InvalidArgument) as error:
        return Ensured(problem=error.message)


def pull_commit(
    checkout: Checkout, index: IndexDatabase, tree: CommitTree, where: str, *, again: bool = False
) -> PullReport:
    """Takes the facts that a commit needs from a store; with `again`, from one that gave wrong facts
    before."""
    store = open_fact_store(where)
    with _marked_on_difference(checkout, store, again=again):
        contents = commit_contents(index, tree)
        return pull_facts(store, index, contents, repository_ids(checkout.repository))


def import_file(
    checkout: Checkout, index: IndexDatabase, tree: WorkingTree, file: Path, *, again: bool = False
) -> PullReport:
    """Takes facts out of a file: for the commit that it was made of, or for HEAD where that isn't here."""
    with ArchiveStore.open(file) as store, _marked_on_difference(checkout, store, again=again):
        repository, commit = _archived_commit(store)
        try:
            at = tree.at(commit)
        except RevisionNotFound:
            if repository not in repository_ids(checkout.repository):
                raise ArtifactForeign(
                    f"{file} is about commit {commit[:12]}, which is not in this repository.",
                    hints=["If it is a newer commit of this repository: git fetch"],
                    commit=commit,
                ) from None
            at = tree.at("HEAD")
        return pull_facts(store, index, commit_contents(index, at), [repository])


def push_commit(
    checkout: Checkout, index: IndexDatabase, revision: str, where: str, progress: Progress | None = None
) -> PushReport:
    """Brings the facts of a commit into a store, and has its pointer name the commit where that is newer."""
    store = open_fact_store(where, is_made=True)
    report = _send_facts(checkout, index, revision, store, progress)
    repository = checkout.repository
    report.is_head = move_head(
        store, report.repository, report.commit, lambda old, new: is_behind(repository, old, new)
    )
    return report


def export_file(
    checkout: Checkout, index: IndexDatabase, revision: str, file: Path, progress: Progress | None = None
) -> PushReport:
    """Writes the facts of a commit into one file."""
    with ArchiveWriter(file) as writer:
        report = _send_facts(checkout, index, revision, writer, progress)
        report.is_head = move_head(writer, report.repository, report.commit, lambda *_: True)
    return report


def shared_tree(checkout: Checkout) -> WorkingTree:
    """The working tree with nothing opened: secrets that CodePlane may read here are not for others."""
    return WorkingTree(checkout.root, checkout.repository, Opened())


def distrust_record(checkout: Checkout) -> DistrustRecord:
    """The stores that gave wrong facts to this user."""
    folder = checkout.places.state_dir

    def write(file: Path, data: bytes) -> None:
        private_dir(folder)
        write_private(file, data)

    return DistrustRecord(folder / _RECORD, write)


def _send_facts(
    checkout: Checkout, index: IndexDatabase, revision: str, store: FactStore, progress: Progress | None
) -> PushReport:
    """The facts of a commit that others may have, from what the index has; what it lacks is read first."""
    tree = shared_tree(checkout).at(revision)
    check_is_shared(checkout.repository, tree.commit.oid)
    ids = repository_ids(checkout.repository)
    if not ids:
        raise InvalidArgument(
            "This repository has no remote, and its first commit is not here: nobody could tell which it is.",
            hints=["git remote add origin URL", "git fetch --unshallow"],
        )
    index.commits.view_of(tree, progress)
    return push_facts(store, index, commit_contents(index, tree), ids[0])


def _archived_commit(store: ArchiveStore) -> tuple[str, str]:
    """The repository and the commit that a file is about."""
    repositories = {key.split("/")[1] for key in store.keys("repo/")}
    if len(repositories) != 1:
        raise ArtifactInvalid(f"{store.label} is not used: it is not about one repository.")
    [repository] = repositories
    commit = find_head(store, repository)
    if commit is None or store.size(manifest_key(repository, commit)) is None:
        raise ArtifactInvalid(f"{store.label} is not used: it has no manifest.")
    return repository, commit


@contextmanager
def _marked_on_difference(checkout: Checkout, store: FactStore, *, again: bool) -> Iterator[None]:
    """Refuses a store that gave wrong facts before, and remembers one that does."""
    record, label = distrust_record(checkout), store.label
    if again:
        record.remove(label)
    elif (reason := record.reason(label)) is not None:
        raise StoreDistrusted(
            f"{label} is not used: {reason}",
            hints=["Find out who wrote to it; then add --again."],
            store=label,
        )
    try:
        yield
    except StoreDistrusted as error:
        record.add(label, error.message)
        raise StoreDistrusted(
            f"{error.message} {label} is marked as untrusted and is not asked any more.",
            hints=["Find out who wrote to it; then add --again."],
            store=label,
            **error.details,
        ) from error
