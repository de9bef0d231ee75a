"""Random sequences of all verbs: nothing is written without a plan, and every suggestion works."""

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import RunState
from tests.controller.campaign.sequences import SMALL, Watch, files_of, refs_of, restore
from tests.controller.lab import open_desk
from tests.drive import git, new_repo

PATHS = ["app.py", "store.py", "new.py", "test_app.py", "README.md"]
STRANGE_PATHS = ["../x.py", "/etc/passwd", ".git/config", ".codeplane/state.db", "no/such.py", "a\0b", "link.py"]
SYMBOLS = ["load", "dump", "Store.fetch", "Store", "nothing", "*"]
NODE_IDS = ["n1", "n2", "v1", "s1", "e1", "zz", "../n1"]
EDITS: list[dict[str, Any]] = [
    {"oldText": "return url", "newText": "return url or ''"},
    {"oldText": "str(value)", "newText": "repr(value)"},
    {"oldText": "return key", "newText": "return key or None"},
    {"oldText": "", "newText": "X = 1\n"},
    {"oldText": "def", "newText": ""},
    {"oldText": "no such text", "newText": "x"},
    {"codemodId": "rename_identifier_in_file", "params": {"from": "value", "to": "item"}},
    {"codemodId": "../../evil", "params": {}},
    {"path": "test_app.py", "oldText": "assert", "newText": "assert not"},
]
ODD_VALUES: list[Any] = ["", 0, -1, None, True, [], {}, "x" * 500, "ev_0000000000", ["a", 1], {"a": {"b": []}}]
ODD_KEYS = ["colour", "targetFil", "nodes", "draft", "path", "workIds", "planNodeId", "edits", "code", "text"]

paths = st.sampled_from(PATHS * 3 + STRANGE_PATHS)
symbols = st.sampled_from(SYMBOLS)
node_ids = st.sampled_from(NODE_IDS[:2] * 3 + NODE_IDS)
edits = st.lists(st.sampled_from(EDITS), max_size=2)
works = st.sampled_from([0, 0, 1])
citations = st.sampled_from(["prompt", "app.py:1-2", "app.py::load", "store.py:1-3", "ev_1234567890", "no.py:1"])


def change_nodes() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"file": paths, "intent": st.sampled_from(["Change it.", ""])},
        optional={
            "symbols": st.lists(symbols, max_size=2),
            "edits": edits,
            "evidence": st.lists(citations, max_size=3),
            "operation": st.sampled_from(["modify", "create", "delete", "move", "burn"]),
            "hooks": st.sampled_from([["parse"], ["tests"], ["lint"], ["rm -rf"]]),
            "dependsOn": st.sampled_from([["n1"], ["n2"], ["zz"]]),
        },
    )


