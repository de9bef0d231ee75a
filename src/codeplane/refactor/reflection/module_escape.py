"""Whether a module is ever used as a value: then what it holds may be reached through any variable."""

import re
from collections.abc import Iterable, Iterator, Set
from functools import cached_property
from typing import Final

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Occurrence, Role, ScopeKind
from codeplane.names import Codebase, FileFacts, RefFact
from codeplane.names.meaning import known
from codeplane.refactor.reflection.bulk_field_access import asked_whole, asking
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.text import Lines

_MOST_FILES: Final = 400
_PART: Final = re.compile(r"\w+")
_MEMBER: Final = (b".", b"?.", b"::", b"->")
_RESULT: Final = (")", "]")  # ends of a receiver that is what a call or a container gives
_NOTHING_GIVEN: Final = re.compile(rb"\w+\(\s*\)")
_LOOK: Final = 200
_TABLE: Final = "modules"
_LITERAL: Final = re.compile(r"""["'][^"'{]*["']\s*(?:,.*)?""")


class Reach:
    """How code may get at the definitions of a rename set, other than by names that links explain."""

    def __init__(self, snapshot: Codebase, rename_set: RenameSet) -> None:
        self._snapshot = snapshot
        self._rename_set = rename_set

    @cached_property
    def modules(self) -> set[RepoPath]:
        """The files that show the name: where it is defined, and where it is imported for others."""
        paths = {place.path for place in self._rename_set.places}
        for place in self._rename_set.places:
            for ref in self._snapshot.structural_references.to(place):
                if place in ref.target and ref.role in (Role.IMPORT, Role.EXPORT):
                    paths.add(ref.path)
        return paths | set(self._starring(paths))

    def _starring(self, paths: set[RepoPath]) -> Iterator[RepoPath]:
        """The files that import all names of these, whether or not links can tell which module is meant."""
        waiting, closure = set(paths), set(paths)
        while waiting:
            parts = {part for path in waiting for part in _names(self._snapshot, path)}
            importers = self._snapshot.starring(parts)
            waiting = importers - closure
            closure |= importers
            yield from waiting

    @cached_property
    def parts(self) -> set[str]:
        """The words by which imports may name the modules that show the name."""
        return {part for path in self.modules for part in _names(self._snapshot, path)}

    @cached_property
    def importing(self) -> set[RepoPath]:
        """The files with imports that may lead to the modules."""
        return self._snapshot.importing(self.parts)

    @cached_property
    def is_value(self) -> bool:
        """Whether some variable may hold a module that shows the name."""
        importing = self.importing
        if len(importing) > _MOST_FILES or self._snapshot.dynamics.importing() or self._is_loaded(importing):
            return True
        return any(_leaks(self._snapshot, path, self.modules) for path in sorted(importing))

    def read_whole(self) -> tuple[str, int] | None:
        """Path and line where code gets all names of a module that shows the rename set."""
        facts = self._snapshot.require_facts(min(self._rename_set.places).path)
        reads = facts.spec.reflection.namespace_reads
        if (own := self._read_inside()) is not None:
            return own
        importing = self.importing if reads else frozenset()
        for word, pattern in reads.items():
            for path in (one for one in self._snapshot.paths_with(word) if one in importing):
                for line, name in self._beside(path, word, pattern):
                    if self.is_named(path, name):
                        return path, line
        # Elsewhere a module is a value only by an import of all of it, and is read as any other value is.
        for path in () if reads else map(RepoPath, asking(self._snapshot, self.importing)):
            if any(not item.name for item in self._snapshot.imports(path)):
                for line, holder in asked_whole(self._snapshot, path):
                    if self.is_named(path, holder):
                        return path, line
        return None

    def _beside(self, path: str, word: str, pattern: str) -> Iterator[tuple[int, str]]:
        """Where a word stands in the code of a file, and what a pattern finds in that line and the next."""
        starts = self._snapshot.starts(path, word)
        lines = Lines(self._snapshot.source(RepoPath(path)) if starts else b"")
        for line in sorted({lines.position(start)[0] for start in starts}):
            text = "\n".join(lines.text(at) for at in (line, line + 1) if lines.has(at))
            yield from ((line, name) for name in re.findall(pattern, text))

    def _read_inside(self) -> tuple[str, int] | None:
        """Path and line where a module that shows the rename set gets its own names."""
        for path in sorted(self.modules):
            facts = self._snapshot.facts(path)
            spec = facts.spec if facts is not None else None
            if facts is None or spec is None or not spec.reflection.own_namespace_reads:
                continue
            for word, pattern in spec.reflection.own_namespace_reads.items():
                for occurrence, rest in self._standing(path, word):
                    if re.match(pattern.encode(), rest):
                        return path, occurrence.line
            for word in spec.reflection.caller_namespace:
                for occurrence, rest in self._standing(path, word):
                    if _NOTHING_GIVEN.match(rest) and not self._is_inside(facts, occurrence.scope):
                        return path, occurrence.line
        return None

    def _standing(self, path: str, word: str) -> Iterator[tuple[Occurrence, bytes]]:
        """Where a word stands in a file, and the text from there on."""
        occurrences = self._snapshot.occurrences(path, word)
        lines = Lines(self._snapshot.source(RepoPath(path)) if occurrences else b"")
        for one in occurrences:
            yield one, lines.data[lines.offset(one.line, one.column) :][:_LOOK]

    def _is_inside(self, facts: FileFacts, scope: int) -> bool:
        """Whether a scope is in a function or a class."""
        around = self._snapshot.outward(facts, scope)
        return any(facts.scopes.kind(one) in (ScopeKind.FUNCTION, ScopeKind.CLASS) for one in around)

    def is_named(self, path: str, text: str) -> bool:
        """Whether a dotted text, which begins with an import, may be a module that shows the rename set."""
        first, last = text.partition(".")[0], text.rpartition(".")[2]
        begins = [at for at, item in enumerate(self._snapshot.imports(path)) if item.alias == first]
        targets = [self._snapshot.imported(path, at) for at in begins]
        if first == last and any(_is_module(target, self.modules) for target in targets):
            return True
        if not begins or (first == last and all(target and known(target) == target for target in targets)):
            return False
        return any(re.split(r"[./]", self._snapshot.module_name(one))[-1] == last for one in self.modules)

    def _is_loaded(self, importing: Iterable[str]) -> bool:
        """Whether a module that may show the name is loaded by an expression, whose value it is."""
        texts = [text for _, text in self._snapshot.dynamics.loading()]
        for text in self._looked_up():
            if not _LITERAL.fullmatch(text):
                return True
            texts.append(text)
        for path in importing:
            facts = self._snapshot.facts(path)
            values = facts.spec.reflection.import_expressions if facts is not None else ()
            items = facts.imports if facts is not None and values else ()
            texts += [
                item.module for item in items if item.kind in values and not item.alias and not item.name
            ]
        return any(not self.parts.isdisjoint(_PART.findall(text)) for text in texts)

    def _looked_up(self) -> Iterator[str]:
        """What modules are looked up by in the table of those that are loaded, as written."""
        facts = self._snapshot.require_facts(min(self._rename_set.places).path)
        pattern = facts.spec.reflection.module_registries
        for path in self._snapshot.paths_with(_TABLE) if pattern else ():
            yield from re.findall(pattern, self._snapshot.source(path).decode("utf-8", "replace"))

    def may_be_behind(self, ref: RefFact, *, modules_are_values: bool) -> bool:
        """Whether the receiver of a name may be a module that shows the rename set."""
        head, *way = split_path(ref.receiver)
        if not self.parts.isdisjoint(way):
            return True  # a module behind its package
        facts = self._snapshot.require_facts(ref.path)
        if ref.receiver.endswith(_RESULT):
            return modules_are_values and self.is_value
        imports = [at for at, item in enumerate(facts.imports) if head in (item.alias, item.name)]
        for at in imports:
            target = known(self._snapshot.imported(ref.path, at))
            item = facts.imports[at]
            words = {*_PART.findall(item.module), item.name}
            if (target and _is_module(target, self.modules)) or (
                not target and not self.parts.isdisjoint(words)
            ):
                return True
        return modules_are_values and not imports and self.is_value


