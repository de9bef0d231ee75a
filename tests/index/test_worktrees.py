"""Linked worktrees share one index, each with a view of its own; several processes write to it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.errors import IndexBusy, NotTrusted
from codeplane.git import open_repository
from codeplane.index import Workers, drop_index
from codeplane.index.dump import dump
from codeplane.names import Index
from codeplane.session import Checkout
from tests.drive import git, new_repo
from tests.index.conftest import tree_of
from tests.index.test_index import fresh, text_of

ROOT = Path(__file__).parent.parent.parent

CHURN = """
import random, sys
from pathlib import Path
from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.names import Index
from tests.index.conftest import tree_of
if __name__ == "__main__":
    repo, file, view, seed = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    die = random.Random(seed)
    workers = Workers(1)
    index = Index.open(file, tree_of(repo), workers, view)
    for step in range(40):
        for _ in range(6):
            # Few names and few texts: both processes meet the same new contents and the same new names.
            text = "".join(f"def shared_{step}_{die.randrange(9)}(): pass\\n" for _ in range(3))
            (repo / f"m{die.randrange(12)}.py").write_text(text)
        index.refresh()
    index.close()
    workers.close()
"""


def two_trees(tmp_path: Path) -> tuple[Path, Path]:
    main = new_repo(tmp_path / "main", {"a.py": "def a(): pass\n"})
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    return main, tmp_path / "linked"


def checkout_of(root: Path) -> Checkout:
    return Checkout.find(root, Places.of_user())


def view_text(index: Index, key: str) -> str:
    with index.database.read() as connection:
        return "\n".join(dump(connection, key))


def test_a_linked_worktree_uses_the_index_of_its_primary(tmp_path: Path) -> None:
    main, linked = two_trees(tmp_path)
    one, two = checkout_of(main), checkout_of(linked)
    assert one.index_file == two.index_file == main / ".codeplane" / "index.db"
    assert (one.view_key, two.view_key) == ("worktree", "worktree:linked")


@pytest.mark.parametrize("lie", ["foreign", "unlisted"])
def test_a_git_file_that_the_primary_does_not_know_shares_nothing(tmp_path: Path, lie: str) -> None:
    main, linked = two_trees(tmp_path)
    if lie == "foreign":
        root = tmp_path / "stranger"
        root.mkdir()
        (root / ".git").write_text(f"gitdir: {main}/.git/worktrees/linked\n")
    else:
        root = linked
        (main / ".git" / "worktrees" / "linked" / "gitdir").write_text("/somewhere/else/.git\n")
    with pytest.raises(NotTrusted):
        checkout_of(root)
    assert open_repository(root, trusted=True).primary() is None


def test_each_worktree_is_seen_as_it_is_and_content_is_read_once(tmp_path: Path, workers: Workers) -> None:
    main, linked = two_trees(tmp_path)
    (linked / "a.py").write_text("def changed(): pass\n")
    one = Index.open(tmp_path / "i.db", tree_of(main), workers)
    two = Index.open(tmp_path / "i.db", tree_of(linked), workers, "worktree:linked")
    one.refresh()
    two.refresh()
    with one.snapshot() as here, two.snapshot() as there:
        assert here.definitions_named("a", 5).items and not there.definitions_named("a", 5).items
        assert there.definitions_named("changed", 5).items and not here.definitions_named("changed", 5).items
    (main / "a.py").write_text("def changed(): pass\n")
    one.refresh()
    with one.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM blob").fetchone()[0] == 2
    one.close()
    two.close()


def test_two_processes_write_to_one_index_and_lose_nothing(tmp_path: Path, workers: Workers) -> None:
    main, linked = two_trees(tmp_path)
    script, file = tmp_path / "churn.py", tmp_path / "i.db"
    script.write_text(CHURN)
    started = [
        subprocess.Popen(
            [sys.executable, str(script), str(repo), str(file), view, str(seed)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for seed, (repo, view) in enumerate([(main, "worktree"), (linked, "worktree:linked")])
    ]
    assert [process.wait(120) for process in started] == [0, 0]
    index = Index.open(file, tree_of(main), workers)
    assert not index.state().rebuilt
    with index.database.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        epochs = connection.execute("SELECT view, count(*) FROM epoch GROUP BY view").fetchall()
    assert [count for _, count in epochs] == [40, 40]
    kept = [view_text(index, view) for view in ("worktree", "worktree:linked")]
    index.close()
    assert kept == [fresh(tree, tmp_path / f"{n}.db", workers) for n, tree in enumerate((main, linked))]


def test_two_writers_of_one_view_overtake_each_other_and_lose_nothing(
    index: Index, repo: Path, tmp_path: Path, workers: Workers
) -> None:
    other = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    for step in range(6):
        (repo / f"m{step}.py").write_text(f"def f{step}(): pass\n")
        (index if step % 2 else other).refresh()
    (repo / "m0.py").unlink()
    assert index.refresh() == other.refresh()
    assert text_of(index) == text_of(other) == fresh(repo, tmp_path / "new.db", workers)
    other.close()


def test_an_index_in_use_is_not_deleted(index: Index, tmp_path: Path) -> None:
    with pytest.raises(IndexBusy):
        drop_index(tmp_path / "index.db")
    index.close()
    assert drop_index(tmp_path / "index.db") > 0
