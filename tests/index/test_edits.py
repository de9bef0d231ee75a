"""Whatever happens to the tree, the index kept in step equals one made from scratch."""

import random
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pygit2
import pytest

from codeplane.graph.import_links import links_of
from codeplane.index import Workers
from codeplane.names import Index
from tests.drive import git, new_repo
from tests.index.conftest import tree_of
from tests.index.test_index import text_of

NAMES = ("a.py", "b.py", "pkg/c.py", "pkg/d.py", "pkg/__init__.py", "notes.txt", "web/x.js", "ünï.py")
LINES = (
    "def {0}():\n    return {1}\n",
    "class {0}({1}):\n    {1} = 1\n    def m(self):\n        return self.{1}\n",
    "from pkg.c import {0} as {1}\n",
    "{0} = {1}\n",
    "broken ((( {0}\n",
    "import {0}\n",
    "from a import {0}, {1}\n",
    "from b import *\nfrom pkg import c, {0}\n",
    "from .d import {0}\n",
    "def {0}():\n    global {1}\n    {1} = 1\n",
    "for {0} in {1}:\n    pass\n",
    "from a import Delta\nclass {0}:\n    def m(self):\n        self.{1} = Delta()\n        self.{1}.m()\n",
    "def {0}(any):\n    any.{1} = 1\n",
)
WORDS = ("alpha", "beta", "gamma", "Delta", "x1")
WHO = pygit2.Signature("T", "t@example.org", 1, 0)


class Churn:
    """A person at work in a repository, by the roll of a die."""

    def __init__(self, repo: Path, seed: int) -> None:
        self.repo = repo
        self.git = pygit2.Repository(str(repo))
        self.die = random.Random(seed)

    def step(self) -> None:
        self.die.choice(
            (
                *(self.edit, self.edit, self.edit, self.delete, self.rename, self.ignore, self.commit),
                *(self.switch, self.move_folder, self.replace_folder),
            )
        )()

    def edit(self) -> None:
        path = self.repo / self.die.choice(NAMES)
        path.parent.mkdir(exist_ok=True)
        made = [
            self.die.choice(LINES).format(*self.die.choices(WORDS, k=2))
            for _ in range(self.die.randint(0, 4))
        ]
        path.write_text("".join(made))

    def delete(self) -> None:
        if files := self.files():
            self.die.choice(files).unlink()

    def rename(self) -> None:
        if files := self.files():
            target = self.repo / self.die.choice(NAMES)
            target.parent.mkdir(exist_ok=True)
            self.die.choice(files).rename(target)

    def move_folder(self) -> None:
        source, target = self.die.sample(["pkg", "web", "other", "other/inner"], k=2)
        if (self.repo / source).is_dir() and not (self.repo / target).exists():
            (self.repo / target).parent.mkdir(exist_ok=True)
            with suppress(OSError):  # into itself
                (self.repo / source).rename(self.repo / target)

    def replace_folder(self) -> None:
        shutil.rmtree(self.repo / "pkg", ignore_errors=True)
        self.edit()

    def ignore(self) -> None:
        rules = self.die.sample(["pkg/", "*.txt", "b.py", "!b.py", "web/*", "# nothing"], k=2)
        (self.repo / self.die.choice([".gitignore", ".cplignore"])).write_text("\n".join(rules) + "\n")

    def commit(self) -> None:
        self.git.index.read()
        self.git.index.add_all()
        self.git.index.write()
        parents = [self.git.head.target]
        self.git.create_commit("HEAD", WHO, WHO, "step", self.git.index.write_tree(), parents)

    def switch(self) -> None:
        self.commit()
        branch = self.die.choice(("main", "one", "two"))
        is_known = branch in self.git.branches.local
        git(self.repo, "checkout", "-q", *([] if is_known else ["-b"]), branch)

    def files(self) -> list[Path]:
        return [self.repo / name for name in NAMES if (self.repo / name).is_file()]


def links(index: Index) -> str:
    """What every name means, with the uids of what is defined."""
    with index.snapshot() as snapshot:
        lines = []
        for file in snapshot.files(1000).items:
            lines += [str(ref) for ref in snapshot.references_in(file.path)] if file.language else []
            for item in snapshot.definitions_in(file.path, 1000).items:
                lines.append(f"{item.lexical_path} {snapshot.uid(item.path, item.position)}")
        return "\n".join(lines)


def campaign(tmp_path: Path, workers: Workers, seeds: range, steps: int) -> None:
    first = new_repo(tmp_path / "first")
    shutil.rmtree(first / ".git" / "hooks", ignore_errors=True)
    for seed in seeds:
        repo = shutil.copytree(first, tmp_path / f"r{seed}")
        churn = Churn(repo, seed)
        tree = tree_of(repo)
        if seed % 2 and sys.platform == "linux":
            assert tree.follow(tmp_path) == ""
        index = Index.open(tmp_path / f"{seed}.db", tree, workers)
        index.fingerprint()
        for number in range(steps):
            churn.step()
            if churn.die.random() < 0.7 or number == steps - 1:
                index.refresh(followed=True)
                kept_links = links(index)
                with index.snapshot() as snapshot:
                    coverage, imports = snapshot.coverage, links_of(snapshot)
        kept = text_of(index)
        fingerprint = index.fingerprint().hex()
        index.close()
        tree.unfollow()
        made = Index.open(tmp_path / f"{seed}-fresh.db", tree_of(repo), workers)
        made.refresh()
        assert (kept, kept_links) == (text_of(made), links(made)), f"seed {seed}"
        with made.snapshot() as snapshot:
            assert (coverage, imports) == (snapshot.coverage, links_of(snapshot)), f"seed {seed}"
        assert fingerprint == made.fingerprint().hex(), f"seed {seed}"
        made.close()


@pytest.mark.parametrize("part", range(20))
def test_random_work_is_followed(tmp_path: Path, workers: Workers, part: int) -> None:
    campaign(tmp_path, workers, range(part * 25, part * 25 + 25), steps=20)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(100))
def test_random_work_is_followed_all_day(tmp_path: Path, workers: Workers, part: int) -> None:
    campaign(tmp_path, workers, range(10_000 + part * 100, 10_100 + part * 100), steps=20)
