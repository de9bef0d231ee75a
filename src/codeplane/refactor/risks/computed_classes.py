"""The definition may hold a class that is made under a name built at run time: `type(f"Reader{kind}", …)`."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk

# The first argument of a call: a text with gaps, or one that something is added to.
_TEMPLATE: Final = (
    r"\(\s*[rRfF]{0,2}(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)(?P<added>\s*\+)?"
)
_GAP: Final = re.compile(r"\\\{[^{}]*\}|%\w")


@risk(
    kinds=("dynamic",),
    subject="top level",
    order=175,
    applies=lambda spec: bool(spec.reflection.class_factories),
)
def find(question: Question) -> Iterator[Problem]:
    """Definitions that are named like what a call in their module makes.

    `pickle` looks for a class in its module under the name that it was made with. A text without a gap is
    another matter: `namedtuple("Row", …)` repeats the name, which changes with it.
    """
    snapshot, names = question.snapshot, question.names
    for place in sorted(names.places):
        factories = snapshot.definition(place).spec.reflection.class_factories
        calls = re.compile(rf"\b(?:{'|'.join(factories)}){_TEMPLATE}")
        source = snapshot.source(place.path).decode("utf-8", "replace")
        for call in calls.finditer(source):
            if _is_made(call["text"], names.name, is_longer=call["added"] is not None):
                line = source.count("\n", 0, call.start()) + 1
                text = f"A class is made here whose name may be {names.name}: it may be looked for by that."
                yield Problem("dynamic", text, place.path, line)


def _is_made(template: str, name: str, *, is_longer: bool) -> bool:
    """Whether a text with gaps may become a name; one that is all gap says nothing of it."""
    pattern, gaps = _GAP.subn(r"\\w*", re.escape(template))
    is_told = _GAP.sub("", re.escape(template)) != ""
    return is_told and (gaps > 0 or is_longer) and bool(re.fullmatch(pattern + r"\w*" * is_longer, name))
