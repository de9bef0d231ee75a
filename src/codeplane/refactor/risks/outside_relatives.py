"""A member may belong together with one outside of the repository, or with literals of the same shape."""

from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("outside_base", "silent_interface", "object"), subject="definition", order=10, is_about_moves=True
)
def find(question: Question) -> Iterator[Problem]:
    """What was found while the definitions that keep the name together were looked for."""
    yield from question.names.doubts
