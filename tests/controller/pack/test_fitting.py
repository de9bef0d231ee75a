"""A pack never takes more than its budget, and says what it left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.controller.pack.fitting import canonical_json, fit_pack
from codeplane.controller.pack.pack_text import render_pack
from codeplane.controller.pack.sections import (
    Anchor,
    AnchorSection,
    Header,
    PackContent,
    StrategySection,
    TaskSection,
)
from tests.controller.pack.samples import PACKS


@given(PACKS, st.integers(500, 8_000))
def test_a_pack_is_never_over_its_budget(content: PackContent, tokens: int) -> None:
    fitted = fit_pack(content, tokens)
    assert len(render_pack(fitted)) <= 4 * tokens
    assert len(canonical_json(fitted.model_dump(mode="json"))) <= 4 * tokens


@given(PACKS, st.integers(500, 8_000))
def test_what_is_left_out_is_said_and_what_is_not_shown_has_no_handle(
    content: PackContent, tokens: int
) -> None:
    fitted = fit_pack(content, tokens)
    assert bool(fitted.missing.dropped) == (fitted != content)
    before = len(content.anchors.anchors)
    assert fitted.missing.dropped.get("anchors", 0) == before - len(fitted.anchors.anchors)
    for new in fitted.anchors.anchors:
        assert bool(new.evidence) or not new.text


@given(PACKS)
def test_fitting_twice_changes_nothing_more(content: PackContent) -> None:
    fitted = fit_pack(content, 1_000)
    assert fit_pack(fitted, 1_000) == fitted


def test_excerpts_of_the_last_anchors_go_first_and_the_best_one_last() -> None:
    handle, text = "ev_000000000000", "x" * 1500
    anchors = [
        Anchor(path=name, first_line=1, last_line=9, why="w", digest="d", evidence=handle, text=text)
        for name in ("a.py", "b.py", "c.py", "d.py")
    ]
    content = _plain_pack(anchors)
    fitted = fit_pack(content, 1_000)
    assert [bool(anchor.text) for anchor in fitted.anchors.anchors] == [True, True, False, False]
    assert fitted.missing.dropped == {"excerpts": 2}
    assert "left out to fit: 2 excerpts" in render_pack(fitted)


@pytest.mark.parametrize("tokens", [500, 6_000])
def test_a_pack_that_fits_is_left_as_it_is(tokens: int) -> None:
    content = _plain_pack([])
    assert fit_pack(content, tokens) is content


def _plain_pack(anchors: list[Anchor]) -> PackContent:
    header = Header(work_id="w", agent_id="a", run_session_id="s", repo_snapshot_id="snap", prompt_digest="d")
    return PackContent(
        header=header,
        task=TaskSection(prompt="p"),
        strategy=StrategySection(strategy_id="general_change"),
        anchors=AnchorSection(anchors=anchors),
    )
