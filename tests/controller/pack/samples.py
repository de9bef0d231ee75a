"""Packs at random."""

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st

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

T = TypeVar("T")


def _made_of(model: Callable[..., T], **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Models from their parts by name: what `builds` infers from a signature has the names of the wire."""
    return st.fixed_dictionaries(parts).map(lambda values: model(**values))


_words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=300)
_lists = st.lists(_words, max_size=12)
_lines = st.one_of(st.integers(1, 3), st.integers(1, 10_000))


def _cite(anchor: Anchor) -> Anchor:
    """What is shown has a handle, what is only listed has none."""
    return anchor.model_copy(update={"evidence": "ev_000000000000"}) if anchor.text else anchor


_anchors = _made_of(
    Anchor,
    path=st.one_of(st.sampled_from(("a.py", "b.py")), _words),
    first_line=_lines,
    last_line=_lines,
    symbol=_words,
    why=_words,
    digest=st.just("d" * 64),
    text=st.text("ab\n", max_size=2000),
).map(_cite)
_policies = _made_of(PolicyEntry, source=_words, first_line=_lines, last_line=_lines, why=_words, text=_words)
PACKS = _made_of(
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
    task=_made_of(
        TaskSection,
        prompt=st.just("p" * 400),
        lexemes=_lists,
        attachments=_lists,
        constraints=_lists,
        conflicts=_lists,
    ),
    policies=st.lists(_policies, max_size=8),
    strategy=_made_of(
        StrategySection,
        strategy_id=st.just("general_change"),
        reasons=_lists,
        context_signature=st.dictionaries(_words, st.booleans(), max_size=8),
    ),
    anchors=_made_of(
        AnchorSection,
        anchors=st.lists(_anchors, max_size=15),
        proof_chains=st.lists(_made_of(ProofChain, chain_id=_words, hops=_lists), max_size=3),
    ),
    allowed=_made_of(AllowedSection, files=_lists, capabilities=_lists),
    validation=_made_of(ValidationSection, tests=_lists, linters=_lists),
    missing=_made_of(MissingSection, missing=_lists, conflicts=_lists),
    active_memories=st.lists(
        st.dictionaries(st.sampled_from(("id", "note")), _words, max_size=2), max_size=5
    ),
)
