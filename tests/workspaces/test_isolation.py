"""Agents at work at once see and change their own workspaces alone; what is left is what has to be there."""

from contextlib import closing
from pathlib import Path

import pytest

from codeplane.index.gc import faults
from codeplane.names import Index
from codeplane.session import Checkout, RepoSession
from codeplane.session.repo import tree_of
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.storage.database import Database
from tests.drive import git, new_repo
from tests.workspaces.campaign import Agent, differences_to_fresh, files_of, repository, run_campaign, source

FACTS = ("blob", "definition", "ref", "import", "export", "dynamic", "written", "word_data")


def check_end(base: Path, agents: int, operations: int, seed: int) -> None:
    with repository(base) as session:
        root = session.checkout.root
        before = files_of(root), git(root, "rev-parse", "HEAD"), git(root, "branch", "--show-current")
        team = run_campaign(session, agents, operations, seed)
        assert (
            files_of(root),
            git(root, "rev-parse", "HEAD"),
            git(root, "branch", "--show-current"),
        ) == before
        assert git(root, "status", "--porcelain", "-uall", "--", ":!.codeplane") == ""
        names = {name for agent in team for name in agent.models}
        assert {one.id for one in workspaces_of(session).find_all()} == names
        assert sorted(git(root, "branch", "--format=%(refname:short)").split()) == sorted({"main", *names})
        session.index.refresh()
        assert differences_to_fresh(session, root, base / "primary.db") == ""
        for agent in team:
            check_workspaces(session, agent, base)
        assert faults(session.index.database) == []
        check_views(session, names)
        contents = [source(marker) for marker in sorted(team[0].markers)]
        assert fact_bytes(session.index.database) <= 1.2 * fact_bytes_of(contents, session, base)


def fact_bytes(database: Database) -> int:
    """What facts take in an index, without what maps paths to them."""
    with database.read() as connection:
        marks = ", ".join("?" * len(FACTS))
        [(size,)] = connection.execute(f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({marks})", FACTS)
    return int(size)


def fact_bytes_of(contents: list[str], session: RepoSession, base: Path) -> int:
    """What facts of these contents take in a new index, each once."""
    root = new_repo(base / "every", {f"m{number}.py": text for number, text in enumerate(contents)})
    tree = tree_of(Checkout.find(root, session.checkout.places))
    with closing(Index.open(base / "every.db", tree, session.workers)) as index:
        index.refresh()
        return fact_bytes(index.database)


def check_workspaces(session: RepoSession, agent: Agent, base: Path) -> None:
    registry = workspaces_of(session)
    for name, model in agent.models.items():
        with registry.enter(name) as place:
            root = place.repo.checkout.root
            assert files_of(root) == model.files
            place.repo.index.refresh()
            assert differences_to_fresh(session, root, base / f"{name}.db") == ""
            committed = git(root, "ls-tree", "-r", "--name-only", "HEAD").split()
            assert sorted(path for path in committed if path.endswith(".py")) == sorted(model.base)


def check_views(session: RepoSession, names: set[str]) -> None:
    """No view is left of a workspace that was deleted."""
    with session.index.database.read() as connection:
        keys = {key for (key,) in connection.execute("SELECT key FROM view WHERE key NOT LIKE 'commit:%'")}
    assert keys <= {"worktree", *(f"worktree:{name}" for name in names)}


def test_three_agents_do_not_see_each_other(tmp_path: Path) -> None:
    check_end(tmp_path, agents=3, operations=100, seed=1)


@pytest.mark.soak
def test_twenty_agents_do_not_see_each_other(tmp_path: Path) -> None:
    check_end(tmp_path, agents=20, operations=1000, seed=2)
