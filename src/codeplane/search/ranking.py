"""The one order of files, definitions, references and names in answers.

A file's purpose counts first: source before tests, examples, documentation, vendored and built files.
"""

from collections.abc import Callable, Collection, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.index import Purpose
from codeplane.languages import has_references
from codeplane.names import DefFact, RefFact, Snapshot
from codeplane.parsing.words import parts_of

Key = tuple[Any, ...]

_PROSE: Final = frozenset("heading key selector block stage resource".split())
_TIER_RANKS: Final = {tier: rank for rank, tier in enumerate(Tier)}
_PURPOSE_WEIGHTS: Final = {
    Purpose.SOURCE: 1.0,
    Purpose.TEST: 0.55,
    Purpose.EXAMPLE: 0.5,
    Purpose.DOCS: 0.35,
    Purpose.VENDORED: 0.3,
    Purpose.BUILT: 0.1,
}
_NO_CODE: Final = 0.5
SAME_NAME, SAME_LETTERS, PREFIX, WHOLE_PART, SUBSTRING = range(5)
"""How like two names are, best first."""


def file_order(
    snapshot: Snapshot, words: Sequence[str] = (), defining: Collection[str] = frozenset()
) -> Callable[[str], Key]:
    """Within a purpose, files named for the lower-case words come first, then those that define them."""
    purpose = snapshot.purpose

    def key(path: str) -> Key:
        low = path.lower()
        return purpose(path), -sum(word in low for word in words), path not in defining, path

    return key


def path_order(snapshot: Snapshot, path: str) -> Callable[[str], Key]:
    """Within a purpose, paths that are most like `path` come first."""
    return lambda other: (snapshot.purpose(other), -SequenceMatcher(None, path, other).ratio())


def definition_order(snapshot: Snapshot) -> Callable[[DefFact], Key]:
    """Definitions of one name: code before prose, then by purpose, outer definitions before inner ones."""
    purpose = snapshot.purpose

    def key(one: DefFact) -> Key:
        return one.kind in _PROSE, purpose(one.path), one.lexical_path.count("."), one.path, one.position

    return key


def outline_order(snapshot: Snapshot) -> Callable[[DefFact], Key]:
    """Definitions of many names: by purpose, then as they stand in their files."""
    return lambda one: (snapshot.purpose(one.path), one.path, one.position)


def candidate_order(snapshot: Snapshot) -> Callable[[DefFact], Key]:
    """Definitions that one name may mean: by purpose, public ones before private ones."""
    return lambda one: (snapshot.purpose(one.path), _is_private(one))


def reference_order(snapshot: Snapshot) -> Callable[[RefFact], Key]:
    """References to one definition: best proven first, then by purpose."""
    purpose = snapshot.purpose
    return lambda ref: (_TIER_RANKS[ref.tier], purpose(ref.path), ref.path, ref.line, ref.column)


def purpose_weight(snapshot: Snapshot, path: str) -> float:
    """What a hit in this file counts for where scores are compared, from 0 to 1."""
    return _PURPOSE_WEIGHTS[snapshot.purpose(path)]


def change_weight(snapshot: Snapshot, path: str) -> float:
    """What a hit counts for where code is to be changed: configuration and prose half of their purpose."""
    file = snapshot.file(RepoPath(path))
    is_code = file is not None and bool(file.language) and has_references(file.language)
    return purpose_weight(snapshot, path) * (1.0 if is_code else _NO_CODE)


def name_likeness(name: str, query: str, offset: int) -> int:
    """How like a defined name is to what was asked for, which occurs at `offset` in it in some case.

    A query with a capital letter means exactly that.
    """
    if name == query:
        return SAME_NAME
    any_case = query == query.lower()
    if any_case and name.lower() == query:
        return SAME_LETTERS
    if offset == 0 and (any_case or name.startswith(query)):
        return PREFIX
    return WHOLE_PART if query.lower() in {part.lower() for part in parts_of(name)} else SUBSTRING


def _is_private(one: DefFact) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in one.lexical_path.split("."))
