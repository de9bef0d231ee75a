"""Runs every text case of `tests/cases/languages/<language>`: a source in, its facts out.

A case is a sentence, then pairs of `-- source --` and `-- facts --`. `-- source: definitions binds --` shows
those sections alone.
"""

import re
from pathlib import Path

import pytest

from codeplane.languages import extract, specs
from codeplane.languages.facts import Facts
from tests.languages.render import render

CASES = Path(__file__).parent.parent / "cases" / "languages"
_HEADING = re.compile(r"^-- (source(?:: [a-z ]+)?|facts) --\n", re.MULTILINE)
_SECTION = re.compile(r"^(\w+):", re.MULTILINE)


def sources(text: str) -> list[tuple[str, str]]:
    """The headings and sources of a case."""
    _, *rest = _HEADING.split(text)
    return [(rest[at], rest[at + 1]) for at in range(0, len(rest), 2) if rest[at] != "facts"]


def rendered(text: str, language: str) -> str:
    """The case with the facts that are true now."""
    about = _HEADING.split(text)[0].rstrip("\n") + "\n"
    parts = [about]
    for heading, source in sources(text):
        source = source.rstrip("\n") + "\n"
        facts = extract(language, source.encode())
        check(facts, source.encode())
        parts += [f"-- {heading} --\n{source}", f"-- facts --\n{only(render(facts), heading)}"]
    return "\n".join(parts)


def only(text: str, heading: str) -> str:
    """The sections of the facts that the heading asks for, all of them where it names none."""
    wanted = heading.partition(": ")[2].split()
    if not wanted:
        return text
    pieces = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    return "".join(piece for piece in pieces if piece.partition(":")[0] in ("state", *wanted))


def check(facts: Facts, data: bytes) -> None:
    """What holds for all facts: indexes point somewhere, names are where they are said to be."""
    lines = data.split(b"\n")
    places = [(place.line, place.column) for _, place in facts.occurrences.all()]
    assert places == sorted(set(places))
    for name, place in facts.occurrences.all():
        raw = name.encode("utf-8", "surrogateescape")
        assert lines[place.line - 1][place.column :].startswith(raw)
        targets = facts.definitions if place.receiver else facts.binds
        assert 0 <= place.target <= len(targets)
        assert place.receiver <= len(facts.receivers)
        assert place.scope < len(facts.scopes)
        if place.target:
            assert targets[place.target - 1].name == name
    for at, definition in enumerate(facts.definitions):
        assert definition.parent < len(facts.definitions) and definition.parent != at
        written = definition.name.removeprefix(f"{definition.owner}.").encode("utf-8", "surrogateescape")
        assert lines[definition.name_line - 1][definition.name_column :].startswith(written)
    for bind in facts.binds:
        if bind.reason == 0:
            assert facts.definitions[bind.target].name == bind.name
        elif bind.reason == 3:
            assert facts.imports[bind.target].alias == bind.name
    for at, scope in enumerate(facts.scopes):
        assert scope.parent < at


FILES = [(language, file) for language in specs() for file in sorted((CASES / language).glob("*.txt"))]


@pytest.mark.parametrize(("language", "file"), FILES, ids=lambda value: getattr(value, "stem", value))
def test_case(language: str, file: Path, request: pytest.FixtureRequest) -> None:
    expected = file.read_text()
    seen = rendered(expected, language)
    if request.config.getoption("--update"):
        file.write_text(seen)
    assert seen == expected


@pytest.mark.parametrize("language", specs())
def test_every_language_has_cases(language: str) -> None:
    assert list((CASES / language).glob("*.txt"))
