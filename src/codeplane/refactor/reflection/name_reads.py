"""What code makes of the names of definitions that it asks for: `cls.__name__`."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot
from codeplane.languages import LanguageSpec
from codeplane.names import Codebase
from codeplane.refactor.occurrences.keywords import Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.by_name import asked_with_name
from codeplane.refactor.reflection.name_variants import lengthened, respelled, shortened
from codeplane.refactor.rename_set import RenameSet

_READS: Final = ContentSlot[dict[tuple[str, str], "list[NameRead]"]]("reads of names")
_NAMED: Final = frozenset("class function method interface struct enum trait".split())
_BEFORE: Final = re.compile(r"([\w$.]+(?:\([\w$.]*\))?)\s*\??\.\s*\Z")
_TELLING: Final = re.compile(r"__(?:repr|str|format|hash)__|toString|inspect")
_TOLD: Final = re.compile(r"\b(?:raise|throw|assert|console|warn\w*|log(?:ger|ging)?)\b|\bprint\(|Error\(")
_CHANGED: Final = r"name(?:__)?\s*\.\s*[a-z]|name(?:__)?\s*\[|setattr|getattr"
_KEPT: Final = re.compile(rb"setattr\(|\]\s*=[^=]|\.set\(|\bname(?:__)?\s*:")
_BEFORE_IT: Final = 2
_NEAR: Final = 12
_UNTOLD: Final = "?"


class NameRead(NamedTuple):
    """Where a definition is asked for its name, and what is asked, as written."""

    path: RepoPath
    line: int
    holder: str
    text: str  # the line
    around: bytes  # the lines around it, where something may be made of the name
    is_kept: bool  # something may be kept under the name
    is_error: bool  # it is told in an error or a log


def tells_name(snapshot: Codebase, rename_set: RenameSet) -> bool:
    """Whether code asks definitions for their names, and one of the rename set may be what is asked."""
    if rename_set.kind not in _NAMED or not rename_set.places:
        return False
    keywords = Keywords(snapshot, rename_set)
    return any(_may_be_of(snapshot, keywords, one) for one in _reads(snapshot, rename_set))


def named(snapshot: Codebase, rename_set: RenameSet) -> Iterator[Problem]:
    """Names that are made of that of a definition, where code asks it for that."""
    if rename_set.kind not in _NAMED or not rename_set.places:
        return
    reads = list(_reads(snapshot, rename_set))
    place, name = min(rename_set.places), rename_set.name
    lookup = asked_with_name(snapshot, place, name) if reads else None
    if lookup is not None:
        text = f"{lookup[0]} may be found by a name that is made of {name} at run time."
        yield Problem("dynamic", text, lookup[1])
    keywords = Keywords(snapshot, rename_set)
    candidates = [one for one in reads if _may_be_of(snapshot, keywords, one)]
    if (site := _made(snapshot, rename_set, candidates)) is not None:
        text = f"Another name is made of those of definitions: {name} may be found by it."
        yield Problem("dynamic", text, *site)
        return
    open_reads = [one for one in candidates if not _is_told(snapshot, one)]
    near = [one.around for one in open_reads]
    cut = (*shortened(snapshot, name, near), *lengthened(snapshot, name, near))
    for one in (*respelled(snapshot, name), *cut) if open_reads else ():
        text = f"`{one.text}` may be made of the name {name}, which code asks for at run time."
        yield Problem("dynamic", text, one.path, one.line)
        return


def _reads(snapshot: Codebase, rename_set: RenameSet) -> Iterator[NameRead]:
    """Where definitions of the kind of a rename set are asked for their names."""
    facts = snapshot.require_facts(min(rename_set.places).path)
    spec = facts.spec
    is_type = rename_set.kind in spec.types.structural_kinds  # nothing is left of it at run time
    return reads(snapshot, spec) if not is_type else iter(())


def reads(snapshot: Codebase, spec: LanguageSpec) -> Iterator[NameRead]:
    """Where definitions of a language are asked for their names."""
    for word in spec.reflection.name_attributes:
        for path in snapshot.paths_with(word):
            there = snapshot.facts(path)
            if there is not None and there.spec.family == spec.family:
                read = partial(_asked, snapshot, spec, path, word)
                by_word = there.derived(_READS, dict)
                if (key := (word, spec.name)) not in by_word:
                    by_word[key] = read()
                yield from (one._replace(path=path) for one in by_word[key])


def _asked(snapshot: Codebase, spec: LanguageSpec, path: RepoPath, word: str) -> list[NameRead]:
    """The lines of a file that ask something for its name."""
    facts = snapshot.facts(path)
    occurrences = [occurrence for occurrence in snapshot.occurrences(path, word) if occurrence.receiver]
    if facts is None or not occurrences:
        return []
    rows = snapshot.source(path).split(b"\n")
    return [
        NameRead(
            path,
            occurrence.line,
            holder,
            _text(rows[occurrence.line - 1]),
            _beside(rows, occurrence.line, _NEAR),
            _KEPT.search(_beside(rows, occurrence.line, _BEFORE_IT)) is not None,
            _is_error(rows, occurrence.line),
        )
        for occurrence in occurrences
        if (holder := _holder(spec, rows[occurrence.line - 1], occurrence.column))
    ]


def _text(row: bytes) -> str:
    return row.decode("utf-8", "replace").rstrip("\r")


def _beside(rows: list[bytes], line: int, near: int) -> bytes:
    return b"\n".join(rows[max(0, line - near) : line + near])


def _holder(spec: LanguageSpec, row: bytes, column: int) -> str:
    """What is asked for a name, as written; "" where that may be the name of something else."""
    receiver = _BEFORE.search(_text(row[:column]))
    holder = receiver[1] if receiver is not None else _UNTOLD
    is_told = (
        not spec.reflection.name_attribute_owners
        or re.search(spec.reflection.name_attribute_owners, holder) is not None
    )
    return holder if is_told or re.search(spec.reflection.derived_name, _text(row)) else ""


def is_key(snapshot: Codebase, rename_set: RenameSet) -> bool:
    """Whether a definition may be kept under its own name by code that asks it for that."""
    if rename_set.kind not in _NAMED or not rename_set.places:
        return False
    keywords = Keywords(snapshot, rename_set)
    reads = (one for one in _reads(snapshot, rename_set) if one.is_kept)
    return any(_may_be_of(snapshot, keywords, one) and not _is_told(snapshot, one) for one in reads)


def _is_error(rows: list[bytes], line: int) -> bool:
    text = "\n".join(map(_text, rows[max(0, line - 1 - _BEFORE_IT) : line]))
    return _TOLD.search(text) is not None and not re.search(_CHANGED, _text(rows[line - 1]))


def _is_told(snapshot: Codebase, read: NameRead) -> bool:
    """Whether a name is asked for to be shown to people: in what tells of an instance, or of an error."""
    facts = snapshot.facts(read.path)
    if read.is_error or facts is None:
        return read.is_error
    around = facts.definitions.around(read.line)
    return bool(around) and _TELLING.fullmatch(facts.definitions[around[-1]].name) is not None


def _made(snapshot: Codebase, rename_set: RenameSet, reads: list[NameRead]) -> tuple[RepoPath, int] | None:
    """Where another name is made of those of definitions, one that is written in small letters somewhere."""
    facts = snapshot.require_facts(min(rename_set.places).path)
    pattern = facts.spec.reflection.derived_name
    if rename_set.kind in ("class", "function") and pattern and _is_written_small(snapshot, rename_set.name):
        for one in reads:
            if re.search(pattern, one.text):
                return one.path, one.line
    return None


def _is_written_small(snapshot: Codebase, name: str) -> bool:
    text = name.lower().encode("utf-8", "surrogateescape")
    small = re.compile(re.escape(text) + rb"(?<![^\W_]" + re.escape(text) + rb")(?![^\W_])")
    paths = snapshot.paths_with(name.lower()) if name != name.lower() else ()
    return any(small.search(snapshot.source(path)) for path in paths)


def _may_be_of(snapshot: Codebase, keywords: Keywords, read: NameRead) -> bool:
    """Whether what is asked for its name in a line of a file may be one of a rename set."""
    path, line, holder = read[:3]
    rename_set = keywords.rename_set
    facts = snapshot.facts(path)
    if facts is None:
        return False
    spec = facts.spec
    if holder not in spec.reflection.own_class:
        if rename_set.kind in CLASSES:
            return True
        of_instance = (
            any(holder.endswith(f".{one}") for one in spec.reflection.class_attributes) or "(" in holder
        )
        return not of_instance and keywords.is_taken
    around = [
        Place(path, number)
        for number in facts.definitions.around(line)
        if facts.definitions.kind(number) in CLASSES
    ]
    own = {
        place for one in rename_set.places for target in snapshot.classes.order((one,)) for place in target
    }
    return not around or not own.isdisjoint(around)
