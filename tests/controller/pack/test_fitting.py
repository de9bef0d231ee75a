"""A pack never takes more than its budget, and says what it left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.controller.pack.fitting import canonical_json, fit_pack
from codeplane.controller.pack.pack_text import render_pack
from codeplane.controller.pack.sections import (
    AllowedSection,
    Anchor,
    AnchorSection,
    Header,
    MissingSection,
    PackContent,
    PolicyEntry,
    ProofChain,
    StrategySection,
    TaskSection,
    ValidationSection,
)

_words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=300)
_lists = st.lists(_words, max_size=12)
_lines = st.integers(1, 10_000)
_anchors = st.builds(
    Anchor,
    path=_words,
    first_line=_lines,
    last_line=_lines,
    symbol=_words,
    why=_words,
    digest=st.just("d" * 64),
    evidence=st.just("ev_000000000000"),
    text=st.text("ab\n", max_size=2000),
)
_policies = st.builds(
    PolicyEntry, source=_words, first_line=_lines, last_line=_lines, why=_words, text=_words
)
_contents = st.builds(
    PackContent,
    header=st.just(
        Header(
            context_pack_ref=f"pack_{'0' * 16}",
            context_pack_hash="0" * 64,
            work_id="w" * 64,
            agent_id="a" * 60,
            run_session_id="s" * 60,
            repo_snapshot_id="snap_0",
            prompt_digest="d" * 64,
        )
    ),
    task=st.builds(
        TaskSection,
        prompt=st.just("p" * 400),
        lexemes=_lists,
        attachments=_lists,
        constraints=_lists,
        conflicts=_lists,
    ),
    policies=st.lists(_policies, max_size=8),
    strategy=st.builds(
        StrategySection,
        strategy_id=st.just("general_change"),
        reasons=_lists,
        context_signature=st.dictionaries(_words, st.booleans(), max_size=8),
    ),
    anchors=st.builds(
        AnchorSection,
        anchors=st.lists(_anchors, max_size=15),
        proof_chains=st.lists(st.builds(ProofChain, chain_id=_words, hops=_lists), max_size=3),
    ),
    allowed=st.builds(AllowedSection, files=_lists, capabilities=_lists),
    validation=st.builds(ValidationSection, tests=_lists, linters=_lists),
    missing=st.builds(MissingSection, missing=_lists, conflicts=_lists),
    active_memories=st.lists(
        st.dictionaries(st.sampled_from(("id", "note")), _words, max_size=2), max_size=5
    ),
)


@given(_contents, st.integers(500, 8_000))
def test_a_pack_is_never_over_its_budget(content: PackContent, tokens: int) -> None:
    fitted = fit_pack(content, tokens)
    assert len(render_pack(fitted)) <= 4 * tokens
    assert len(canonical_json(fitted.model_dump(mode="json"))) <= 4 * tokens


@given(_contents, st.integers(500, 8_000))
def test_what_is_left_out_is_said_and_what_is_not_shown_has_no_handle(
    content: PackContent, tokens: int
) -> None:
    fitted = fit_pack(content, tokens)
    assert bool(fitted.missing.dropped) == (fitted != content)
    before = len(content.anchors.anchors)
    assert fitted.missing.dropped.get("anchors", 0) == before - len(fitted.anchors.anchors)
    for new in fitted.anchors.anchors:
        assert bool(new.evidence) or not new.text


@given(_contents)
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
