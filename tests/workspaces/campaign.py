"""Agents that work at once, each in workspaces of its own, and what each of them may see at every moment."""

import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from codeplane.config import Places
from codeplane.index.dump import dump
from codeplane.names import Index
from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.repo import tree_of
from codeplane.tools import all_tools
from tests.drive import git, new_repo, user_env

MODULES = 8
NO_LIMITS = ("tasks.max_mutations=1000000", "tasks.max_duration_sec=2592000")


def source(marker: str) -> str:
    return f"def {marker}():\n    return helper_{marker}()\n"


@contextmanager
def repository(base: Path, modules: int = MODULES) -> Iterator[RepoSession]:
    """A repository with a few modules, open as a server has it."""
    files = {f"module_{number}.py": source(f"original_{number}") for number in range(modules)}
    root = new_repo(base / "repo", files)
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.org")
    places = Places.of_user(user_env(base / "home"))
    with closing(RepoSession.open(Checkout.find(root, places, NO_LIMITS))) as session:
        session.index.refresh()
        yield session


@dataclass
class Model:
    """What a workspace has to hold: its files, and those of its last commit."""

    files: dict[str, str]
    base: dict[str, str]


@dataclass
class Agent:
    """One agent with its workspaces, and a model of each."""

    name: str
    pipeline: Pipeline
    die: random.Random
    markers: set[str]  # that anybody has ever written
    original: dict[str, str]
    models: dict[str, Model] = field(default_factory=dict)
    count: int = 0

    async def call(self, tool: str, **arguments: Any) -> Answer:
        return await self.pipeline.call(Request(tool, arguments, session_key=self.name))

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a call that has to succeed."""
        answer = await self.call(tool, **arguments)
        assert not answer.is_error, f"{self.name}: {tool} {arguments}: {answer.text}"
        result: dict[str, Any] = answer.body["result"]
        return result

    async def act(self) -> None:
        """One operation, of the kinds that agents do."""
        if len(self.models) < 2:
            await self.create()
            return
        workspace = self.die.choice(sorted(self.models))
        acts = (
            self.edit,
            self.add,
            self.remove,
            self.commit,
            self.ask,
            self.ask_primary,
            self.reset,
            self.delete,
        )
        [act] = self.die.choices(acts, (24, 10, 6, 8, 30, 10, 6, 3))
        await act(workspace)

    async def create(self) -> None:
        self.count += 1
        name = f"{self.name}-{self.count}"
        result = await self.done("workspace_create", workspace=name)
        assert result["current_revision"] == 0
        self.models[name] = Model(dict(self.original), dict(self.original))

    async def edit(self, workspace: str) -> None:
        model = self.models[workspace]
        path = self.die.choice(sorted(model.files))
        old, new = model.files[path], self.new_marker()
        await self.done(
            "write_source", workspace=workspace, path=path, old_content=old, new_content=source(new)
        )
        model.files[path] = source(new)

    async def add(self, workspace: str) -> None:
        marker = self.new_marker()
        path = f"added_{marker}.py"
        await self.done(
            "write_source", workspace=workspace, path=path, action="create", content=source(marker)
        )
        self.models[workspace].files[path] = source(marker)

    async def remove(self, workspace: str) -> None:
        model = self.models[workspace]
        path = self.die.choice(sorted(model.files))
        if len(model.files) > 1:
            await self.done("write_source", workspace=workspace, path=path, action="delete")
            del model.files[path]

    async def commit(self, workspace: str) -> None:
        model = self.models[workspace]
        if model.files != model.base:
            await self.done("git_stage_and_commit", workspace=workspace, message="Go on", all=True)
            model.base = dict(model.files)

    async def ask(self, workspace: str) -> None:
        """Every marker is known where it was written, and nowhere else."""
        texts = "".join(self.models[workspace].files.values())
        await self.check(self.die.choice(sorted(self.markers)), texts, workspace=workspace)
        if self.models[workspace].files:
            path = self.die.choice(sorted(self.models[workspace].files))
            marker = self.models[workspace].files[path].split("(")[0].removeprefix("def ")
            await self.check(marker, texts, workspace=workspace)

    async def ask_primary(self, _workspace: str) -> None:
        await self.check(self.die.choice(sorted(self.markers)), "".join(self.original.values()))

    async def check(self, marker: str, texts: str, **where: str) -> None:
        answer = await self.call("search", query=marker, mode="literal", **where)
        is_there = marker in texts
        body = answer.body["result"]
        assert bool(body["files"]) is is_there, f"{self.name}: {marker} in {where}: {answer.text}"
        symbols = await self.call("symbols_search", query=marker, **where)
        assert (f"def {marker}()" in symbols.text) is is_there, f"{marker} in {where}: {symbols.text}"

    async def reset(self, workspace: str) -> None:
        result = await self.done("workspace_reset", workspace=workspace, force=True)
        assert result["new_revision"] == 0
        self.models[workspace] = Model(dict(self.original), dict(self.original))

    async def delete(self, workspace: str) -> None:
        await self.done("workspace_delete", workspace=workspace, force=True)
        del self.models[workspace]

    def new_marker(self) -> str:
        marker = f"mark_{self.name}_{self.count}_{self.die.randrange(1 << 40):x}"
        self.markers.add(marker)
        return marker


def run_campaign(session: RepoSession, agents: int, operations: int, seed: int) -> list[Agent]:
    """Agents at work at once; each checks what it sees. Returns them with what has to be there at the end."""
    root = session.checkout.root
    original = {path.name: path.read_text() for path in sorted(root.glob("*.py"))}
    markers = {f"original_{number}" for number in range(len(original))}
    pipeline = Pipeline(session, all_tools())
    team = [
        Agent(f"agent{number}", pipeline, random.Random(f"{seed}-{number}"), markers, original)
        for number in range(agents)
    ]

    async def work(agent: Agent) -> None:
        for _ in range(operations):
            await agent.act()

    async def everybody() -> None:
        async with anyio.create_task_group() as group:
            for agent in team:
                group.start_soon(work, agent)

    anyio.run(everybody)
    return team


def files_of(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(root.glob("*.py"))}


def differences_to_fresh(session: RepoSession, root: Path, scratch: Path) -> str:
    """How the view of a checkout differs from one in a new index; empty where it does not."""
    checkout = Checkout.find(root, session.checkout.places, session.checkout.assignments)
    with closing(Index.open(scratch, tree_of(checkout), session.workers, "fresh")) as fresh:
        fresh.refresh()
        with fresh.database.read() as connection:
            expected = list(dump(connection, "fresh"))
    with session.index.database.read() as connection:
        lines = list(dump(connection, checkout.view_key))
    return "\n".join(line for line in {*expected} ^ {*lines})
