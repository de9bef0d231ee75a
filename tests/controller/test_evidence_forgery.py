"""Evidence is checked: no forged citation is accepted, and no true one is refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.evidence import EvidencePolicy
from codeplane.controller.evidence.citation import CitationKind, parse_citation
from codeplane.controller.plan_graph import RejectionCode, draft_check
from tests.controller.forgeries import forgeries
from tests.controller.plan_lab import PlanLab, open_lab

NODE: dict[str, Any] = {
    "file": "shop/cart.py",
    "symbols": ["Cart.total"],
    "intent": "Ignore negative prices.",
}


@pytest.fixture(scope="module")
def shared_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanLab]:
    with open_lab(tmp_path_factory.mktemp("forgery")) as lab:
        lab.read("shop/cart.py", 10, 14)
        lab.read("tests/test_cart.py", 1, 7)
        lab.read("AGENTS.md", 1, 3)
        yield lab.having(artifacts={"SHOP-1": {"source": "jira"}, "GET /carts": {"source": "api"}})


@pytest.fixture
def lab(shared_lab: PlanLab) -> Iterator[PlanLab]:
    with shared_lab.forgetting():
        yield shared_lab


def true_citations(lab: PlanLab) -> list[Any]:
    handle = next(iter(lab.records))
    return [
        handle,
        {"ref": handle, "lines": "13-14"},
        {"handle": handle, "quote": "return sum(self.items)"},
        "shop/cart.py:13-14",
        "shop/cart.py:10",
        "shop/cart.py#L13-L14",
        "shop/cart.py::Cart.total",
        'shop/cart.py:14 "return sum(self.items)"',
        {"path": "shop/cart.py", "lines": [13, 14], "symbol": "Cart.total", "quote": "sum(self.items)"},
        {"file": "shop/cart.py", "startLine": 11, "endLine": 14},
        # Never read in this run, but quoted as it is.
        {"path": "shop/untested.py", "lines": "1-2", "quote": "def lonely(value: int) -> int:"},
    ]


def forged_citations(lab: PlanLab) -> dict[str, list[Any]]:
    handle = next(iter(lab.records))
    old = "0" * 64
    return {
        "evidence.unread": [
            "shop/untested.py:1-2",
            "shop/cart.py:20-23",
            "shop/untested.py::lonely",
            "docs/notes.md",
        ],
        "evidence.lines": ["shop/cart.py:900-950", "shop/cart.py:12", {"ref": handle, "lines": "1-3"}],
        "evidence.stale": [
            {"ref": handle, "digest": old},
            {"path": "shop/cart.py", "lines": "13-14", "digest": old},
        ],
        "evidence.quote": [
            {"path": "shop/cart.py", "lines": "13-14", "quote": "return sum(self.prices)"},
            {"ref": handle, "quote": "return max(self.items)"},
        ],
        "evidence.no_file": ["shop/basket.py:1-2"],
        "evidence.closed": [".codeplane/work/w_1/scratch/notes.md:1-2", "../secret.txt:1", ".git/config:1-3"],
        "evidence.unknown_handle": ["ev_0123456789", "ev_made_up"],
        "evidence.symbol": ["shop/cart.py::Cart.sum"],
        "evidence.form": ["I looked at the code", {"colour": "blue"}],
    }


def test_true_citations_are_accepted(lab: PlanLab) -> None:
    for citation in true_citations(lab):
        check = lab.check({**NODE, "evidence": ["prompt: negative prices", citation]})
        assert check.plan is not None, (citation, check.problems)
        assert check.plan.nodes[0].code_evidence[0].source in ("shop/cart.py", "shop/untested.py")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "requirement",
    [
        "prompt",
        "prompt: 'see discount'",
        {"prompt": "negative prices"},
        "SHOP-1",
        "jira:shop-1",
        "GET /carts",
        {"ticket": "SHOP-1"},
    ],
)
def test_what_is_asked_for_can_be_cited(lab: PlanLab, requirement: Any) -> None:
    assert lab.check({**NODE, "evidence": [requirement, "shop/cart.py:13-14"]}).problems == ()


@pytest.mark.parametrize(
    "requirement", ["prompt: delete everything", "SHOP-2", "POST /carts", {"operation": "listOrders"}]
)
def test_what_was_not_asked_for_cannot_be_cited(lab: PlanLab, requirement: Any) -> None:
    check = lab.check({**NODE, "evidence": [requirement, "shop/cart.py:13-14"]})
    assert check.codes == (RejectionCode.PLAN_EVIDENCE_INSUFFICIENT,)


def test_forged_citations_are_refused_for_what_they_are(lab: PlanLab) -> None:
    for sub_code, citations in forged_citations(lab).items():
        for citation in citations:
            with lab.forgetting():
                check = lab.check({**NODE, "evidence": ["prompt", citation]})
                assert check.codes == (RejectionCode.PLAN_EVIDENCE_INSUFFICIENT,), citation
                assert sub_code in {problem.sub_code for problem in check.problems}, citation
                assert lab.check_document(check.skeleton).plan is not None, citation


def test_a_forged_citation_is_refused_beside_a_true_one(lab: PlanLab) -> None:
    for citations in forged_citations(lab).values():
        for citation in citations:
            with lab.forgetting():
                check = lab.check({**NODE, "evidence": ["prompt", "shop/cart.py:13-14", citation]})
                assert check.plan is None, citation


@pytest.mark.parametrize(
    "targets",
    [["Cart.total"], ["discount", "lonely"], ["tests/test_cart.py::test_total"], ["docs/notes.md", "Basket"]],
)
def test_every_forgery_of_an_accepted_plan_is_refused(lab: PlanLab, targets: list[str]) -> None:
    draft = draft_check(targets, "Change it.", lab.facts)
    lab.records.update({record.handle: record for record in draft.evidence})
    assert lab.check_document(draft.skeleton).plan is not None
    names = set()
    for name, forged in forgeries(draft.skeleton, list(lab.records.values()), "api/openapi.yaml"):
        with lab.forgetting():
            check = lab.check_document(forged)
            assert RejectionCode.PLAN_EVIDENCE_INSUFFICIENT in check.codes, name
            assert lab.check_document(check.skeleton).plan is not None, name
        names.add(name)
    assert len(names) == 10


def test_one_source_twice_is_one_source(lab: PlanLab) -> None:
    handle = next(iter(lab.records))
    for twice in (
        ["prompt", "prompt: see discount"],
        [handle, "shop/cart.py:13-14"],
        ["SHOP-1", "jira:SHOP-1"],
    ):
        check = lab.check({**NODE, "evidence": twice})
        assert check.codes == (RejectionCode.PLAN_EVIDENCE_INSUFFICIENT,), twice
    strict = lab.having(policy=EvidencePolicy(min_code_evidence_sources=2))
    same = strict.check({**NODE, "evidence": ["prompt", "shop/cart.py:10-11", "shop/cart.py:13-14"]})
    assert [problem.sub_code for problem in same.problems] == ["evidence.code"]
    assert strict.check_document(same.skeleton).plan is not None
    other = strict.check({**NODE, "evidence": ["prompt", "shop/cart.py:13-14", "tests/test_cart.py:1-7"]})
    assert other.problems == ()


def test_a_citation_counts_for_what_it_points_to(lab: PlanLab) -> None:
    strict = lab.having(policy=EvidencePolicy(min_policy_sources=1))
    node = {**NODE, "citations": ["prompt"], "codeEvidence": ["AGENTS.md:1-3", "shop/cart.py:13-14"]}
    assert strict.check(node).problems == ()
    assert lab.check({**NODE, "citations": ["prompt"], "codeEvidence": ["AGENTS.md:1-3"]}).problems != ()
    missing = strict.check({**NODE, "evidence": ["prompt", "shop/cart.py:13-14"]})
    assert [problem.sub_code for problem in missing.problems] == ["evidence.policy"]
    assert strict.check_document(missing.skeleton).plan is not None


def test_the_guard_lets_a_single_source_pass(lab: PlanLab) -> None:
    guard = {"lowEvidenceGuard": True, "uncertaintyNote": "Nobody asked.", "requiresHumanReview": True}
    check = lab.check({**NODE, "evidence": ["shop/cart.py:13-14"], **guard})
    assert check.problems == ()
    for key in guard:
        partial = {name: value for name, value in guard.items() if name != key}
        refusal = lab.check({**NODE, "evidence": ["shop/cart.py:13-14"], **partial})
        assert "evidence.single_source" in {problem.sub_code for problem in refusal.problems}
        assert lab.check_document(refusal.skeleton).plan is not None
    assert lab.check({**NODE, **guard}).plan is None, "a guard without any source"
    closed = lab.having(policy=EvidencePolicy(allow_single_source_with_guard=False))
    assert closed.check({**NODE, "evidence": ["shop/cart.py:13-14"], **guard}).plan is None


def test_a_run_without_a_prompt_gets_the_guard_offered(lab: PlanLab) -> None:
    silent = lab.having(prompt="", artifacts={})
    check = silent.check({**NODE, "evidence": ["shop/cart.py:13-14"]})
    assert [problem.sub_code for problem in check.problems] == ["evidence.requirement"]
    assert check.skeleton["nodes"][0]["lowEvidenceGuard"] is True
    assert silent.check_document(check.skeleton).plan is not None


def test_a_handle_of_an_older_content_is_stale_and_renewed(tmp_path: Path) -> None:
    with open_lab(tmp_path) as lab:
        handle = lab.read("shop/cart.py", 13, 14)
        [record] = lab.records.values()
        lab.records[handle] = record._replace(digest="f" * 64, first_line=11, last_line=12)
        check = lab.check({**NODE, "evidence": ["prompt", handle]})
        [problem] = check.problems
        assert problem.sub_code == "evidence.stale"
        assert [(one.first_line, one.last_line) for one in check.evidence] == [(13, 14)]
        assert lab.check_document(check.skeleton).plan is not None


def test_without_evidence_to_give_out_the_turn_that_reads_is_offered(lab: PlanLab) -> None:
    check = lab.having(issue=None).check({**NODE, "evidence": ["prompt", "shop/untested.py:1-2"]})
    [problem] = [one for one in check.problems if one.remedy is not None][:1]
    assert problem.remedy is not None
    assert problem.remedy.verb == "read_file_lines"
    assert problem.remedy.args["targetFile"] == "shop/untested.py"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("ev_0123456789", CitationKind.HANDLE),
        ("prompt", CitationKind.PROMPT),
        ("ABC-12", CitationKind.ARTIFACT),
        ("api:listPets", CitationKind.ARTIFACT),
        ("src/a-b.py:3-4", CitationKind.FILE),
        ({"ref": "src/a.py:3-4"}, CitationKind.FILE),
        ({"source": "prompt", "text": "fix it"}, CitationKind.PROMPT),
    ],
)
def test_citations_are_read_in_many_spellings(value: Any, kind: CitationKind) -> None:
    citation = parse_citation(value)
    assert citation is not None
    assert citation.kind is kind


@pytest.mark.parametrize(
    "value", ["", "a sentence about code", {"x": 1}, {"path": "a.py", "lines": "z"}, 4, None, [], "x" * 5000]
)
def test_what_is_no_citation_is_none(value: Any) -> None:
    assert parse_citation(value) is None
