"""Finding the one definition that a text names: a qualified name or the end of one, `path:line`, or a uid."""

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from heapq import nlargest
from typing import TYPE_CHECKING, Final, NamedTuple

from codeplane.core.errors import AmbiguousSymbol, InvalidArgument, NotFound, NotReadYet
from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Absence
from codeplane.core.slots import InterfaceSlot
from codeplane.index.coverage import Coverage
from codeplane.index.view.purpose import Purpose
from codeplane.index.view.rows import DefFact, DefRow, ViewRows
from codeplane.jail import shown
from codeplane.names.identity import PREFIX
from codeplane.names.meaning import AMBIGUOUS

if TYPE_CHECKING:
    from codeplane.names.snapshot import Snapshot

_BETWEEN: Final = re.compile(r"::|->|[./\\#]")
_AT_LINE: Final = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?\Z", re.DOTALL)
_IN_FILE: Final = re.compile(r"(?P<path>.+?)(?:::|[:#])(?P<name>[^:#/]+)\Z", re.DOTALL)
_UID: Final = re.compile(rf"{PREFIX}[0-9a-f]{{16}}")
_CALL: Final = re.compile(r"\([^()]*\)\Z")
_LONGEST: Final = 1_000
_SHOWN: Final = 10
_NEAR: Final = 5
_ALIKE: Final = 0.7
_COMPARED: Final = 200
_MODULE_PATHS: Final = InterfaceSlot[tuple[str, ...], list[str]]("files whose module ends so")
# Headings and keys are found by name, but where code has the name, they are not what is meant.
_PROSE: Final = frozenset("heading key selector block stage resource".split())


class _Candidate(NamedTuple):
    place: Place
    names: tuple[str, ...]  # those of the definitions around it, and its own
    line: int
    kind: str


