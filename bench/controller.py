"""A controlled run on a real package, the memory that it leaves, and what a turn costs.

The run is scripted as a weak agent goes: its plan is refused, it sends what the refusal suggests, then what
`next` says, up to the commit. The second run begins with what the first has taught. The fix is planted in
sqlparse 0.5.3, and the package's own tests decide.
"""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from bench.corpora import python_history
from bench.economy import suite_environment
from bench.measure import Figure
from codeplane.config import Places
from codeplane.controller.run_memory import memory_store
from codeplane.memory import FrictionEvent, Resolution
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools

_MOST_TURNS: Final = 5
_ROUNDS: Final = 5
_CALLS: Final = 150
_FRICTION: Final = 10_000
_MEMORIES: Final = 1_000


@dataclass(frozen=True)
class Fix:
    """A planted bug, and the delta that mends it."""

    file: str
    symbol: str
    prompt: str
    good: str
    bad: str

    @property
    def delta(self) -> dict[str, Any]:
        transform = {"operation": "replace_match", "pattern": self.bad, "with": self.good}
        return {"path": self.file, "transforms": [transform]}

    @property
    def message(self) -> str:
        return f"Mend {self.symbol}"


_QUOTES: Final = Fix(
    "sqlparse/utils.py",
    "remove_quotes",
    "remove_quotes in sqlparse/utils.py leaves the closing quote: strip both quotes",
    "val[1:-1]",
    "val[1:]",
)
_NAMES: Final = Fix(
    "sqlparse/sql.py",
    "TokenList.get_name",
    "TokenList.get_name in sqlparse/sql.py returns the real name where there is an alias: the alias comes first",
    "self.get_alias() or self.get_real_name()",
    "self.get_real_name() or self.get_alias()",
)


@dataclass
class Ledger:
    """What one run has cost so far."""

    turns: int = 0
    characters: int = 0
    denials: int = 0
    texts: list[str] = field(default_factory=list)


class Agent:
    """Sends turns of one run and counts them."""

    def __init__(self, pipeline: Pipeline, work_id: str) -> None:
        self._pipeline, self._work_id = pipeline, work_id
        self.ledger = Ledger()

    def send(self, call: dict[str, Any]) -> dict[str, Any]:
        """The structured answer; counted is the text, which is what a model gets."""
        request = json.dumps({**call, "workId": self._work_id})
        answer = anyio.run(self._pipeline.call, Request("controller_turn", json.loads(request), self._work_id))
        body: dict[str, Any] = dict(answer.body["result"])
        self.ledger.turns += 1
        self.ledger.characters += len(request) + len(answer.text)
        self.ledger.denials += bool(body["denyReasons"])
        self.ledger.texts += [f"> {json.dumps(call)}", answer.text]
        return body

    def follow(self, body: dict[str, Any]) -> dict[str, Any]:
        """Sends what the answer before says."""
        action = body.get("suggestedAction") or body["nextAction"]
        return self.send({"verb": action["verb"], **(action.get("args") or {})})


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        base = Path(folder)
        root = copy_package(base / "repo")
        with open_session(root, base) as session:
            yield from _run_figures(session, root)
            yield _turn_figure(session)
            yield _validation_figure(session)


def copy_package(root: Path) -> Path:
    """sqlparse, as a repository with a history."""
    history = python_history("sqlparse", ("0.5.0", "0.5.3"))
    shutil.copytree(history, root, symlinks=True, ignore=shutil.ignore_patterns(".codeplane"))
    for part, value in (("name", "bench"), ("email", "bench@example.org")):
        _git(root, "config", f"user.{part}", value)
    return root


def plant_bug(root: Path, fix: Fix) -> None:
    path = root / fix.file
    text = path.read_text()
    assert text.count(fix.good) == 1
    path.write_text(text.replace(fix.good, fix.bad))
    _git(root, "commit", "-qam", "Tidy up")


@contextmanager
def open_session(root: Path, base: Path) -> Iterator[RepoSession]:
    places = Places.of_user(suite_environment(base))
    give_trust(root, places)
    settings = [f"controller.memory.friction_ledger_max_entries={_FRICTION}"]
    session = RepoSession.open(Checkout.find(root, places, settings))
    try:
        session.index.refresh()
        yield session
    finally:
        session.close()


def _run_figures(session: RepoSession, root: Path) -> Iterator[Figure]:
    pipeline = Pipeline(session, all_tools())
    first = Agent(pipeline, "first")
    plant_bug(root, _QUOTES)
    body = _plan_after_refusals(first, _QUOTES)
    planned = first.ledger.turns
    _finish_run(first, body, root, _QUOTES)
    [memory] = [one for one in memory_store(session).list_all() if "VERIFICATION" in str(one.content)]
    memory_store(session).approve(memory.id)
    plant_bug(root, _NAMES)
    second = Agent(pipeline, "second")
    _finish_run(second, _plan_with_memory(second, _NAMES, memory.id), root, _NAMES)
    one, two = first.ledger, second.ledger
    detail = f"{one.denials} denials, {one.turns} turns, {one.characters} characters to the commit"
    yield Figure("accepted plan, turns", planned, "", _MOST_TURNS, detail)
    detail = f"{two.denials} denials, {two.turns} turns, {two.characters} characters; shown {memory.id}"
    yield Figure("second run, denials", two.denials, "", one.denials - 1, detail)


def _nodes(fix: Fix, hook: str) -> list[dict[str, Any]]:
    """A plan as an agent writes it: the change with its delta, and the commit."""
    change = {"file": fix.file, "symbols": [fix.symbol], "intent": fix.message, "delta": fix.delta}
    commit = {"kind": "side_effect", "sideEffectType": "git_commit", "payload": fix.message}
    return [{**change, "hooks": [hook]}, commit]


