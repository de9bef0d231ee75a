"""A test expects what the language says of a call without the argument: `missing … argument: 'limit'`."""

import re
from collections.abc import Iterator

from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("printed",),
    subject="parameter",
    order=195,
    applies=lambda spec: spec.reflection.printed_name("parameter", "x") != "",
)
def find(question: Question) -> Iterator[Problem]:
    """Lines of tests with a message about a parameter, which only a call makes: locals have none."""
    snapshot, names = question.snapshot, question.names
    for place in sorted(names.functions)[:1]:
        spec = snapshot.definition(place).spec
        pattern = re.compile(spec.reflection.printed_name("parameter", names.name).encode())
        tests = snapshot.tests()
        for path in (one for one in snapshot.paths_with(names.name) if one in tests):
            data = snapshot.source(path)
            if match := pattern.search(data):
                text = f"A test expects a message about the argument {names.name}."
                yield Problem("printed", text, path, data.count(b"\n", 0, match.end()) + 1)
                return
