"""Edits, branches, runs that end late and renames in any order: what is taken from an indexer is always true.

The repository is written from a few choices, so that what `.run` means is known whatever the structure of the
code can tell. The indexer is right about the state that it has read, which may be an old one.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.index.semantics import Run, SemanticDocument
from codeplane.names import Index
from codeplane.names.freshness import Freshness
from codeplane.session.semantic.imports import Base
from tests.drive import git
from tests.index.toy_indexer import Said, base_of, definition, documents_of, store

STEPS = 6
_APP, _MAKE = RepoPath("app.py"), RepoPath("make.py")


@dataclass(frozen=True)
class Choices:
    """Everything that the files are written from."""

    made: str = "First"  # what `make` returns
    is_annotated: bool = False
    is_first_own: bool = True  # whether First has a `run` of its own
    base: str = "Base"  # that First extends
    maker: str = "make"  # the module that `api` takes `make` from
    noise: tuple[int, int, int] = (0, 0, 0)  # comments in make, app and base
    is_renamed: bool = False  # `Second.run`

    def files(self) -> dict[str, str]:
        comments = ["# noise\n" * count for count in self.noise]
        own = "    def run(self): return 1\n" if self.is_first_own else "    other = 1\n"
        arrow = f" -> {self.made}" if self.is_annotated else ""
        second = "walk" if self.is_renamed else "run"
        base = "class Base:\n    def run(self): return 0\n\n\nclass Odd:\n    def run(self): return 3\n"
        first = f"class First({self.base}):\n{own}\n\n"
        last = f"class Second:\n    def {second}(self): return 2\n\n\n"
        make = f"def make(){arrow}:\n    return {self.made}()\n"
        call = f"[thing, unknown][0].{self._name()}()"
        return {
            "base.py": comments[2] + base,
            "make.py": f"{comments[0]}from base import Base, Odd\n\n\n{first}{last}{make}",
            "spare.py": "from make import Second\n\n\ndef make() -> Second:\n    return Second()\n",
            "api.py": f"from {self.maker} import make\n",
            "app.py": f"{comments[1]}import api\n\n\ndef go(unknown):\n    thing = api.make()\n    {call}\n",
        }

    def _name(self) -> str:
        return "walk" if self.is_renamed and self.class_of_thing() == "Second" else "run"

    def class_of_thing(self) -> str:
        return "Second" if self.maker == "spare" else self.made

    def truth(self) -> tuple[str, str]:
        """The file and the names of what `.run` in app.py means."""
        if self.class_of_thing() == "Second":
            return "make.py", "Second.walk" if self.is_renamed else "Second.run"
        return ("make.py", "First.run") if self.is_first_own else ("base.py", f"{self.base}.run")

    def said(self) -> Said:
        """What an indexer says about this state: it is right."""
        line = self.noise[1] + 6
        source = ("spare.py", "make") if self.maker == "spare" else ("make.py", "make")
        return {
            ("app.py", line, self._name()): definition(*self.truth()),
            ("app.py", line - 1, "make"): definition(*source),
        }


@dataclass
class Pending:
    """A run that has read a state and has not been taken in."""

    documents: list[SemanticDocument]
    base: Base


class World:
    """A repository on which everything may happen at any time."""

    def __init__(self, index: Index, repo: Path, dice: random.Random) -> None:
        self.index, self.repo, self.dice = index, repo, dice
        self.choices = Choices()
        self.branches = {"main": self.choices}
        self.branch = "main"
        self.pending: Pending | None = None
        self.claims = self.strong = 0

    def write(self, choices: Choices) -> None:
        self.choices = choices
        for path, text in choices.files().items():
            if not (self.repo / path).exists() or (self.repo / path).read_text() != text:
                (self.repo / path).write_text(text)

    def edit(self) -> None:
        noise = list(self.choices.noise)
        noise[self.dice.randrange(3)] += 1
        self.write(
            self.dice.choice(
                [
                    replace(self.choices, made=self.dice.choice(["First", "Second"])),
                    replace(self.choices, is_annotated=not self.choices.is_annotated),
                    replace(self.choices, is_first_own=not self.choices.is_first_own),
                    replace(self.choices, base=self.dice.choice(["Base", "Odd"])),
                    replace(self.choices, maker=self.dice.choice(["make", "spare"])),
                    replace(self.choices, noise=tuple(noise)),  # type: ignore[arg-type]
                ]
            )
        )

    def rename(self) -> None:
        self.write(replace(self.choices, is_renamed=not self.choices.is_renamed))

    def switch(self) -> None:
        git(self.repo, "add", "-A")
        git(self.repo, "commit", "-qm", "state", "--allow-empty")
        self.branches[self.branch] = self.choices
        self.branch = self.dice.choice(["main", "other", "third"])
        if self.branch in self.branches:
            git(self.repo, "checkout", "-q", self.branch)
            self.choices = self.branches[self.branch]
        else:
            git(self.repo, "checkout", "-qb", self.branch)

    def begin(self) -> None:
        """A run reads the tree as it is now; it may be taken in later, or be killed."""
        self.index.refresh()
        with self.index.snapshot() as snapshot:
            sources = [RepoPath(path) for path in snapshot.layout.blobs if path.endswith(".py")]
            documents = documents_of(snapshot, self.choices.said())
        self.pending = Pending(documents, base_of(self.index, sources))

    def finish(self) -> None:
        if self.pending is not None:
            store(self.index, Run("python:", "toy", "1"), self.pending.documents, self.pending.base)
            self.pending = None

    def kill(self) -> None:
        self.pending = None

    def check(self) -> None:
        """What is known about `.run` is true, and what an edit may rest on is about these very bytes."""
        self.index.refresh()
        choices = self.choices
        path, names = choices.truth()
        with self.index.snapshot() as snapshot:
            name = names.rpartition(".")[2]
            refs = snapshot.references.named_in(_APP, name)
            [ref] = [one for one in refs if one.line == choices.noise[1] + 6]
            if ref.tier in (Tier.PROVEN, Tier.STRONG):
                self.claims += 1
                self.strong += ref.evidence != "structure"
                [place] = ref.target
                meant = snapshot.qualified(place).partition(".")[2]
                assert (place.path, meant) == (path, names), (choices, ref)
            state = snapshot.semantic_states.state_for_edit(_APP)
            if state.freshness is Freshness.CLEAN:
                assert snapshot.semantics.documents(_APP)


def steps(world: World) -> Iterator[str]:
    for _ in range(STEPS):
        step = world.dice.choices(
            ["edit", "rename", "switch", "begin", "finish", "kill"], weights=[8, 1, 1, 3, 4, 1]
        )[0]
        getattr(world, step)()
        yield step


@pytest.mark.parametrize("seed", range(10))
def test_what_is_taken_from_an_indexer_is_true(index: Index, repo: Path, seed: int) -> None:
    interleave(index, repo, random.Random(seed), rounds=50)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 20))
def test_what_is_taken_from_an_indexer_is_true_in_the_long_run(index: Index, repo: Path, seed: int) -> None:
    interleave(index, repo, random.Random(seed), rounds=500)


def interleave(index: Index, repo: Path, dice: random.Random, rounds: int) -> None:
    """Starts each round with a run that is taken in, mixes a few steps, and checks after every one."""
    git(repo, "checkout", "-qB", "main")
    world = World(index, repo, dice)
    world.write(world.choices)
    for _ in range(rounds):
        world.begin()
        world.finish()
        for _ in steps(world):
            world.check()
    assert world.strong > rounds // 2, "the indexer has hardly had a say"
