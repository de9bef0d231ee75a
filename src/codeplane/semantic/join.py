"""What indexers say, joined to the facts of the index.

An occurrence of an index is joined to the occurrence of ours that is the same bytes of the same content. What
it means is what its symbol is defined as:

- on the name of one definition of ours, or of several that are one thing: that definition;
- on the names of several: ambiguous, with those as choices; a definition of the same names in the same file
  that the index says nothing about is one of them, since another configuration compiles it;
- at the start of a file, over nothing or over all of it: that file;
- on another token: something local to its file that has no name outside;
- nowhere, in a package of which no document defines anything: external.

A symbol of which a definition is in a file that could not be joined, or that only imports define, tells
nothing. Where several symbols stand at one token (the receiver is of a union of types, or declarations are
merged), they are choices, unless all of them are external, or our facts say which one is meant.
"""

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from codeplane.core.errors import PathRefused
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.semantics import Counts, SemanticDocument, SemanticTarget, definition_keys
from codeplane.languages.facts import Definition, Occurrences, Role
from codeplane.semantic.positions import BYTE_ORDER_MARK, Range, byte_ranges
from codeplane.semantic.scip import DEFINITION, IMPORT, Document, Metadata
from codeplane.semantic.symbols import is_local, last_name, names_in, split_symbol

Absence = Literal["refused", "unknown", "changed"]
"""Why a document has no facts. `refused`: its path is none inside the repository, or not in its plain form.
`unknown`: the index has no such file. `changed`: the file is another than the indexer read."""

SEVERAL_DEFINITIONS: Final = "several_definitions"
SEVERAL_SYMBOLS: Final = "several_symbols"

# What has only a meaning as a type, and only one as a value, in languages in which both may have one name.
_TYPES: Final = frozenset(("interface", "type", "trait"))
_VALUES: Final = frozenset(("variable", "constant", "function"))


class IndexedFile(NamedTuple):
    """A file as the indexer read it, with the facts of its content."""

    blob: int
    digest: Digest
    content: bytes
    occurrences: Occurrences
    definitions: Sequence[Definition]
    group: Callable[[int], Sequence[int]]  # definition → all that are one thing with it, the main one first


class FactsOfPath(Protocol):
    def __call__(self, path: RepoPath) -> IndexedFile | None: ...


class Origin(NamedTuple):
    """Where an index comes from."""

    enter: Callable[[str], RepoPath]  # the jail
    base: RepoPath = RepoPath("")  # the directory that paths of documents are relative to
    # Packages that are in the repository: what no document defines of them is unknown, not external.
    own_packages: Container[str] = ()


@dataclass
class Joined:
    """An index as facts of the repository."""

    metadata: Metadata = field(default_factory=Metadata)
    documents: list[SemanticDocument] = field(default_factory=list)
    absent: dict[str, Absence] = field(default_factory=dict)  # path as the index has it → why

    @property
    def counts(self) -> Counts:
        """The counts of all documents."""
        return Counts(*map(sum, zip(*(one.counts for one in self.documents), strict=True)))


def join(items: Iterable[Metadata | Document], facts: FactsOfPath, origin: Origin) -> Joined:
    """Joins the documents of an index to our facts. `items` may be read while it goes on."""
    joiner = _Joiner(facts, origin)
    for item in items:
        if isinstance(item, Metadata):
            joiner.result.metadata = item
        else:
            joiner.add_document(item)
    return joiner.finish()


class _Place(NamedTuple):
    """One place that defines a symbol."""

    target: SemanticTarget
    kind: str = ""  # of the definition
    owner: SemanticTarget | None = None  # the class of a constructor