def _plan_after_refusals(agent: Agent, fix: Fix) -> dict[str, Any]:
    """The same weak plan three times, then what the refusal suggests."""
    nodes = _nodes(fix, "parse")
    body = agent.send({"verb": "submit_execution_plan", "originalPrompt": fix.prompt, "nodes": nodes})
    for _ in range(2):
        assert body["denyReasons"], body
        body = agent.send({"verb": "submit_execution_plan", "nodes": nodes})
    body = agent.follow(body)
    assert body["state"] == "PLAN_ACCEPTED", agent.ledger.texts
    return body


def _plan_with_memory(agent: Agent, fix: Fix, memory_id: str) -> dict[str, Any]:
    """A plan by the example that the first answer shows: it runs tests and cites what was read."""
    call = {"verb": "trace_symbol_graph", "originalPrompt": fix.prompt, "symbol": fix.symbol}
    body = agent.send(call)
    [example] = [one for one in body["result"]["fewShots"] if one["id"] == memory_id]
    assert "test:" in str(example["fewShot"]["after"]), example
    nodes = _nodes(fix, "tests")
    nodes[0]["evidence"] = ["prompt", body["result"]["evidence"]]
    body = agent.send({"verb": "submit_execution_plan", "nodes": nodes})
    if body["denyReasons"]:
        body = agent.follow(body)
    assert body["state"] == "PLAN_ACCEPTED", agent.ledger.texts
    return body


def _finish_run(agent: Agent, body: dict[str, Any], root: Path, fix: Fix) -> None:
    """Sends what `next` says until the run has ended, and looks at the repository."""
    while body["state"] != "COMPLETED":
        body = agent.follow(body)
        assert agent.ledger.turns < 20, agent.ledger.texts
    assert body["result"]["memoryStatus"], agent.ledger.texts
    assert fix.good in (root / fix.file).read_text()
    assert not _git(root, "status", "--porcelain", "--", "sqlparse"), agent.ledger.texts
    assert _git(root, "log", "-1", "--format=%s").strip() == fix.message, agent.ledger.texts


def _turn_figure(session: RepoSession) -> Figure:
    """CPU of a turn that reads a file, against the tool that it calls; both by turns, the best of each."""
    pipeline = Pipeline(session, all_tools())
    calls = (
        ("read_source", {"targets": [_QUOTES.file]}),
        ("controller_turn", {"verb": "read_file_lines", "targetFile": _QUOTES.file}),
    )

    async def repeat(name: str, arguments: dict[str, Any], count: int) -> None:
        for _ in range(count):
            answer = await pipeline.call(Request(name, dict(arguments), "cost"))
            assert not answer.is_error, answer.text

    def spend(name: str, arguments: dict[str, Any]) -> float:
        began = time.process_time()
        anyio.run(repeat, name, arguments, _CALLS)
        return (time.process_time() - began) / _CALLS * 1000

    for name, arguments in calls:
        anyio.run(repeat, name, arguments, 20)
    rounds = [[spend(*call) for call in calls] for _ in range(_ROUNDS)]
    tool, turn = (min(column) for column in zip(*rounds, strict=True))
    return Figure("turn that reads, CPU", turn / tool, "×", 1.3, f"{turn:.2f} ms; read_source {tool:.2f} ms")


def _validation_figure(session: RepoSession) -> Figure:
    """A plan that is checked beside a full friction ledger and many memories."""
    store = memory_store(session)
    for number in range(_FRICTION):
        store.record_friction(_friction(number))
    for number in range(_MEMORIES):
        for _ in range(3):
            store.record_friction(_friction(number, "PLAN_VERIFICATION_WEAK"))
        store.resolve_friction(_resolution(number))
    count = len(store.list_all())
    pipeline, times = Pipeline(session, all_tools()), []
    for number in range(_ROUNDS):
        agent = Agent(pipeline, f"many{number}")
        read = agent.send(
            {"verb": "read_file_lines", "targetFile": _QUOTES.file, "originalPrompt": _QUOTES.prompt}
        )
        change = {"file": _QUOTES.file, "symbols": [_QUOTES.symbol], "intent": "Tidy up.", "hooks": ["tests"]}
        nodes = [{**change, "evidence": ["prompt", read["result"]["evidence"]]}]
        began = time.process_time()
        body = agent.send({"verb": "submit_execution_plan", "nodes": nodes})
        times.append((time.process_time() - began) * 1000)
        assert body["state"] == "PLAN_ACCEPTED", agent.ledger.texts
        agent.send({"verb": "signal_task_complete", "abandon": True, "reason": "measured"})
    return Figure("plan beside memories, CPU", min(times), "ms", 50, f"{_FRICTION} friction, {count} memories")


def _friction(number: int, code: str = "PLAN_EVIDENCE_INSUFFICIENT") -> FrictionEvent:
    file = f"sqlparse/part{number % _MEMORIES}/module.py"
    return FrictionEvent(
        work_id=f"w{number}",
        codes=(code,),
        anchors=(f"sqlparse/part{number % _MEMORIES}",),
        node={"id": "n1", "file": file, "hooks": ["parse"]},
        field="hooks",
        message="too weak",
        verb="submit_execution_plan",
    )


def _resolution(number: int) -> Resolution:
    file = f"sqlparse/part{number % _MEMORIES}/module.py"
    nodes = [{"id": "n1", "file": file, "hooks": ["tests"]}]
    return Resolution(work_id=f"w{number}", verb="submit_execution_plan", nodes=nodes, digests={})


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout
