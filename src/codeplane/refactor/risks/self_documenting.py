"""The program prints the source text of the expression: `f"{size=}"`."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from codeplane.core.slots import ContentSlot
from codeplane.languages.arguments import quoted
from codeplane.refactor.plan import Problem, Site, by_path
from codeplane.refactor.risk import Question, risk
from codeplane.refactor.text import Lines

_QUOTED: Final = ContentSlot[list[tuple[int, int]]]("expressions that print their source")


@risk(
    kinds=("quoted",),
    subject="any",
    order=210,
    applies=lambda spec: bool(spec.reflection.self_documenting),
    is_per_site=True,
)
def find(question: Question) -> Iterator[Problem]:
    """The places that a program tells as they are written, each line once."""
    snapshot, sites = question.snapshot, question.sites
    for path, some in sorted(by_path(sites).items()):
        facts = snapshot.facts(path)
        if facts is None or not facts.spec.reflection.self_documenting:
            continue
        lines = Lines(snapshot.source(path))
        spans = facts.derived(_QUOTED, partial(quoted, facts.language, lines.data))
        for line in sorted({site.line for site in some if _is_inside(spans, lines, site)}):
            yield Problem("quoted", "The program tells this piece of its code as it is written.", path, line)


def _is_inside(spans: list[tuple[int, int]], lines: Lines, site: Site) -> bool:
    at = lines.offset(site.line, site.column)
    return any(start <= at < end for start, end in spans)
