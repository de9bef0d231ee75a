"""By convention the new name says something else: no test any more, another file name, exported or not."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import flags_of
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question

KINDS: Final = ("test", "file_name", "export")
SUBJECT: Final = "definition"
ORDER: Final = 70
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.tests or spec.renaming.type_names_file or spec.default_exports == "capital")


def find(asked: Question) -> Iterator[Problem]:
    """Conventions that the old name follows and the new one does not, or the other way round."""
    for place in sorted(asked.names.places) if asked.new else ():
        yield from _named(asked.snapshot, place, asked.new)


def _named(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """What a definition is for may follow from its name: a test, something that others see."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    pattern = spec.tests.get(item.kind)
    if pattern and flags_of(snapshot, place) & FLAG_TEST and not re.fullmatch(pattern, new):
        text = f"{item.name} is a test by its name; {new} would not be one."
        yield Problem("test", text, RepoPath(place.path), item.name_line)
    if (
        spec.renaming.type_names_file
        and place.path.rsplit("/", 1)[-1].startswith(f"{item.name}.")
        and item.parent < 0
    ):
        text = f"{item.name} is named after its file, which must be moved as well (refactor_move)."
        yield Problem("file_name", text, RepoPath(place.path), item.name_line)
    if spec.default_exports == "capital" and item.name[:1].isupper() != new[:1].isupper():
        told = (
            f"{new} is seen by other packages" if new[:1].isupper() else f"{new} is seen by its package alone"
        )
        yield Problem("export", f"{told}, unlike {item.name}.", RepoPath(place.path), item.name_line)