OTHER_NODES: list[dict[str, Any]] = [
    {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Change", "gate": "g1"},
    {"kind": "side_effect", "sideEffectType": "git_branch", "payload": "topic"},
    {"kind": "side_effect", "sideEffectType": "git_push", "payload": "origin", "gate": "g2"},
    {"kind": "validate", "mapsTo": ["n1"], "hooks": ["parse"]},
    {"kind": "validate", "mapsTo": ["zz"]},
    {"kind": "escalate", "requestedEvidence": ["the caller"], "blockingReasons": ["unknown"]},
    {"kind": "dance"},
    {},
]
GOOD_NODES: list[dict[str, Any]] = [
    {"file": "app.py", "symbols": ["load"], "edits": [EDITS[0]]},
    {"file": "app.py", "symbols": ["dump"], "edits": [EDITS[1]]},
    {"file": "store.py", "symbols": ["Store.fetch"]},
    {"file": "new.py", "operation": "create", "edits": [EDITS[3]]},
    {"file": "README.md", "operation": "delete"},
]
plans = st.builds(
    lambda changes, others: [*changes, *others],
    st.lists(change_nodes(), max_size=3),
    st.lists(st.sampled_from(OTHER_NODES), max_size=2),
)


class Sequences(RuleBasedStateMachine):
    """Two runs in one repository; every step is a turn of one of them, and is checked."""

    watch: ClassVar[Watch]
    origin: ClassVar[tuple[dict[str, bytes], dict[str, bytes]]]
    numbers: ClassVar[Iterator[int]] = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        number = next(self.numbers)
        self.works = [f"seq{number}a", f"seq{number}b"]
        self.last: dict[str, Any] = {}
        restore(self.watch.desk.root, *self.origin)

    def teardown(self) -> None:
        for work in self.last:
            call = {"verb": "signal_task_complete", "abandon": True, "reason": "the sequence is over"}
            answer = self.watch.send(call, work)
            assert answer.state in (RunState.COMPLETED, RunState.FAILED)

    def turn(self, number: int, verb: str, **arguments: Any) -> None:
        work = self.works[number]
        self.last[work] = self.watch.send({"verb": verb, **arguments}, work)

    @rule(work=works, verb=st.sampled_from(list(Verb)), key=st.sampled_from(ODD_KEYS), value=st.sampled_from(ODD_VALUES))
    def odd_arguments(self, work: int, verb: Verb, key: str, value: Any) -> None:
        self.turn(work, verb.value, **{key: value})

    @rule(work=works, verb=st.sampled_from(list(Verb)), is_nested=st.booleans())
    def no_arguments(self, work: int, verb: Verb, is_nested: bool) -> None:
        self.turn(work, verb.value, **({"args": {}} if is_nested else {}))

    @rule(work=works, verb=st.sampled_from(["", "burn", "aply_code_patch", "x" * 190]))
    def unknown_verb(self, work: int, verb: str) -> None:
        self.turn(work, verb, targetFile="app.py")

    @rule(work=works, text=st.sampled_from(["load must return a text.", "Fix app.py", "ABC-1: GET /keys"]))
    def initialize_work(self, work: int, text: str) -> None:
        self.turn(work, "initialize_work", originalPrompt=text, lexemes=["load"])

    @rule(work=works, path=paths)
    def read(self, work: int, path: str) -> None:
        self.turn(work, "read_file_lines", targetFile=path, originalPrompt="load must return a text.")

    @rule(work=works, symbol=symbols, verb=st.sampled_from(["lookup_symbol_definition", "trace_symbol_graph"]))
    def look_up(self, work: int, symbol: str, verb: str) -> None:
        self.turn(work, verb, symbol=symbol)

    @rule(work=works, path=paths)
    def look_around(self, work: int, path: str) -> None:
        self.turn(work, "list_directory_contents", targetDir=path)
        self.turn(work, "list_scoped_files", pattern=path)

    @rule(work=works, pattern=st.sampled_from(["load", "(", "return", "\\d+"]), mode=st.sampled_from(["lexical", "regex"]))
    def search(self, work: int, pattern: str, mode: str) -> None:
        self.turn(work, "search_codebase_text", pattern=pattern, mode=mode)

    @rule(work=works, url=st.sampled_from(["openapi.yaml", "http://127.0.0.1:9/x", *STRANGE_PATHS]), key=st.sampled_from(["ABC-1", "../x"]))
    def fetch(self, work: int, url: str, key: str) -> None:
        self.turn(work, "fetch_api_spec", specUrl=url)
        self.turn(work, "fetch_jira_ticket", ticketKey=key)

    @rule(work=works, path=st.sampled_from(["notes.md", "a/b.md", *STRANGE_PATHS]))
    def scratch(self, work: int, path: str) -> None:
        self.turn(work, "write_scratch_file", relativePath=path, content="x")

    @rule(work=works, nodes=plans, quick=st.booleans())
    def submit(self, work: int, nodes: list[dict[str, Any]], quick: bool) -> None:
        self.turn(work, "submit_execution_plan", nodes=nodes, quick=quick)

    @rule(work=works, nodes=plans, times=st.integers(2, 7))
    def insist(self, work: int, nodes: list[dict[str, Any]], times: int) -> None:
        call = {"verb": "submit_execution_plan", "nodes": [*nodes, {"file": "zzz"}]}
        self.last[self.works[work]] = self.watch.insist(call, self.works[work], times)

    @rule(work=works, names=st.lists(st.sampled_from(["load", "store.py", "app.py::dump", "nothing"]), max_size=2))
    def draft(self, work: int, names: list[str]) -> None:
        self.turn(work, "submit_execution_plan", draft=True, targets=names, intent="Change it.")

    @initialize(node=st.none() | st.sampled_from(GOOD_NODES), others=st.lists(st.sampled_from(OTHER_NODES[:6]), max_size=1))
    def begin(self, node: dict[str, Any] | None, others: list[dict[str, Any]]) -> None:
        """Most sequences begin before a plan, or with one that was accepted and begun."""
        if node is not None:
            self.plan(0, node, others)

    @rule(work=works, node=st.sampled_from(GOOD_NODES), others=st.lists(st.sampled_from(OTHER_NODES[:6]), max_size=2))
    def plan(self, work: int, node: dict[str, Any], others: list[dict[str, Any]]) -> None:
        self.turn(work, "submit_execution_plan", nodes=[{"intent": "Change it.", **node}, *others])
        self.follow(work)

    @precondition(lambda self: self.last)
    @rule(work=works)
    def follow_next(self, work: int) -> None:
        self.follow(work)

    def follow(self, number: int) -> None:
        """Sends what the last answer said is next."""
        work = self.works[number]
        answer = self.last.get(work)
        if answer is not None and answer.next_call is not None:
            self.last[work] = self.watch.send(answer.next_call, work)

    @rule(work=works, node=node_ids, path=paths, changes=edits)
    def patch(self, work: int, node: str, path: str, changes: list[dict[str, Any]]) -> None:
        self.turn(work, "apply_code_patch", planNodeId=node, targetFile=path, edits=changes)

    @rule(work=works, node=node_ids, effect=st.sampled_from(["git_commit", "git_branch", "git_push", "rm"]), gate=st.sampled_from([None, "g1", "zz"]))
    def side_effect(self, work: int, node: str, effect: str, gate: str | None) -> None:
        self.turn(work, "execute_gated_side_effect", planNodeId=node, sideEffectType=effect, commitGateId=gate)

    @rule(work=works, node=node_ids, recipe=st.sampled_from(["replace_lexeme_in_file", "run_targeted_validation", "sh"]))
    def recipe(self, work: int, node: str, recipe: str) -> None:
        ref = f"{self.works[work]}/bundles/{node}"
        params = {"lexeme": "value", "replacement": "item"} if recipe.startswith("replace") else {}
        refs = {"artifactBundleRef": ref, "diffSummaryRef": f"{ref}/diff.summary.json"}
        self.turn(work, "run_automation_recipe", recipeId=recipe, planNodeId=node, params=params, **refs)

    @rule(work=works, node=node_ids, code=st.sampled_from(["1 + 1", "open('x', 'w')", "x ="]))
    def sandbox(self, work: int, node: str, code: str) -> None:
        self.turn(work, "run_sandboxed_code", planNodeId=node, code=code)

    @rule(work=works, reason=st.sampled_from(["PLAN_EVIDENCE_INSUFFICIENT", "who calls load"]), path=paths)
    def ask_for_guidance(self, work: int, reason: str, path: str) -> None:
        self.turn(work, "request_evidence_guidance", blockingReasons=[reason])
        self.turn(work, "observe", text="odd", targetFile=path)

    @rule(work=works, abandon=st.booleans(), reason=st.sampled_from(["", "enough"]))
    def finish(self, work: int, abandon: bool, reason: str) -> None:
        self.turn(work, "signal_task_complete", abandon=abandon, reason=reason)


def run_sequences(count: int, number: int) -> Watch:
    """Runs so many sequences in a repository of their own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root = new_repo(folder / "repo", SMALL)
        for key, value in (("name", "T"), ("email", "t@example.org")):
            git(root, "config", f"user.{key}", value)
        desk = stack.enter_context(open_desk(folder))
        Sequences.watch = Watch(desk, stack.enter_context(start_blocking_portal()))
        Sequences.origin = files_of(root), refs_of(root)
        options = settings(
            max_examples=count,
            stateful_step_count=4,
            deadline=None,
            database=None,
            print_blob=False,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(seed(number)(Sequences), settings=options)  # type: ignore[no-untyped-call]
        return Sequences.watch


@pytest.mark.parametrize("number", range(4))
def test_random_sequences(number: int) -> None:
    watch = run_sequences(250, number)
    assert min(watch.plans, watch.writes, watch.denials) > 20, vars(watch)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(20))
def test_many_random_sequences(number: int) -> None:
    watch = run_sequences(1000, 100 + number)
    assert min(watch.plans, watch.writes, watch.denials) > 80, vars(watch)