class SymbolFinder:
    """One way for every question to name a definition. What is not exactly one is an error."""

    def __init__(self, rows: ViewRows, snapshot: "Snapshot", kinds: Collection[str] = ()) -> None:
        self._kinds = kinds
        self._rows = rows
        self._snapshot = snapshot

    def find(self, text: str) -> DefFact:
        """The definition; an error with the candidates or the nearest names where there is not just one."""
        query = _CALL.sub("", text.strip().strip("`").strip())
        if not query or len(query) > _LONGEST:
            raise InvalidArgument(
                f"A symbol's name has 1 to {_LONGEST} characters.",
                hints=["A qualified name or the end of one, `path:line`, or a `sym_…` uid."],
            )
        if query.startswith(PREFIX) and (definition := self._snapshot.definition_by_uid(query)) is not None:
            return definition
        if match := _AT_LINE.match(query):
            return self._at_line(match)
        if (match := _IN_FILE.match(query)) and self._snapshot.exists(match["path"]):
            inside = [one for one in self._matching(match["name"]) if one.place.path == match["path"]]
            return self._single(query, inside)
        candidates = self._matching(query) or self._passed_on(query)
        if not candidates and _UID.fullmatch(query):
            raise self._no_uid(query)
        return self._single(query, candidates)

    def all(self, text: str) -> "list[DefFact]":
        """Every definition that the text names; an error with the nearest names where there is none."""
        query = _CALL.sub("", text.strip().strip("`").strip())
        candidates = self._matching(query) or self._passed_on(query) if 0 < len(query) <= _LONGEST else []
        return [self._fact(one.place) for one in candidates] if candidates else [self.find(text)]

    def _single(self, asked: str, candidates: "Sequence[_Candidate]") -> DefFact:
        candidates = [one for one in candidates if one.kind in self._kinds] or candidates
        candidates = [one for one in candidates if one.kind not in _PROSE] or candidates
        # A block of members outside of a type has the name of the type.
        candidates = [one for one in candidates if one.kind != "impl"] or candidates
        if not candidates:
            raise self._unknown(asked)
        choices, copies = self._without_built(candidates)
        choices = self._distinct(choices)
        if len(choices) > 1:
            raise self._ambiguous(asked, choices, copies)
        if copies:
            example = shown(copies[0].place.path)
            self._snapshot.notes.append(
                f"{shown(asked)} means the definition in the source; {len(copies)} more in files that are"
                f" built or made from it are left out, such as in {example}."
            )
        return self._fact(choices[0].place)

    def _without_built(
        self, candidates: "Sequence[_Candidate]"
    ) -> "tuple[Sequence[_Candidate], Sequence[_Candidate]]":
        """Where source has a name, what a build has made of it is not meant; and what is left out so."""
        copies = [one for one in candidates if self._is_built(one)]
        sources = [one for one in candidates if one not in copies]
        if not copies or all(self._snapshot.purpose(one.place.path) is not Purpose.SOURCE for one in sources):
            return candidates, ()
        return sources, copies

    def _matching(self, asked: str) -> list[_Candidate]:
        """The definitions with this qualified name; without such, those whose qualified names end so."""
        parts = _split(asked)
        if not parts:
            return self._named(asked, "")
        candidates = self._named(parts[-1], parts[-2] if len(parts) > 1 else "")
        if len(parts) > 1 and not candidates:
            return self._named(asked, "")
        candidates = [one for one in candidates if _ends_with(one.names, parts[-len(one.names) :])]
        whole = [one for one in candidates if len(one.names) >= len(parts)]
        rest = [one for one in candidates if len(one.names) < len(parts)]
        for one in rest:
            module = _split(self._snapshot.module_name(one.place.path))
            if _ends_with(module, parts[: -len(one.names)]):
                whole.append(one)
        exact = [one for one in whole if self._is_exactly(one, parts)] if len(whole) > 1 else []
        return exact or whole

    def _is_exactly(self, one: _Candidate, parts: Sequence[str]) -> bool:
        if len(one.names) >= len(parts):
            return False
        return len(_split(self._snapshot.module_name(one.place.path))) + len(one.names) == len(parts)

    def _named(self, name: str, around: str) -> list[_Candidate]:
        """The definitions of a name, and where it is said, of those directly in something of a name."""
        candidates = []
        for row in self._rows.candidates(name, around):
            paths = self._snapshot.layout.by_blob.get(row.blob, ())
            if paths:
                names = tuple(self._lexical(row))
                candidates += [
                    _Candidate(Place(path, row.position), names, row.line, row.kind) for path in paths
                ]
        return sorted(candidates, key=lambda one: (len(one.names), one.place))

    def _lexical(self, row: DefRow) -> Iterator[str]:
        """The names around a definition and its own, as its qualified name has them."""
        names: list[str] = []
        while True:
            names.append(row.name)
            if row.owner and (row.owner != row.name or row.kind == "constructor"):
                names.extend(reversed(_split(row.owner)))
            if row.parent < 0:
                return reversed(names)
            row = self._rows.row(row.blob, row.parent)

    def _passed_on(self, asked: str) -> list[_Candidate]:
        """What a module shows under a name that is defined in another: `pkg.Name` for `pkg.part.Name`."""
        parts = _split(asked)
        for count in range(len(parts) - 1, 0, -1):
            for path in self._paths_of(parts[:count]):
                target = self._snapshot.member_of((Place(RepoPath(path)),), parts[count])
                place = target[0] if target and target != AMBIGUOUS else Place(RepoPath(path))
                for name in parts[count + 1 :]:
                    facts = self._snapshot.facts(place.path)
                    inside = facts.inside(place.definition, name) if facts else ()
                    place = Place(place.path, inside[0]) if len(inside) == 1 else Place(place.path)
                    if place.definition < 0:
                        break
                if place.definition >= 0:
                    return [_Candidate(place, (), 0, "")]
        return []

    def _paths_of(self, module: Sequence[str]) -> list[str]:
        """The files whose module has a name that ends so."""
        paths, key = self._snapshot.answers(_MODULE_PATHS), tuple(module)
        if key not in paths:
            paths[key] = [
                path
                for path in self._snapshot.layout.blobs
                if all(part in path for part in module)
                and _ends_with(_split(self._snapshot.module_name(path)), module)
            ]
        return paths[key]

    def _distinct(self, found: Sequence[_Candidate]) -> Sequence[_Candidate]:
        """One candidate for what is one thing: overloads, a property with its setter, a reopened class."""
        if len(found) < 2 or len({one.place.path for one in found}) > _SHOWN:
            return found
        by_place: dict[Place, _Candidate] = {}
        for one in found:
            facts = self._snapshot.facts(one.place.path)
            main = facts.group(one.place.definition)[0] if facts else one.place.definition
            by_place.setdefault(Place(one.place.path, main), one._replace(place=Place(one.place.path, main)))
        places = list(by_place)
        names = {self._full_name(place) for place in places}
        is_one = len(names) == 1 and self._snapshot.are_one(places)
        return list(by_place.values())[:1] if is_one else list(by_place.values())

    def _full_name(self, place: Place) -> str:
        """The name that a thing has in all its parts: where classes are reopened, its file does not count."""
        facts = self._snapshot.facts(place.path)
        is_reopened = facts is not None and "class" in facts.spec.scopes.reopened_kinds
        return (
            self._snapshot.rule_sources.namespace(place) if is_reopened else self._snapshot.qualified(place)
        )

    def _at_line(self, match: "re.Match[str]") -> DefFact:
        path, line = RepoPath(match["path"]), int(match["line"])
        if not self._snapshot.exists(path):
            raise self._no_file(path)
        facts = self._snapshot.facts(path)
        items = list(enumerate(facts.definitions)) if facts else []
        indices = [at for at, item in items if item.name_line == line]
        indices = indices or [at for at, item in items if item.span.start_line == line][:1]
        if match["column"] and len(indices) > 1:
            column = int(match["column"])
            starts = {items[at][1].name_column + 1: at for at in indices}
            before = [start for start in starts if start <= column]
            indices = [starts[max(before)]] if before else indices
        if not indices:
            raise self._no_line(path, line)
        if len(indices) > 1:
            raise self._ambiguous(match[0], [_Candidate(Place(path, at), (), line, "") for at in indices])
        return self._fact(Place(path, indices[0]))

    def _no_file(self, path: RepoPath) -> NotFound:
        name = path.rsplit("/", 1)[-1]
        near = [
            other for other in self._snapshot.paths_named(name) if _ends_with(_split(other), _split(path))
        ]
        near = near or list(self._snapshot.paths_named(name))
        return NotFound(
            f"There is no file {shown(path)!r}.",
            hints=[f"There is {shown(other)}." for other in near[:_NEAR]],
        )

    def _no_uid(self, uid: str) -> NotFound:
        unread = self._snapshot.coverage.unread
        absence = Absence.NOT_INDEXED if unread else Absence.PROVEN_NONE
        return self._missing()(
            f"No definition has the uid {uid}{_because(absence, self._snapshot.coverage)}.",
            hints=["It goes with the name, header and place of a definition: ask by name for the new one."],
            absence=absence.value,
        )

    def _no_line(self, path: RepoPath, line: int) -> NotFound:
        facts = self._snapshot.facts(path)
        around = [
            at
            for at, item in enumerate(facts.definitions if facts else ())
            if item.span.start_line <= line <= item.span.end_line
        ]
        near = [self._told(Place(path, around[-1]))] if around else []
        absence = self._snapshot.definitions_in(path, 1).absence
        fact = self._snapshot.file(path)
        kind = NotReadYet if fact is not None and fact.state == "unread" else NotFound
        why = _because(absence, self._snapshot.coverage)
        return kind(
            f"No definition begins at line {line} of {shown(path)}{why}.",
            hints=[f"The line is inside {one['name']} ({one['at']})." for one in near],
            **({"absence": absence.value} if absence else {}),
        )

    def _ambiguous(
        self, asked: str, candidates: "Sequence[_Candidate]", built: "Sequence[_Candidate]" = ()
    ) -> AmbiguousSymbol:
        candidates = sorted(candidates, key=lambda one: self._snapshot.purpose(one.place.path))
        descriptions = [self._told(one.place) for one in candidates[:_SHOWN]]
        lines = [one["at"] for one in descriptions]
        for one, other in zip(descriptions, candidates, strict=False):
            if lines.count(one["at"]) > 1:
                column = self._fact(other.place).name_column + 1
                one["at"] += f":{column}"
        way = "`path:line`" if len(set(lines)) == len(lines) else "`path:line:column`"
        if len({one["name"] for one in descriptions}) == len(descriptions):
            way = f"its qualified name, {way}"
        return AmbiguousSymbol(
            f"{shown(asked)!r} names {len(candidates)} definitions.",
            hints=[f"Name one by {way} or uid."],
            candidates=descriptions,
            total=len(candidates),
            **({"built": len(built)} if built else {}),
        )

    def nearest(self, asked: str) -> list[dict[str, str]]:
        """What may have been meant by a name that no definition has."""
        return [self._told(place) for place in self._nearest(asked)]

    def _inherited(self, asked: str) -> Place | None:
        """The member of a base that a name means, where the class has none of its own."""
        *around, name = _split(asked) or [asked]
        owners = [one for one in self._matching(".".join(around)) if one.kind in CLASSES] if around else []
        source = [one for one in owners if self._snapshot.purpose(one.place.path) is Purpose.SOURCE]
        owners = list(self._distinct(source or owners))
        if len(owners) != 1:
            return None
        member = self._snapshot.classes.member((owners[0].place,), name, of_bases=True)
        return member[0] if member and member != AMBIGUOUS and member[0].definition >= 0 else None

    def _unknown(self, asked: str) -> NotFound:
        base = self._inherited(asked)
        if base is not None:
            description = self._told(base)
            return NotFound(
                f"{shown(asked)} is inherited: it is {description['name']}, at {description['at']}.",
                hints=[f"Ask for {description['name']}."],
                absence=Absence.PROVEN_NONE.value,
                nearest=[description],
            )
        near = self.nearest(asked)
        absence = self._snapshot.why_none(_split(asked)[-1] if _split(asked) else asked)
        details: dict[str, object] = {"absence": absence.value}
        if near:
            details["nearest"] = near
        names = ", ".join(str(one["name"]) for one in near)
        return self._missing()(
            f"No symbol is named {shown(asked)!r}{_because(absence, self._snapshot.coverage)}.",
            hints=[*([f"The nearest names: {names}"] if near else []), *self._advice()],
            **details,
        )

    def _missing(self) -> type[NotFound]:
        """The error for what is not there: while files are unread, asking again may find it."""
        return NotReadYet if self._snapshot.coverage.unread else NotFound

    def _advice(self) -> list[str]:
        coverage = self._snapshot.coverage
        if not coverage.unread:
            return []
        read_count = coverage.files - coverage.unread
        return [f"Ask again in a few seconds: {read_count} of {coverage.files} files have been read."]

    def _nearest(self, query: str) -> list[Place]:
        """The definitions whose names are most like the one that was asked for."""
        parts = _split(query) or [query]
        same = self._named(parts[-1], "")
        if same:
            query = ".".join(parts)
            by_likeness = sorted(
                same, key=lambda one: (self._is_built(one), -_alike(".".join(one.names), query))
            )
            return [one.place for one in by_likeness[:_NEAR]]
        ranked_names = sorted((_alike(name, parts[-1]), name) for name in self._names_like(parts[-1]))
        places: list[Place] = []
        for alike, name in reversed(ranked_names):
            if alike >= _ALIKE and len(places) < _NEAR:
                code = [one for one in self._named(name, "") if one.kind not in _PROSE]
                places += [one.place for one in sorted(code, key=self._is_built)[:1]]
        return places

    def _is_built(self, one: _Candidate) -> bool:
        return self._snapshot.purpose(one.place.path) is Purpose.BUILT

    def _names_like(self, name: str) -> list[str]:
        """The defined names about as long as a name that share most letters and pairs of letters with it."""
        low = name.lower()
        pairs = {low[at : at + 2] for at in range(len(low) - 1)}
        letters = set(low)
        slack = max(1, len(name) // 3)
        scores = []
        for other in self._rows.names_of_length(len(name) - slack, len(name) + slack):
            lower = other.lower()
            letters_shared = len(letters.intersection(lower))
            if letters_shared * 3 >= len(letters) * 2:
                pairs_shared = sum(pair in lower for pair in pairs)
                scores.append((letters_shared + 2 * pairs_shared, other))
        return [other for _, other in nlargest(_COMPARED, scores, key=lambda one: one[0])]

    def _told(self, place: Place) -> dict[str, str]:
        """A candidate as an error shows it; each of its names leads to it."""
        facts = self._snapshot.facts(place.path)
        assert facts is not None, "BUG: a definition has a file"
        item = facts.definitions[place.definition]
        return {
            "uid": self._snapshot.identities.uid(place),
            "name": shown(self._snapshot.qualified(place)),
            "kind": item.kind,
            "at": f"{shown(place.path)}:{item.name_line}",
        }

    def _fact(self, place: Place) -> DefFact:
        definition = self._snapshot.definition_at(place.path, place.definition)
        assert definition is not None, "BUG: a definition that was found is there"
        return definition


def _split(text: str) -> list[str]:
    """The parts of a name, whatever stands between them."""
    return [part for part in _BETWEEN.split(text) if part]


def _ends_with(whole: Sequence[str], end: Sequence[str]) -> bool:
    return len(end) <= len(whole) and list(whole[len(whole) - len(end) :]) == list(end)


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _because(absence: Absence | None, coverage: Coverage) -> str:
    match absence:
        case Absence.NOT_INDEXED if coverage.why_hidden and not coverage.unread:
            return f" in what is indexed. {coverage.why_hidden.removesuffix('.')}"
        case Absence.NOT_INDEXED:
            return ", and not every file has been read yet"
        case Absence.PARSE_PARTIAL:
            return ", and a file that may have it could be read only in part"
        case Absence.LANGUAGE_GAP:
            return "; the word occurs in a file whose definitions are not read"
        case _:
            return ""
