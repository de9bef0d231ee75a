"""Runs, plans and nodes for tests of execution, on real repositories."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import TurnRequest
from codeplane.controller.execution.plan_store import load_plan, store_plan
from codeplane.controller.runs import Run
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbResult, verb_units
from codeplane.core.ids import new_request_id
from codeplane.session import Call
from tests.drive import git
from tests.tools.repo import Repo, trust

FILES = {
    "app.py": '"""App."""\n\nimport os\n\n\ndef load(url):\n    return os.getcwd() + url\n\n\n'
    "def dump(value):\n    return str(value)\n",
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n\n"
    "    def drop(self):\n        return None\n",
}


@dataclass
class ToyBody:
    verb_counts: dict[str, int] = field(default_factory=dict)


@dataclass
class ToyRun:
    """What execution asks of a run."""

    work_id: str = "w_1"
    plan: str | None = None
    body: ToyBody = field(default_factory=ToyBody)


@dataclass
class ToyNode:
    """A node as a document, with the attributes that every model has."""

    node_id: str
    kind: str
    rest: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "rest":
            raise AttributeError(name)
        return self.rest.get(name)


@dataclass
class ToyPlan:
    nodes: Sequence[ToyNode]


def change(node_id: str, target_file: str, *symbols: str, **rest: Any) -> ToyNode:
    return ToyNode(node_id, "change", {"target_file": target_file, "target_symbols": list(symbols), **rest})


def validate(node_id: str, *maps_to: str, hooks: Sequence[Any] = ("parse",), **rest: Any) -> ToyNode:
    return ToyNode(node_id, "validate", {"maps_to": list(maps_to), "hooks": list(hooks), **rest})


def side_effect(node_id: str, kind: str, *depends_on: str, **rest: Any) -> ToyNode:
    values = {"side_effect_type": kind, "depends_on": list(depends_on), "commit_gate_id": "gate-1", **rest}
    return ToyNode(node_id, "side_effect", values)


def edit(old: str, new: str) -> dict[str, str]:
    return {"oldText": old, "newText": new}


class RunRepo(Repo):
    """A repository with a commit and an identity; `is_trusted` lets tests and linters run."""

    def __init__(self, base: Path, files: Mapping[str, str] = FILES, *, is_trusted: bool = False) -> None:
        super().__init__(base, files)
        git(self.root, "config", "user.name", "T")
        git(self.root, "config", "user.email", "t@example.org")
        if is_trusted:
            self.session.close()
            trust(self.root, base)
            self._open(self.root, base)
        self.base = base
        self.agent = "agent"

    def reopen(self) -> "RunRepo":
        """The same repository in another server."""
        self.session.close()
        return RunRepo.of(self.base)

    @classmethod
    def of(cls, base: Path) -> "RunRepo":
        """The repository that was made there, in a server of its own."""
        repo = cls.at(base / "repo", base)
        repo.base, repo.agent = base, "agent"
        return repo

    def call(self) -> Call:
        session = self.session.sessions.enter("a client")
        return Call(self.session, session, new_request_id(), is_read=False)

    def turn(self, run: Run, verb: str, **args: Any) -> VerbResult:
        """Carries a verb out as the dispatcher does, without the gate of states."""
        unit = verb_units()[Verb(verb)]
        turn = Turn(self.call(), run, TurnRequest(verb=verb, agent_id=self.agent))
        return unit.run(turn, unit.read(args))

    def send(self, run: Run, action: Mapping[str, Any]) -> VerbResult:
        """Sends an action exactly as it was offered."""
        return self.turn(run, action["verb"], **json.loads(json.dumps(action["args"])))

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)


def begin_run(repo: RunRepo, *nodes: ToyNode, work_id: str = "w_1") -> Run:
    """A run whose plan of these nodes was accepted."""
    run = Run(work_id, "sess_1", f"agent of {work_id}")
    store_plan(repo.session, run, ToyPlan(nodes))
    return run


def states_of(repo: RunRepo, run: Run) -> dict[str, str]:
    """The state of every node."""
    return {one.node_id: one.state for one in load_plan(repo.session, run).nodes}