@dataclass
class _File:
    """A file that is joined, without its content."""

    path: RepoPath
    blob: int
    column: "array[int]"  # occurrence → 1 + the number of its symbol
    roles: Sequence[int]
    more: dict[int, list[int]] = field(default_factory=dict)  # where there are several
    own: dict[int, SemanticTarget] = field(default_factory=dict)  # the names of definitions
    # Definition → the tokens and the targets of others that have its names and kind.
    twins: dict[int, list[tuple[int, SemanticTarget]]] = field(default_factory=dict)
    twin_symbols: dict[int, int] = field(default_factory=dict)  # symbol → the definition with twins
    other_names: dict[int, str] = field(default_factory=dict)  # what is not called as its symbol is
    implementations: list[tuple[int, int]] = field(default_factory=list)
    dropped: int = 0
    no_token: int = 0


class _Symbols:
    """The symbols of an index, by number, and what defines them."""

    def __init__(self, own_packages: Container[str]) -> None:
        self._own_packages = own_packages
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []
        self._places: dict[int, _Place] = {}  # the first of each symbol
        self._several: dict[int, dict[SemanticTarget, _Place]] = {}  # all, where there are several
        self._lost: set[int] = set()  # symbols that something defines of which nothing is known
        self.synonyms: dict[int, int] = {}  # symbol → the one that defines it
        # Symbols that stand at the name of a definition of ours. An indexer that takes the field `type` of a
        # class for the built-in `type` does so everywhere: they are not external.
        self.doubtful: set[int] = set()
        self._defining: set[str] = set()  # packages
        self._spellings: dict[int, bytes] = {}
        self._resolutions: dict[int, list[_Place]] = {}

    def number(self, symbol: str) -> int:
        if is_local(symbol):
            self._texts.append("")
            return len(self._texts) - 1
        number = self._numbers.get(symbol)
        if number is None:
            number = self._numbers[symbol] = len(self._texts)
            self._texts.append(symbol)
        return number

    def define(self, number: int, place: _Place | None) -> None:
        if place is None:
            self._lost.add(number)
        else:
            first = self._places.setdefault(number, place)
            if first is not place and first.target != place.target:
                self._several.setdefault(number, {first.target: first})[place.target] = place

    def count_packages(self) -> None:
        """Finds the packages of which documents define something."""
        for number in (*self._places, *self._lost):
            if parts := split_symbol(self._texts[number]):
                self._defining.add(parts.package)

    def resolve(self, number: int) -> list[_Place]:
        """What a symbol may be; nothing where that is not known."""
        places = self._resolutions.get(number)
        if places is None:
            places = self._resolutions[number] = self._find_places(number)
        return places

    def sole_target(self, number: int) -> SemanticTarget | None:
        """What a symbol is that one place defines, as nearly all do."""
        first = self._places.get(number)
        is_sole = first is not None and number not in self._several and number not in self._lost
        return first.target if first is not None and is_sole else None

    def _find_places(self, number: int) -> list[_Place]:
        number = self.synonyms.get(number, number) if number not in self._places else number
        if number in self._lost:
            return []
        if number in self._several:
            places = [*self._several[number].values()]
            # A place that gives a value to a definition is a definition of its symbol too.
            return [place for place in places if place.target.kind != "local"] or places[:1]
        if number in self._places:
            return [self._places[number]]
        parts = split_symbol(self._texts[number]) if number not in self.doubtful else None
        if parts is None or parts.package in self._defining or parts.package in self._own_packages:
            return []
        return [_Place(SemanticTarget("external", text=parts.text))]

    def names(self, number: int) -> list[str]:
        """The names that lead to a symbol, its own last."""
        return names_in(self._texts[number])

    def spelling(self, number: int) -> bytes:
        """The name of a symbol; nothing for one that has none, as local ones have."""
        spelling = self._spellings.get(number) if self._texts[number] else b""
        if spelling is None:
            name = last_name(self._texts[number])
            spelling = self._spellings[number] = name.encode("utf-8", "surrogatepass")
        return spelling


