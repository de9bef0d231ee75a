"""The program prints the source text of the expression: `f"{size=}"`."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from codeplane.core.slots import ContentSlot
from codeplane.languages.arguments import quoted
from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem, Site, by_path
from codeplane.refactor.risk import Question
from codeplane.refactor.text import Lines

_QUOTED: Final = ContentSlot[list[tuple[int, int]]]("expressions that print their source")


KINDS: Final = ("quoted",)
SUBJECT: Final = "any"
ORDER: Final = 210
IS_PER_SITE: Final = True
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.reflection.self_documenting)


def find(asked: Question) -> Iterator[Problem]:
    """The places that a program tells as they are written, each line once."""
    snapshot, sites = asked.snapshot, asked.sites
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
