"""How facts of an indexer rot: one index at the start of a piece of history, then commit after commit.

`python -m bench.semantic_history CLONE [COMMITS [STEP]]` indexes a Python repository as it was COMMITS (100)
ago once, and after every STEP (10) commits compares all facts that still count as clean with a fresh index.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.index.conftest import tree_of

from bench.corpora import python_package
from bench.semantic import take_in, ty_scip
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.index import Workers
from codeplane.names import Index, Snapshot
from codeplane.names.freshness import Freshness
from codeplane.names.meaning import Target

_Facts = dict[tuple[RepoPath, int, int, str], tuple[str, ...]]
"""Path, line, column and name of an occurrence → the definitions that it means, by path and names."""


def replay(clone: Path, commits: int, step: int) -> Counter[str]:
    """Counts clean facts that are the same, that differ, and the states of files."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        root = Path(folder) / "repo"
        _git(Path(folder), "clone", "-q", str(clone), str(root))
        names = _git(root, "rev-list", "--first-parent", f"-{commits + 1}", "HEAD").split()[::-1]
        _git(root, "checkout", "-q", names[0])
        workers = Workers(2)
        kept = Index.open(Path(folder) / "kept.db", tree_of(root), workers)
        kept.refresh()
        take_in(kept, root, ty_scip(), Path(folder) / "first")
        for number, name in enumerate(names[1:], 1):
            _git(root, "checkout", "-q", name)
            kept.refresh()
            with kept.snapshot() as snapshot:
                clean, states = _clean_facts(snapshot)
            counts.update({f"files {state.value}": count for state, count in states.items()})
            if number % step == 0:
                counts.update(_compare(root, Path(folder) / name, workers, clean))
        kept.close()
        workers.close()
    return counts


def release_history(name: str, versions: tuple[str, ...], root: Path) -> Path:
    """A repository with one commit for each release of a Python package, for where no clone is at hand."""
    root.mkdir()
    _git(root, "init", "-q", "-b", "main")
    for version in versions:
        for entry in root.iterdir():
            if entry.name != ".git":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        [release] = (one for one in python_package(name, version).iterdir() if one.name != ".git")
        shutil.copytree(release, root, symlinks=True, dirs_exist_ok=True)
        author = ("-c", "user.name=History", "-c", "user.email=history@example.org")
        _git(root, "add", "-A", "-f")
        _git(root, *author, "commit", "-qm", f"{name} {version}")
    return root


def _compare(root: Path, folder: Path, workers: Workers, clean: _Facts) -> Counter[str]:
    """Clean facts beside those of a fresh index of the same tree."""
    folder.mkdir()
    counts: Counter[str] = Counter()
    fresh = Index.open(folder / "fresh.db", tree_of(root), workers)
    fresh.refresh()
    take_in(fresh, root, ty_scip(), folder)
    with fresh.snapshot() as snapshot:
        facts, _ = _clean_facts(snapshot)
    for place, target in clean.items():
        is_same = facts.get(place) == target
        counts["same" if is_same else "absent" if place not in facts else "different"] += 1
        if place in facts and not is_same:
            print(f"    {place}: {target} not {facts[place]}")
    fresh.close()
    return counts


def _clean_facts(snapshot: Snapshot) -> tuple[_Facts, Counter[Freshness]]:
    facts: _Facts = {}
    states: Counter[Freshness] = Counter()
    for text in snapshot.layout.blobs:
        path = RepoPath(text)
        if not text.endswith(".py") or snapshot.facts(path) is None:
            continue
        state = snapshot.semantic_states.state_for_edit(path).freshness
        states[state] += 1
        if state is not Freshness.CLEAN:
            continue
        for ref in snapshot.references.inside(path):
            if "ty-scip" in ref.evidence:
                facts[path, ref.line, ref.column, ref.name] = _named(snapshot, ref.target)
    return facts, states


def _named(snapshot: Snapshot, target: Target) -> tuple[str, ...]:
    def name(place: Place) -> str:
        return snapshot.qualified(place) if place.definition >= 0 else str(place.path)

    return tuple(sorted(map(name, target)))


def _git(cwd: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def main() -> None:
    clone, *numbers = sys.argv[1:]
    commits, step = [*map(int, numbers), *(100, 10)[len(numbers) :]]
    for name, count in sorted(replay(Path(clone).resolve(), commits, step).items()):
        print(f"{name:<24} {count:>8}")


if __name__ == "__main__":
    main()
