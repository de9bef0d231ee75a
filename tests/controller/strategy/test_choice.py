"""Which strategy is chosen, why, and when it is left."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.strategy import (
    ContextSignature,
    RunHistory,
    choose_strategy,
    load_book,
    shipped_book,
)
from codeplane.controller.strategy.signature import sign_task
from codeplane.controller.strategy.task_view import TaskView
from codeplane.core.errors import StrategyInvalid


@dataclass(frozen=True)
class Memory:
    memory_id: str
    feature_flag: str
    value: bool | str


def sign(prompt: str = "", **features: Any) -> ContextSignature:
    signature = sign_task(TaskView(prompt), shipped_book().features)
    return ContextSignature({**signature.features, **features}, signature.evidence, signature.view)


@pytest.mark.parametrize(
    ("signature", "strategy", "chains", "needs_contract"),
    [
        (sign("Sort the ag-grid"), "ui_aggrid_feature", ("aggrid_origin",), False),
        (
            sign(mentionsAgGrid=True, crossesFederationBoundary=True),
            "ui_aggrid_feature",
            ("aggrid_origin", "federation_proof"),
            False,
        ),
        (sign(hasSwagger=True), "api_contract_feature", (), True),
        (
            sign(contractAnchorPresent=True, crossesFederationBoundary=True),
            "api_contract_feature",
            ("federation_proof",),
            True,
        ),
        (sign("Migrate ADP to SDF"), "migration_adp_to_sdf", (), False),
        (sign("The page crashes with a traceback"), "debug_symptom_trace", (), False),
        (sign("Rename a function"), "general_change", (), False),
        (sign(hasJira=True, testConfidenceLevel="high"), "general_change", (), False),
        (sign("Debug the ag-grid of the ADP migration", hasSwagger=True), "migration_adp_to_sdf", (), False),
    ],
)
def test_features_decide(
    signature: ContextSignature, strategy: str, chains: tuple[str, ...], needs_contract: bool
) -> None:
    choice = choose_strategy(signature)
    assert (choice.strategy_id, choice.required_chains, choice.needs_contract) == (
        strategy,
        chains,
        needs_contract,
    )
    assert choice.reasons
    assert choose_strategy(signature) == choice


def test_reasons_name_the_evidence_and_what_would_fit_too() -> None:
    choice = choose_strategy(sign("Debug the ag-grid"))
    assert choice.reasons == (
        "ui_aggrid_feature: mentionsAgGrid is true: the prompt mentions 'ag-grid'",
        "debug_symptom_trace would fit too and come after it",
    )
    assert choose_strategy(sign()).reasons == ("no feature of the task calls for another strategy",)


def test_memory_sets_features_before_the_choice_and_the_first_signal_counts() -> None:
    signals = [Memory("m1", "mentionsAgGrid", True), Memory("m2", "mentionsAgGrid", False)]
    choice = choose_strategy(sign(), signals)
    assert choice.strategy_id == "ui_aggrid_feature"
    assert choice.reasons[0] == "memory m1 sets mentionsAgGrid to true"
    assert choice.context_signature["mentionsAgGrid"] is True


def test_a_signal_for_no_feature_or_of_another_type_is_passed_over() -> None:
    signals = [
        Memory("m1", "noSuchFeature", True),
        Memory("m2", "mentionsAgGrid", "yes"),
        Memory("m3", "testConfidenceLevel", True),
    ]
    assert choose_strategy(sign(), signals) == choose_strategy(sign())


@pytest.mark.parametrize(
    ("signature", "history", "strategy", "reason"),
    [
        (
            sign(mentionsAgGrid=True),
            RunHistory(broken_chains={"aggrid_origin": 1}),
            "debug_symptom_trace",
            (
                "switched from ui_aggrid_feature to debug_symptom_trace by missing_required_proof_chain:"
                " the chain aggrid_origin could not be proven (1)"
            ),
        ),
        (
            sign(mentionsAgGrid=True),
            RunHistory(rejected_plans=4),
            "general_change",
            "switched from ui_aggrid_feature to general_change by plan_rejected: 4 plans were rejected",
        ),
        (
            sign(hasSwagger=True),
            RunHistory(rejection_codes={"PLAN_POLICY_VIOLATION": 1}),
            "general_change",
            "switched from api_contract_feature to general_change by policy_conflict: 1 plans broke a policy",
        ),
        (
            sign("Rename"),
            RunHistory(failures={"test_page": 3, "other": 1}),
            "debug_symptom_trace",
            (
                "switched from general_change to debug_symptom_trace by repeated_failure_threshold:"
                " 3 times the same failure, test_page"
            ),
        ),
        (
            sign("Migrate ADP to SDF"),
            RunHistory(actions={"read a.ts": 4}),
            "general_change",
            (
                "switched from migration_adp_to_sdf to general_change by repeated_action_threshold:"
                " 4 times the same action, read a.ts"
            ),
        ),
    ],
)
def test_each_trigger_switches_and_stands_in_the_reasons(
    signature: ContextSignature, history: RunHistory, strategy: str, reason: str
) -> None:
    choice = choose_strategy(signature, (), history)
    assert choice.strategy_id == strategy
    assert reason in choice.reasons


@pytest.mark.parametrize(
    "history",
    [
        RunHistory(rejected_plans=3),
        RunHistory(failures={"test_page": 2, "other": 2}),
        RunHistory(rejection_codes={"PLAN_NOT_ATOMIC": 9}),
    ],
)
def test_below_its_threshold_a_trigger_does_nothing(history: RunHistory) -> None:
    assert choose_strategy(sign(mentionsAgGrid=True), (), history).strategy_id == "ui_aggrid_feature"


def test_what_was_required_is_required_after_a_switch() -> None:
    history = RunHistory(rejected_plans=4, broken_chains={"aggrid_origin": 4})
    choice = choose_strategy(sign(mentionsAgGrid=True), (), history)
    assert choice.required_chains == ("aggrid_origin",)
    contract = choose_strategy(sign(hasSwagger=True), (), RunHistory(rejected_plans=9))
    assert (contract.strategy_id, contract.needs_contract) == ("general_change", True)


def test_switches_do_not_go_round_in_circles() -> None:
    history = RunHistory(9, {"PLAN_POLICY_VIOLATION": 9}, {"f": 9}, {"a": 9}, {"aggrid_origin": 9})
    choice = choose_strategy(sign(mentionsAgGrid=True), (), history)
    assert choice.strategy_id == "general_change"
    assert choice.path == ("ui_aggrid_feature", "debug_symptom_trace", "general_change")
    assert sum(reason.startswith("switched") for reason in choice.reasons) == 2


def test_reasons_only_grow_when_a_strategy_is_left() -> None:
    first = choose_strategy(sign("Debug the ag-grid"))
    later = choose_strategy(sign("Debug the ag-grid"), (), RunHistory(broken_chains={"aggrid_origin": 1}))
    assert later.reasons[: len(first.reasons)] == first.reasons
    assert first.strategy_id in later.path


OWN = """
strategy: billing_change
version: 1
description: Work on invoices.
priority: 60
when:
  all:
    - {predicate: prompt_mentions, values: [invoice]}
    - not: {feature: testConfidenceLevel, atMost: low}