def _names(snapshot: Codebase, path: str) -> set[str]:
    """The words by which imports may name a file."""
    module = snapshot.module_name(path)
    parts = module.replace("/", ".").split(".")
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    return {part for part in (parts[-1], stem, path.rsplit("/", 2)[-2] if "/" in path else "") if part}


def _leaks(snapshot: Codebase, path: str, modules: Set[str]) -> bool:
    facts = snapshot.facts(path)
    if facts is None:
        return False
    local = [
        item.alias or item.name
        for at, item in enumerate(facts.imports)
        if item.name != "*" and _is_module(snapshot.imported(path, at), modules)
    ]
    if not local:
        return False
    lines = Lines(snapshot.source(RepoPath(path)))
    return any(stands_alone(lines, use) for name in local for use in _uses(snapshot, path, name, modules))


def _is_module(target: tuple[Place, ...], modules: Set[str]) -> bool:
    return any(place.definition < 0 and place.path in modules for place in target)


def _uses(snapshot: Codebase, path: str, name: str, modules: Set[str]) -> Iterator[tuple[int, int, int]]:
    """Line, column and length of what means one of the modules in a file, imports aside."""
    size = len(name.encode("utf-8", "surrogateescape"))
    for ref in snapshot.structural_references.named(name):
        if ref.path == path and ref.role is not Role.IMPORT and _is_module(ref.target, modules):
            yield ref.line, ref.column, size


def stands_alone(lines: Lines, use: tuple[int, int, int]) -> bool:
    """Whether a name, by line, column and length, does not stand before one of its members."""
    line, column, size = use
    rest = lines.data[lines.offset(line, column) + size :][:40].lstrip()
    return not rest.startswith(_MEMBER)
