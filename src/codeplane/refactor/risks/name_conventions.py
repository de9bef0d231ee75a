"""By convention the new name says something else: no test any more, another file name, exported or not."""

import re
from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import flags_of
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("test", "file_name", "export"),
    subject="definition",
    order=70,
    applies=lambda spec: bool(
        spec.tests or spec.renaming.type_names_file or spec.default_exports == "capital"
    ),
)
def find(question: Question) -> Iterator[Problem]:
    """Conventions that the old name follows and the new one does not, or the other way round."""
    for place in sorted(question.names.places) if question.new else ():
        yield from _named(question.snapshot, place, question.new)


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
        rule = (
            f"{new} is seen by other packages" if new[:1].isupper() else f"{new} is seen by its package alone"
        )
        yield Problem("export", f"{rule}, unlike {item.name}.", RepoPath(place.path), item.name_line)