class _Joiner:
    """One index as it is joined."""

    def __init__(self, facts: FactsOfPath, origin: Origin) -> None:
        self._facts, self._origin = facts, origin
        self._files: dict[RepoPath, _File] = {}
        self._symbols = _Symbols(origin.own_packages)
        self.result = Joined()

    def add_document(self, document: Document) -> None:
        numbers = [self._symbols.number(symbol) for symbol in document.symbols]
        path, source = self._find(document)
        if path is None or source is None:
            for row in document.occurrences:
                if row[5] & DEFINITION:
                    self._symbols.define(numbers[row[4]], None)
            return
        file = self._files.get(path)
        if file is None:
            occurrences = source.occurrences
            column = array("q", bytes(8 * len(occurrences)))
            file = self._files[path] = _File(path, source.blob, column, occurrences.roles)
        _DocumentJoiner(self._symbols, file, source).join(document, numbers)
        self._relate(file, document, numbers)

    def _find(self, document: Document) -> tuple[RepoPath | None, IndexedFile | None]:
        base, text = self._origin.base, document.path
        full = f"{base}/{text}" if base else text
        try:
            path = self._origin.enter(full)
        except PathRefused:
            path = None
        if path != full:
            self.result.absent[text] = "refused"
            return None, None
        source = self._facts(path)
        if source is None:
            self.result.absent[text] = "unknown"
        elif hashlib.sha256(source.content).hexdigest() != source.digest or (
            document.text is not None and document.text != source.content
        ):
            self.result.absent[text] = "changed"
            return path, None
        return path, source

    def _relate(self, file: _File, document: Document, numbers: Sequence[int]) -> None:
        number_of = dict(zip(document.symbols, numbers, strict=True))
        for one in document.relationships:
            if any(is_local(symbol) and symbol not in number_of for symbol in (one.symbol, one.other)):
                continue  # of no occurrence
            here, there = (
                number_of[symbol] if symbol in number_of else self._symbols.number(symbol)
                for symbol in (one.symbol, one.other)
            )
            if one.is_implementation:
                file.implementations.append((here, there))
            if one.is_definition:
                self._symbols.synonyms[here] = there

    def _define_twins(self, file: _File) -> None:
        """A definition that the index says nothing about is compiled in another configuration, for another
        system say: there, the symbol of its twin is that one's."""
        for number, position in file.twin_symbols.items():
            for at, target in file.twins[position]:
                if not file.column[at]:
                    self._symbols.define(number, _Place(target))

    def finish(self) -> Joined:
        for file in self._files.values():
            self._define_twins(file)
        self._symbols.count_packages()
        for file in self._files.values():
            self.result.documents.append(_Writer(self._symbols, file).document())
        return self.result


