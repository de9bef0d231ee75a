"""What an edit broke elsewhere: names that meant what it took away, and calls that no longer fit."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.text import lines_of
from codeplane.graph.diff.repository import FileDiff
from codeplane.graph.diff.structure import Change, ChangeKind, flattened
from codeplane.languages import specs
from codeplane.languages.calls import misfit, passed_at
from codeplane.languages.facts import FLAG_STATIC, Definition, Reason, Role
from codeplane.languages.headers import Parameter, header_of
from codeplane.names import FileFacts, References, RefFact, Snapshot

# A write does not wait long for what it tells besides.
_MOST_NAMES: Final = 40
_MOST_FILES: Final = 300
_MOST_CALLING: Final = 60  # files whose calls are looked at
_PACKAGE_FILES: Final = frozenset(("__init__", "index", "mod"))  # stand for their directory
_SURE: Final = (Tier.PROVEN, Tier.STRONG)
# Decorators that leave a call as it is; behind others, a function may take anything.
_PLAIN_DECORATORS: Final = re.compile(
    rb"(?:@(?:\w+\.)*(?:staticmethod|classmethod|abstractmethod|override|Override|final|cache)\b[^\n]*\s*)*"
)


class Broken(NamedTuple):
    """One place that an edit broke."""

    path: RepoPath
    line: int
    name: str
    why: str


@dataclass(frozen=True)
class Breakage:
    """`unresolved` names, and `calls` that no longer fit; `is_cut` where not every file was looked at."""

    lost_references: tuple[Broken, ...] = ()
    calls: tuple[Broken, ...] = ()
    is_cut: bool = False


def breakage(
    snapshot: Snapshot,
    old: Mapping[str, int | None],
    texts: Mapping[RepoPath, bytes | None],
    files: Sequence[FileDiff],
) -> Breakage:
    """What the changes of some files broke. `old` and `texts` have the contents of these files before.

    Costs nothing unless a definition or an import went, or a header changed.
    """
    search = _Search(snapshot, old, texts, files)
    lost_references = tuple(search.unresolved())
    return Breakage(lost_references, tuple(search.calls()), search.is_cut)


class _Search:
    def __init__(
        self,
        snapshot: Snapshot,
        old: Mapping[str, int | None],
        texts: Mapping[RepoPath, bytes | None],
        files: Sequence[FileDiff],
    ) -> None:
        self._snapshot, self._texts, self._files = snapshot, texts, files
        self._old = old
        self._came_from = {file.path: file.old_path or file.path for file in files}
        self._before: References | None = None
        self.is_cut = False

    def unresolved(self) -> Iterator[Broken]:
        names = dict(self._gone())
        lost_imports = {file.path: self._dropped_imports(file) for file in self._files}
        for imports in lost_imports.values():
            names |= {name: "no longer imported" for name in imports if name not in names}
        self.is_cut = self.is_cut or len(names) > _MOST_NAMES
        for name, why in list(names.items())[:_MOST_NAMES]:
            paths = self._snapshot.paths_with(name)
            self.is_cut = self.is_cut or len(paths) > _MOST_FILES
            for path in self._nearest(paths):
                is_dropped = name in lost_imports.get(RepoPath(path), ())
                for ref in self._lost_references(path, name, is_dropped=is_dropped):
                    yield Broken(ref.path, ref.line, name, why)

    def _gone(self) -> Iterator[tuple[str, str]]:
        """The names that the edit took away, each with what became of it."""
        for file in self._files:
            if file.status in ("deleted", "renamed"):
                path = PurePosixPath(file.old_path or file.path)
                is_package = path.stem in _PACKAGE_FILES
                why = f"{path} is {'gone' if file.status == 'deleted' else f'{file.path} now'}"
                yield (path.parent.name if is_package else path.stem), why
                if file.status == "renamed":
                    yield from ((name, why) for name in self._outer_names(file))
            for one in flattened(file.changes):
                if one.change is ChangeKind.REMOVED:
                    yield one.definition.name, f"removed from {file.path}"
                elif one.change is ChangeKind.RENAMED:
                    yield one.old_name, f"{one.definition.name} now"

    def _outer_names(self, file: FileDiff) -> list[str]:
        facts = self._old_facts(file)
        return [item.name for item in facts.definitions if item.parent < 0] if facts is not None else []

    def _old_facts(self, file: FileDiff) -> FileFacts | None:
        blob = self._old.get(file.old_path or file.path)
        return self._snapshot.facts_of(blob) if blob is not None else None

    def _dropped_imports(self, file: FileDiff) -> set[str]:
        """The names that a file imported and does not bind any more."""
        then, now = self._old_facts(file), self._snapshot.facts(file.path)
        if then is None or now is None or now.state != "ok" or now.stars:
            return set()
        current = {item.alias for item in now.imports} | {item.name for item in now.definitions}
        lost = {item.alias for item in then.imports if item.alias} - current
        return {name for name in lost if now.bound(0, name) is None} if lost else lost

    def _nearest(self, paths: Sequence[str]) -> list[str]:
        """The files that are looked at: those of the edit first."""
        return sorted(paths, key=lambda path: path not in self._came_from)[:_MOST_FILES]

    def _lost_references(self, path: str, name: str, *, is_dropped: bool) -> Iterator[RefFact]:
        """The occurrences of a name that mean nothing now and meant something before."""
        now = self._snapshot.references.named_in(RepoPath(path), name)
        open_ones = [ref for ref in now if not ref.target and ref.tier is not Tier.PROVEN]
        if not open_ones:
            return
        old_path = self._came_from.get(RepoPath(path), RepoPath(path))
        if RepoPath(path) in self._came_from and old_path not in self._old:
            return  # a new file broke nothing that it had
        was = self._then().named_in(old_path, name)
        if RepoPath(path) in self._came_from:
            had_meaning = self._meant_in_edited(RepoPath(path), old_path, was)
            yield from (
                ref
                for ref in open_ones
                if had_meaning(ref) or (is_dropped and not ref.receiver and ref.role is not Role.IMPORT)
            )
        else:
            places = {(ref.line, ref.column) for ref in was if ref.target}
            yield from (ref for ref in open_ones if (ref.line, ref.column) in places)

    def _meant_in_edited(
        self, path: RepoPath, old_path: RepoPath, was: Sequence[RefFact]
    ) -> Callable[[RefFact], bool]:
        """Whether an occurrence in an edited file meant something before.

        It is known again by the text of its line; one in a new line means what others behind the same
        receiver meant.
        """
        new_lines = lines_of(self._snapshot.source(path))
        old_lines = lines_of(self._texts.get(old_path) or b"")
        meanings = {(old_lines[ref.line - 1], ref.column): bool(ref.target) for ref in was}
        receivers = {ref.receiver for ref in was if ref.target}
        return lambda ref: meanings.get((new_lines[ref.line - 1], ref.column), ref.receiver in receivers)

    def _then(self) -> References:
        """References as they were before the edit."""
        if self._before is None:
            come = frozenset(file.path for file in self._files if file.path not in self._old)
            self._before = self._snapshot.overlaid(self._old, come).references
        return self._before

    def calls(self) -> Iterator[Broken]:
        """The proven calls that fitted the header before and do not fit it now."""
        for file in self._files:
            then, now = self._old_facts(file), self._snapshot.facts(file.path)
            for one in flattened(file.changes) if then is not None and now is not None else ():
                if one.change is ChangeKind.SIGNATURE and _concerns_calls(one):
                    assert then is not None and now is not None and one.before is not None, "BUG: both"
                    was, is_ = _parameters(then, one.before), _parameters(now, one.after or 0)
                    if was is not None and is_ is not None and self._is_plain(file.path, one.definition):
                        yield from self._unfit(file, one, was, is_)

    def _is_plain(self, path: RepoPath, item: Definition) -> bool:
        lines = self._snapshot.source(path).split(b"\n")
        text = b"\n".join(lines[item.span.start_line - 1 : item.name_line])
        start = text[item.span.start_column :]
        return not start.startswith(b"@") or not start[_plain_end(start) :].startswith(b"@")

    def _unfit(
        self, file: FileDiff, one: Change, was: Sequence[Parameter], now: Sequence[Parameter]
    ) -> Iterator[Broken]:
        assert one.after is not None, "BUG: a changed header is there"
        place, item = Place(file.path, one.after), one.definition
        refs, name = self._calls_of(place), item.name
        initializers = specs()[file.language].initializers
        if item.parent >= 0 and (item.kind == "constructor" or item.name in initializers):
            refs += self._calls_of(Place(file.path, item.parent))
            name = self._snapshot.definition(Place(file.path, item.parent)).name
        by_path: dict[RepoPath, list[RefFact]] = {}
        for ref in refs:
            by_path.setdefault(ref.path, []).append(ref)
        self.is_cut = self.is_cut or len(by_path) > _MOST_CALLING
        # Behind its class, a method is passed its receiver too.
        may_have_receiver = item.kind == "method" and not item.flags & FLAG_STATIC
        for path, some in list(by_path.items())[:_MOST_CALLING]:
            data = self._snapshot.source(path)
            offsets = {_compute_offset(data, ref): ref for ref in some}
            for offset, arguments in passed_at(self._language(path), data, offsets).items():
                others = [arguments]
                if may_have_receiver and arguments.positional:
                    others.append(arguments._replace(positional=arguments.positional - 1))
                if not misfit(was, arguments) and all(misfit(now, other) for other in others):
                    yield Broken(path, offsets[offset].line, name, misfit(now, arguments))

    def _calls_of(self, place: Place) -> list[RefFact]:
        return [
            ref
            for ref in self._snapshot.references.to(place)
            if ref.role is Role.CALL and ref.tier in _SURE and ref.target == (place,)
        ]

    def _language(self, path: RepoPath) -> str:
        facts = self._snapshot.require_facts(path)
        return facts.language


def _concerns_calls(one: Change) -> bool:
    return any(tag.startswith(("parameter", "default_removed")) for tag in one.tags)


def _parameters(facts: FileFacts, at: int) -> tuple[Parameter, ...] | None:
    item = facts.definitions[at]
    style = facts.spec.header
    if style is None or style.lenient:
        return None
    names = [bind.name for bind in facts.binds if bind.reason == Reason.PARAM and bind.scope == item.body]
    header = header_of(facts.language, item, names)
    return header.parameters if header is not None else None


def _plain_end(start: bytes) -> int:
    result = _PLAIN_DECORATORS.match(start)
    return result.end() if result is not None else 0


def _compute_offset(data: bytes, ref: RefFact) -> int:
    at = 0
    for _ in range(ref.line - 1):
        at = data.index(b"\n", at) + 1
    return at + ref.column
