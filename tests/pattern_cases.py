"""Text cases of code patterns, in `tests/cases/patterns/LANGUAGE.txt`.

A case begins with `==` and its title. `-- pattern --` has the pattern, `-- inside --` the code around it,
`-- exact --` compares strings as they are written, `-- source --` is the file, `-- matches --` the answer:
the line and the first line of each match, then what its holes stand for. `-- error --` is a refusal,
`-- near --` what comes nearest where nothing matches.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from codeplane.core.errors import PatternInvalid
from codeplane.languages.operations import Match, Source
from codeplane.languages.patterns import compile_pattern, find_pattern, near_misses

FOLDER: Final = Path(__file__).parent / "cases" / "patterns"
_HEADING: Final = re.compile(r"^-- ([a-z]+) --\n", re.MULTILINE)
_ANSWERS: Final = ("matches", "near", "error")


class PatternCase(NamedTuple):
    """One pattern, one file, and what comes of it."""

    language: str
    title: str
    parts: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.language}-{re.sub('[^a-z0-9]+', '_', self.title.lower()).strip('_')[:60]}"

    def render(self) -> str:
        return f"== {self.title}\n" + "".join(f"-- {name} --\n{text}" for name, text in self.parts.items())

    def answer(self) -> "PatternCase":
        """The case with the answer that it gets."""
        questions = {name: text for name, text in self.parts.items() if name not in _ANSWERS}
        return self._replace(parts={**questions, **answer_of(self)})


def pattern_cases(file: Path) -> Iterator[PatternCase]:
    for block in re.split(r"^== ", file.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = block.partition("\n")
        _, *rest = _HEADING.split(body)
        parts = {name: text.rstrip("\n") + "\n" for name, text in zip(rest[::2], rest[1::2], strict=True)}
        yield PatternCase(file.stem, title.strip(), parts)


def answer_of(case: PatternCase) -> dict[str, str]:
    parts = case.parts
    try:
        pattern = compile_pattern(
            case.language,
            parts["pattern"].rstrip("\n"),
            inside=parts.get("inside", "").strip(),
            is_exact="exact" in parts,
        )
    except PatternInvalid as error:
        return {"error": "\n".join([error.message, *(f"hint: {hint}" for hint in error.hints)]) + "\n"}
    source = Source(case.language, parts.get("source", "").encode())
    if matches := find_pattern(source, pattern):
        return {"matches": "".join(shown_match(source, match) for match in matches)}
    misses = near_misses(source, pattern)
    return {"near": "".join(f"{miss.line}: {miss.text}: {miss.reason}\n" for miss in misses)}


def shown_match(source: Source, match: Match) -> str:
    first = source.text(match.node).partition("\n")[0].rstrip()
    holes = [
        f"  {name} = {' | '.join(source.text(node) for node in match.captures[name])}\n"
        for name in sorted(match.captures)
    ]
    return f"{source.line_of(match.node.start_byte)}: {first}\n" + "".join(holes)