class _DocumentJoiner:
    """Finds the tokens of one document."""

    def __init__(self, symbols: _Symbols, file: _File, source: IndexedFile) -> None:
        self._symbols, self._file, self._source = symbols, file, source
        occurrences = source.occurrences
        self._token_at = dict(zip(occurrences.starts, range(len(occurrences)), strict=True))
        self._texts = [text.encode("utf-8", "surrogateescape") for text in occurrences.texts]
        lines = occurrences.lines
        self._definition_at = {
            lines[item.name_line - 1] + item.name_column: at
            for at, item in reversed(list(enumerate(source.definitions)))
        }
        self._keys = definition_keys(source.definitions)
        self._local = _Place(SemanticTarget("local", file.path))
        if not file.twins:
            file.twins = self._find_twins()

    def _find_twins(self) -> dict[int, list[tuple[int, SemanticTarget]]]:
        alike: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
        for start, position in self._definition_at.items():
            main, at = self._source.group(position)[0], self._token_at.get(start)
            if main == position and at is not None:
                item = self._source.definitions[position]
                alike[self._keys[position].names, item.owner, item.kind][position] = at
        return {
            position: [(at, self._target(other)) for other, at in tokens.items() if other != position]
            for tokens in alike.values()
            if len(tokens) > 1
            for position in tokens
        }

    def join(self, document: Document, numbers: Sequence[int]) -> None:
        source, file = self._source, self._file
        content, texts, token_at = source.content, self._texts, self._token_at
        names, column, more = source.occurrences.names, file.column, file.more
        rows, spellings = document.occurrences, [*map(self._symbols.spelling, numbers)]
        for (start, end), row in zip(
            byte_ranges(content, document.encoding, rows, self._count_tokens), rows, strict=True
        ):
            number, roles = numbers[row[4]], row[5]
            at, text = token_at.get(start), content[start:end]
            if at is None or text != texts[names[at]]:
                self._miss(at, (start, end), number, roles)
                continue
            if spellings[row[4]] not in (text, b""):
                file.other_names[at] = text.decode("utf-8", "surrogateescape")
            if roles & DEFINITION:
                if roles & IMPORT:
                    continue  # names what another symbol at the same place means
                self._define(number, at, start)
            elif start in self._definition_at and file.roles[at] == Role.DEFINE:
                self._symbols.doubtful.add(number)
            before = column[at]
            if not before:
                column[at] = number + 1
            elif before != number + 1:
                others = more.setdefault(at, [before])
                if number + 1 not in others:
                    others.append(number + 1)

    def _count_tokens(self, ranges: Sequence[Range]) -> int:
        content, names = self._source.content, self._source.occurrences.names
        tokens = ((self._token_at.get(start), start, end) for start, end in ranges)
        return sum(
            at is not None and content[start:end] == self._texts[names[at]] for at, start, end in tokens
        )

    def _define(self, number: int, at: int, start: int) -> None:
        """A symbol is defined at a token."""
        position = self._definition_at.get(start)
        if position is None:
            self._symbols.define(number, self._local)
            return
        definitions = self._source.definitions
        position = self._source.group(position)[0]
        item = definitions[position]
        target = self._file.own[at] = self._target(position)
        owner = self._target(item.parent) if item.kind == "constructor" and item.parent >= 0 else None
        # Where a constructor goes by the name of its class, that name means the class.
        if owner is not None and definitions[item.parent].name == item.name:
            self._symbols.define(number, _Place(owner, definitions[item.parent].kind))
        else:
            self._symbols.define(number, _Place(target, item.kind, owner))
            if position in self._file.twins:
                self._file.twin_symbols[number] = position

    def _target(self, position: int) -> SemanticTarget:
        return SemanticTarget("definition", self._file.path, *self._keys[position])

    def _miss(self, at: int | None, span: Range, number: int, roles: int) -> None:
        """An occurrence that is no token of ours."""
        start, end = span
        if roles & DEFINITION and not roles & IMPORT:
            content = self._source.content
            is_file = content[:start] in (b"", BYTE_ORDER_MARK) and (
                end == start or not content[end:].strip()
            )
            target = SemanticTarget("file", self._file.path)
            self._symbols.define(number, _Place(target) if is_file else None)
            if is_file:
                return
        if at is None:
            self._file.no_token += 1
        else:
            self._file.dropped += 1