requires:
  chains: [{chain: invoice_origin}]
switches:
  - {trigger: plan_rejected, to: general_change}
"""
OWN_CHAIN = """
chain: invoice_origin
version: 1
description: From an invoice to its ledger.
hops:
  - {fact: Invoice}
  - {fact: Ledger, via: [POSTED_TO], mend: Ask the ledger's owners.}
"""


def test_a_repository_adds_strategies_and_chains_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "billing.yaml").write_text(OWN)
    (tmp_path / "invoice.yml").write_text(OWN_CHAIN)
    book = load_book(tmp_path)
    signature = sign_task(TaskView("Change an invoice", test_confidence="high"), book.features)
    choice = choose_strategy(signature, book=book)
    assert (choice.strategy_id, choice.required_chains) == ("billing_change", ("invoice_origin",))
    weak = sign_task(TaskView("Change an invoice", test_confidence="low"), book.features)
    assert choose_strategy(weak, book=book).strategy_id == "general_change"


def test_without_files_or_trust_there_is_what_ships(tmp_path: Path) -> None:
    assert load_book(None) is load_book(tmp_path / "nowhere") is shipped_book()
    assert sorted(shipped_book().strategies) == [
        *("api_contract_feature", "debug_symptom_trace", "general_change"),
        *("migration_adp_to_sdf", "ui_aggrid_feature"),
    ]
    assert {name: [hop.fact for hop in chain.hops] for name, chain in shipped_book().chains.items()} == {
        "aggrid_origin": "Table ColumnDef CellRenderer NavTrigger Route Component Service Definition".split(),
        "federation_proof": (
            "HostRoute FederationMapping RemoteExpose RemoteModule DestinationComponent".split()
        ),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("strategy: [", "a.yaml: "),
        ("- 1", "it has to be a map"),
        ("name: x", "either the key strategy or the key chain"),
        (OWN.replace("version: 1", "version: 0"), "a.yaml: version: "),
        (OWN.replace("priority", "prio"), "a.yaml: prio: Extra inputs are not permitted"),
        (OWN.replace("prompt_mentions", "prompt_mention"), "did you mean prompt_mentions?"),
        (
            OWN.replace("testConfidenceLevel", "testConfidence"),
            "no feature testConfidence; did you mean testConfidenceLevel?",
        ),
        (
            OWN.replace("to: general_change", "to: general"),
            "there is no strategy general; did you mean general_change?",
        ),
        (OWN.replace("trigger: plan_rejected", "trigger: boredom"), "switches.0.trigger"),
        (OWN.replace("billing_change", "general_change"), "general_change is there already"),
        (OWN, "there is no chain invoice_origin"),
        (OWN.replace("values: [invoice]", "feature: hasJira"), "exactly one of feature, predicate"),
        (OWN.replace("atMost: low", "values: [a]"), "is compared by exactly one of"),
        (OWN_CHAIN.replace("via: [POSTED_TO], ", ""), "each hop but the first has via"),
        (OWN_CHAIN.replace("fact: Invoice", "fact: two words"), "hops.0.fact"),
        ("x" * 70_000, "no plain file of at most"),
    ],
)
def test_a_file_that_is_not_valid_is_named_with_its_field(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(StrategyInvalid) as error:
        load_book(tmp_path)
    problems: Any = error.value.details["problems"]
    assert any(problem in line for line in problems), problems
    assert all(line.startswith("a.yaml: ") for line in problems)
