"""Code asks definitions for their names (`cls.__name__`) and builds other names from them."""

from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.name_reads import named
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("dynamic",),
    subject="definition",
    order=20,
    applies=lambda spec: bool(spec.reflection.name_attributes),
)
def find(question: Question) -> Iterator[Problem]:
    """Names that are built from that of the definition."""
    yield from named(question.snapshot, question.names)