class _Writer:
    """Makes the document that is stored of one file."""

    def __init__(self, symbols: _Symbols, file: _File) -> None:
        self._symbols, self._file = symbols, file
        self._targets: list[SemanticTarget] = []
        self._positions: dict[SemanticTarget, int] = {}
        self._ambiguity: dict[int, str] = {}  # position of the target → its kind

    def document(self) -> SemanticDocument:
        file = self._file
        meanings = {value: self._resolve([value]) for value in dict.fromkeys(file.column) if value}
        meanings[0] = 0
        column = array("q", map(meanings.__getitem__, file.column))
        for at, numbers in file.more.items():
            column[at] = self._resolve(numbers, file.roles[at])
        for at, text in file.other_names.items():
            if at not in file.more and column[at]:
                column[at] = self._resolve_name(file.column[at], text)
        for at, target in file.own.items():
            if at not in file.more:
                column[at] = self._position(target) + 1
        ambiguity = sorted(
            {self._ambiguity[value - 1] for value in {*column} if value - 1 in self._ambiguity}
        )
        return SemanticDocument(
            file.blob,
            file.path,
            self._targets,
            column,
            tuple(ambiguity),
            self._count(column),
            implementations=self._implementations(),
        )

    def _implementations(self) -> list[tuple[int, int]]:
        """Targets that implement others, where it is certain what both are."""
        pairs = [
            (self._resolve([here + 1]), self._resolve([there + 1]))
            for here, there in self._file.implementations
        ]
        return [
            (here - 1, there - 1)
            for here, there in dict.fromkeys(pairs)
            if here and there and self._targets[here - 1].kind == "definition"
        ]

    def _position(self, target: SemanticTarget) -> int:
        position = self._positions.get(target)
        if position is None:
            position = self._positions[target] = len(self._targets)
            self._targets.append(target)
        return position

    def _resolve(self, numbers: Sequence[int], role: int = -1) -> int:
        """What some symbols at one token mean: 1 + the position of the target, or 0."""
        if len(numbers) == 1 and (target := self._symbols.sole_target(numbers[0] - 1)) is not None:
            return self._position(target) + 1
        choices: dict[SemanticTarget, str] = {}
        is_known = True
        for number in numbers:
            places = self._symbols.resolve(number - 1)
            is_known = is_known and bool(places)
            choices |= {place.target: place.kind for place in places}
        if not choices:
            return 0
        if all(one.kind == "external" for one in choices) and is_known:
            return self._position(next(iter(choices))) + 1
        targets = _select_by_role(choices, role) if is_known else list(choices)
        if len(targets) == 1 and is_known:
            return self._position(targets[0]) + 1
        positions = tuple(self._position(one) for one in targets)
        position = self._position(SemanticTarget("ambiguous", choices=positions))
        self._ambiguity[position] = SEVERAL_SYMBOLS if len(numbers) > 1 else SEVERAL_DEFINITIONS
        return position + 1

    def _resolve_name(self, number: int, text: str) -> int:
        """What a symbol means at a token that is not called as it is."""
        places = self._symbols.resolve(number - 1)
        if len(places) == 1:
            target, _, owner = places[0]
            # `new X()` means the class, although the symbol is that of the constructor.
            if owner is not None and owner.names.rpartition(".")[2] == text:
                return self._position(owner) + 1
            # `a` in `import a.b` and what follows it means `a`, although the symbol is that of `a.b`. Symbols
            # of other languages have the names of directories and of the file.
            *outer, last = self._symbols.names(number - 1)
            if target.kind == "file" and text in outer and last != target.path.rpartition("/")[2]:
                return 0
        return self._resolve([number])

    def _count(self, column: Sequence[int]) -> Counts:
        totals: Counter[str] = Counter()
        for value, count in Counter(column).items():
            totals[self._targets[value - 1].kind if value else "unresolved"] += count
        return Counts(
            totals["definition"] + totals["file"],
            totals["external"],
            totals["local"],
            totals["ambiguous"],
            totals["unresolved"],
            self._file.dropped,
            self._file.no_token,
        )


def _select_by_role(choices: dict[SemanticTarget, str], role: int) -> list[SemanticTarget]:
    """Of a type and a value that have one name in one file, the one that a place can mean: an interface and
    a constant that go by the same name, say. An import or an export means both."""
    same = len({(one.kind, one.path, one.names) for one in choices}) == 1
    if same and {*choices.values()} <= _TYPES | _VALUES and role in (Role.TYPE, Role.READ, Role.CALL):
        fitting = _TYPES if role == Role.TYPE else _VALUES
        return [one for one, kind in choices.items() if kind in fitting] or list(choices)
    return list(choices)
