"""The strategy of a run on a real repository: chosen, written down, and left."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeplane.config import Places
from codeplane.controller.runs import Run
from codeplane.controller.strategy.run_strategy import (
    chain_prover,
    note_action,
    note_failure,
    open_graph,
    refresh_strategy,
    run_history,
)
from codeplane.names import Snapshot
from codeplane.session.trust import give_trust
from tests.controller.lab import Desk, open_desk
from tests.controller.strategy.conftest import GRID
from tests.controller.strategy.test_choice import OWN, OWN_CHAIN
from tests.controller.strategy.test_proof import AGGRID, tie
from tests.drive import new_repo, user_env


@contextmanager
def look_at(desk: Desk) -> Iterator[Snapshot]:
    desk.session.index.refresh()
    with desk.session.index.snapshot() as snapshot:
        yield snapshot


def new_run(prompt: str) -> Run:
    run = Run("w", "sess", "agent")
    run.body.prompt = prompt
    return run


def test_a_run_gets_its_strategy_with_features_and_reasons(tmp_path: Path) -> None:
    run = new_run("Sort the orders.")
    with open_desk(tmp_path, GRID) as desk, look_at(desk) as snapshot:
        choice = refresh_strategy(desk.session, run, snapshot, ["src/orders.table.ts"])
        assert run.body.strategy_id == choice.strategy_id == "ui_aggrid_feature"
        assert run.body.features["mentionsAgGrid"] is True and len(run.body.features) == 8
        assert "src/orders.table.ts imports ag-grid-community" in run.body.strategy_reasons[0]
        run.body.rejections["PLAN_ORIGIN_UNKNOWN/chain.broken,PLAN_NOT_ATOMIC/atomic.files"] = 1
        refresh_strategy(desk.session, run, snapshot, ["src/orders.table.ts"])
        assert run.body.strategy_id == "debug_symptom_trace"
        assert "by missing_required_proof_chain" in run.body.strategy_reasons[-1]


def test_strategies_of_the_repository_count_where_it_is_trusted(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", GRID)
    folder = root / ".codeplane" / "strategies"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(OWN)
    (folder / "chain.yaml").write_text(OWN_CHAIN)
    for is_trusted, strategy in ((False, "general_change"), (True, "billing_change")):
        if is_trusted:
            give_trust(root, Places.of_user(user_env(tmp_path / "home")), opens_secrets=False)
        run = new_run("Change an invoice.")
        with open_desk(tmp_path) as desk, look_at(desk) as snapshot:
            refresh_strategy(desk.session, run, snapshot, [], "high")
        assert run.body.strategy_id == strategy


def test_chains_are_proven_on_the_graph_of_the_repository(tmp_path: Path) -> None:
    with open_desk(tmp_path, GRID) as desk:
        with open_graph(desk.session) as store:
            store.upsert(AGGRID, tie("aggrid_origin", AGGRID))
        with look_at(desk) as snapshot:
            prove_chain = chain_prover(desk.session, snapshot, ["src/order.service.ts"])
            assert prove_chain("aggrid_origin").broken_at is None
            assert prove_chain("federation_proof").broken_at == "HostRoute"


def test_failures_and_actions_are_counted_within_bounds() -> None:
    run = new_run("")
    for number in range(200):
        note_failure(run, f"failure {number}")
        note_action(run, "read a.py")
    history = run_history(run)
    assert len(history.failures) == 50 and "failure 199" in history.failures
    assert history.actions == {"read a.py": 200}
