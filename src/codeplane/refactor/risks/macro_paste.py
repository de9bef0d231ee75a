"""A macro pastes names together that begin or end like this one (`get_##part`)."""

from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.macro_paste import made_of
from codeplane.refactor.risk import Question, risk


@risk(kinds=("macro",), subject="definition", order=30, applies=lambda spec: spec.reflection.pastes_tokens)
def find(question: Question) -> Iterator[Problem]:
    """Macros whose parts fit one of the names."""
    names = (question.names.name, question.new) if question.new else (question.names.name,)
    yield from made_of(question.snapshot, min(question.names.places).path, names)
