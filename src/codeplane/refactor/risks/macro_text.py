"""A macro makes a string of the name that it is given: `#field`."""

from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.macro_paste import told_to
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("macro",),
    subject="any",
    order=220,
    applies=lambda spec: spec.reflection.pastes_tokens,
    is_per_site=True,
)
def find(question: Question) -> Iterator[Problem]:
    """Sites that are given to such a macro."""
    yield from told_to(question.snapshot, question.sites)
