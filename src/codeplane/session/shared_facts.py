"""Facts that are shared: those of a commit out of a store, into one, or through a file."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
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
from codeplane.index import IndexDatabase, Progress, Workers
from codeplane.index.commit_facts import commit_contents, missing_facts
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir
from codeplane.storage.files import private_dir, write_private
from codeplane.working_tree import CommitTree, Opened, WorkingTree

_RECORD: Final = "distrusted-stores.json"
_WORKERS: Final = 2


@dataclass
class StoreStatus:
    """How a store and this checkout stand."""

    store: str
    commit: str  # that is checked out
    head: str | None  # the commit that the store's pointer names
    has_commit: bool
    distrust: str | None = None
    contents: int | None = None  # of the commit; None where there is no index yet
    missing: int | None = None  # those without facts in the index


@dataclass(frozen=True)
class Ensured:
    """What came of asking the user's store for the facts of a commit."""

    report: PullReport | None = None
    problem: str = ""  # why nothing was taken, in a sentence

    @property
    def from_cache(self) -> bool:
        """Whether facts of the commit came from the store."""
        return self.report is not None and self.report.from_store > 0


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
    with _marked_on_difference(checkout, store, again=again), _workers_for(index) as workers:
        contents = commit_contents(index, tree)
        return pull_facts(store, index, contents, repository_ids(checkout.repository), workers)


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
        with _workers_for(index) as workers:
            return pull_facts(store, index, commit_contents(index, at), [repository], workers)


def push_commit(
    checkout: Checkout, index: IndexDatabase, revision: str, where: str, progress: Progress | None = None
) -> PushReport:
    """Brings the facts of a commit into a store, and has its pointer name the commit where that is newer."""
    tree, repository = _find_shared(checkout, revision)
    store = open_fact_store(where, is_made=True)
    index.commits.view_of(tree, progress)  # what the index lacks is read first
    report = push_facts(store, index, commit_contents(index, tree), repository)
    report.is_head = move_head(
        store, repository, report.commit, lambda old, new: is_behind(checkout.repository, old, new)
    )
    return report


def export_file(
    checkout: Checkout, index: IndexDatabase, revision: str, file: Path, progress: Progress | None = None
) -> PushReport:
    """Writes the facts of a commit into one file."""
    tree, repository = _find_shared(checkout, revision)
    with ArchiveWriter(file) as writer:
        index.commits.view_of(tree, progress)
        report = push_facts(writer, index, commit_contents(index, tree), repository)
        report.is_head = move_head(writer, repository, report.commit, lambda *_: True)
    return report


@contextmanager
def opened_index(checkout: Checkout) -> Iterator[tuple[IndexDatabase, WorkingTree]]:
    """The index of a checkout, whether or not a server has it open too."""
    for root in {checkout.root, checkout.index_home}:
        StateDir.create(root)
    tree = WorkingTree(checkout.root, checkout.repository, Opened(checkout.opened))
    with closing(Workers(_WORKERS)) as workers:
        index = IndexDatabase.open(checkout.index_file, tree, workers, checkout.view_key)
        with closing(index):
            yield index, tree


def describe_store(checkout: Checkout, where: str) -> StoreStatus:
    """What a store has of this repository, and what of HEAD is to be read here without it. Facts stay where
    they are."""
    store, repository = open_fact_store(where), checkout.repository
    commit = repository.head().commit or ""
    heads = {one: head for one in repository_ids(repository) if (head := find_head(store, one))}
    status = StoreStatus(
        store=store.label,
        commit=commit,
        head=next(iter(heads.values()), None),
        has_commit=any(store.size(manifest_key(one, commit)) for one in heads) if commit else False,
        distrust=distrust_record(checkout).find_reason(store.label),
    )
    if commit and checkout.index_file.exists():
        with opened_index(checkout) as (index, tree):
            contents = commit_contents(index, tree.at(commit))
            status.contents, status.missing = len(contents.keys), len(missing_facts(index, contents))
    return status


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


def _find_shared(checkout: Checkout, revision: str) -> tuple[CommitTree, str]:
    """What others may have of a commit, and what they call the repository; all that would be refused is."""
    tree = shared_tree(checkout).at(revision)
    check_is_shared(checkout.repository, tree.commit.oid)
    ids = repository_ids(checkout.repository)
    if not ids:
        raise InvalidArgument(
            "This repository has no remote, and its first commit is not here: nobody could tell which it is.",
            hints=["git remote add origin URL", "git fetch --unshallow"],
        )
    return tree, ids[0]


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
def _workers_for(index: IndexDatabase) -> Iterator[Workers]:
    """Workers for the few contents of a comparison: one is enough where none is there yet."""
    if not index.workers.are_missing:
        yield index.workers
        return
    with closing(Workers(1)) as workers:
        yield workers


@contextmanager
def _marked_on_difference(checkout: Checkout, store: FactStore, *, again: bool) -> Iterator[None]:
    """Refuses a store that gave wrong facts before, and remembers one that does."""
    record, label = distrust_record(checkout), store.label
    if again:
        record.remove(label)
    elif (reason := record.find_reason(label)) is not None:
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
