"""All fields are read or written at once, by their names: `asdict(x)`, `{ ...x }`, `json.Marshal(x)`."""

from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.bulk_field_access import read_whole
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("whole",),
    subject="definition",
    order=160,
    applies=lambda spec: bool(spec.reflection.bulk_field_access),
)
def find(question: Question) -> Iterator[Problem]:
    """Where something that may be of the class of a field is read as a whole."""
    if (place := read_whole(question.snapshot, question.names)) is not None:
        yield Problem("whole", "All fields are got or set by their names here.", *place)
