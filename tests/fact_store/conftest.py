"""A repository that facts are pushed from, and a clone of it that takes them."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.fact_store import PullReport, PushReport
from codeplane.index import IndexDatabase, Workers
from codeplane.index.dump import dump
from codeplane.session.checkout import Checkout
from codeplane.session.shared_facts import export_file, import_file, pull_commit, push_commit
from codeplane.working_tree import Opened, WorkingTree
from tests.drive import git, new_repo, user_env

FILES = {
    "shop/cart.py": "class Cart:\n    def add(self, x): self.all.append(x)\n\ndef total(cart: Cart): ...\n",
    "shop/__init__.py": "from shop.cart import Cart, total\n",
    "shop/empty.py": "",
    "web/app.ts": "export function start(port: number) { return listen(port); }\n",
    "broken.py": "def (:\n",
    "notes.txt": "Kauf ein: Äpfel, Birnen\n",
    "data.bin": "\0\1\2 binary",
    "run": "#!/usr/bin/env python3\nprint('x')\n",
}


@dataclass
class Machine:
    """One checkout of one user, with its index."""

    repo: Path
    home: Path
    file: Path
    workers: Workers

    @property
    def checkout(self) -> Checkout:
        return Checkout.find(self.repo, Places.of_user(user_env(self.home)))

    @contextmanager
    def index(self) -> Iterator[tuple[IndexDatabase, WorkingTree]]:
        tree = WorkingTree(self.repo, self.checkout.repository, Opened(self.checkout.opened))
        with closing(IndexDatabase.open(self.file, tree, self.workers)) as index:
            yield index, tree

    def push(self, store: Path | str, commit: str = "HEAD") -> PushReport:
        with self.index() as (index, _):
            return push_commit(self.checkout, index, commit, str(store))

    def pull(self, store: Path | str, commit: str = "HEAD", *, again: bool = False) -> PullReport:
        with self.index() as (index, tree):
            return pull_commit(self.checkout, index, tree.at(commit), str(store), again=again)

    def export(self, file: Path, commit: str = "HEAD") -> PushReport:
        with self.index() as (index, _):
            return export_file(self.checkout, index, commit, file)

    def take(self, file: Path) -> PullReport:
        with self.index() as (index, tree):
            return import_file(self.checkout, index, tree, file)

    def blobs(self) -> int:
        """How many contents the index has facts of."""
        with self.index() as (index, _), index.database.read() as connection:
            return int(connection.execute("SELECT count(*) FROM blob").fetchone()[0])

    def facts(self, commit: str = "HEAD") -> list[str]:
        """Everything that the index says of a commit; what is not there is read."""
        with self.index() as (index, tree):
            view = index.commits.view_of(tree.at(commit))
            with index.database.read() as connection:
                [[key]] = connection.execute("SELECT key FROM view WHERE id = ?", (view,)).fetchall()
                words = connection.execute("SELECT term, doc FROM word_list ORDER BY term").fetchall()
                return [*dump(connection, key), *sorted({f"word {term}" for term, _ in words})]


@pytest.fixture
def author(tmp_path: Path, workers: Workers) -> Machine:
    repo = new_repo(tmp_path / "author" / "repo", FILES)
    return Machine(repo, tmp_path / "author" / "home", tmp_path / "author" / "index.db", workers)


@pytest.fixture
def reader(author: Machine, tmp_path: Path, workers: Workers) -> Machine:
    return clone(author, tmp_path / "reader", workers)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def clone(machine: Machine, folder: Path, workers: Workers) -> Machine:
    folder.mkdir()
    git(folder, "clone", "-q", str(machine.repo), "repo")
    return Machine(folder / "repo", folder / "home", folder / "index.db", workers)


def commit(repo: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-qm", "step")
    return git(repo, "rev-parse", "HEAD")
