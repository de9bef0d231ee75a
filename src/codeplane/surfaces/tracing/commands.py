"""Commands of the programs of a repository: what a person types, and the function that runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import EpochSlot
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names import Codebase
from codeplane.surfaces.calls import argument, full_name
from codeplane.surfaces.scope import own_files
from codeplane.surfaces.tracing.command_rules import CommandRule, command_rules
from codeplane.surfaces.tracing.scripts import scripts_of
from codeplane.surfaces.values import Evaluator, Located, Origin, Thing, ThingKind

_COMMANDS: Final[EpochSlot[None, list["Command"]]] = EpochSlot("commands")
_DEEPEST: Final = 8
_MOST_COMMANDS: Final = 5_000
_FUNCTIONS: Final = ("function", "method", "constructor")

_Owner = Place | Origin


class Command(NamedTuple):
    """One command: its words, and the function or file that runs."""

    words: tuple[str, ...]
    place: Place | None
    path: RepoPath
    line: int
    framework: str
    target: RepoPath | None = None

    @property
    def text(self) -> str:
        return " ".join(self.words)


class _Entry(NamedTuple):
    """A command or group as it is written, below an owner where it has one."""

    names: tuple[str, ...]  # spellings
    place: Place | None
    key: _Owner | None  # what others may be put below
    path: RepoPath
    line: int
    framework: str
    is_group: bool = False


@dataclass
class _Tree:
    """What stands below which owner."""

    below: dict[_Owner | None, list[_Entry]] = field(default_factory=dict)
    with_owner: set[_Owner] = field(default_factory=set)

    def add(self, owner: _Owner | None, entry: _Entry) -> None:
        self.below.setdefault(owner, []).append(entry)


def commands_of(code: Codebase) -> list[Command]:
    """Every command that can be found, by its words."""
    return code.once(_COMMANDS, None, lambda: _collect(code))


def commands_called(commands: Sequence[Command], text: str) -> list[Command]:
    """The commands that a text names: by all words, or by the last ones."""
    words = tuple(text.split())
    rows = [one for one in commands if one.words == words]
    if not rows:
        rows = [one for one in commands if one.words[-len(words) :] == words]
    if not rows and len(words) > 1:  # with the name of a program that isn't known
        rows = [one for one in commands if one.words == words[1:]]
    distinct = {(one.place, one.target): one for one in sorted(rows, key=lambda one: -len(one.words))}
    return list(distinct.values())


def _collect(code: Codebase) -> list[Command]:
    is_own, evaluator = own_files(code), Evaluator(code)
    tree = _Tree()
    commands: list[Command] = []
    for rule in command_rules():
        if rule.folder:
            commands += _of_folder(code, rule)
        for path in sorted(code.paths_with_any(list(rule.words))) if rule.words else ():
            facts = code.facts(path)
            if facts is not None and facts.language in rule.languages and is_own(path):
                _Reader(evaluator, rule, tree).read(path)
    programs: dict[_Owner, list[str]] = {}
    for script in scripts_of(code):
        commands.append(
            Command(tuple(script.name.split()), script.place, script.path, 0, "manifest", script.target)
        )
        owner = _owner_behind(evaluator, script.place) if script.place is not None else None
        if owner is not None:
            programs.setdefault(owner, []).append(script.name)
    commands += _named(tree, programs)
    unique = dict.fromkeys(one for one in commands if is_own(one.path))
    return sorted(unique, key=lambda one: (one.words, one.path, one.line))[:_MOST_COMMANDS]


def _owner_behind(evaluator: Evaluator, place: Place) -> _Owner | None:
    """The group that a program's entry point is: itself, or an object that a variable holds."""
    if evaluator.code.definition_kind(place) in _FUNCTIONS:
        return place
    sources = evaluator.assigned_values(place)
    thing = evaluator.evaluate(sources[0][0]) if len(sources) == 1 else None
    return thing.origin if thing is not None else None


def _named(tree: _Tree, programs: dict[_Owner, list[str]]) -> Iterator[Command]:
    """The commands with the names of the groups around them, outermost first."""
    roots: list[tuple[_Owner | None, tuple[str, ...]]] = [(None, ())]
    roots += [(owner, ()) for owner in tree.below if owner is not None and owner not in tree.with_owner]
    own = {entry.key for some in tree.below.values() for entry in some if entry.key is not None}
    for owner, words in roots:
        if owner is not None and owner in own and owner not in programs:
            continue
        for program in programs.get(owner, [""]) if owner is not None else [""]:
            yield from _below(tree, owner, (*words, *([program] if program else [])), 0)


def _below(tree: _Tree, owner: _Owner | None, words: tuple[str, ...], depth: int) -> Iterator[Command]:
    for entry in tree.below.get(owner, ()) if depth < _DEEPEST else ():
        for name in entry.names:
            inner = (*words, name) if name else words
            if inner and entry.place is not None:
                yield Command(inner, entry.place, entry.path, entry.line, entry.framework)
            if entry.key is not None and entry.key != owner:
                yield from _below(tree, entry.key, inner, depth + 1)


def _of_folder(code: Codebase, rule: CommandRule) -> Iterator[Command]:
    """Commands that are files in a folder: the class in each, and its method."""
    for path in code.layout.ordered:
        if f"/{rule.folder}/" not in f"/{path}" or path.rpartition("/")[2].startswith("_"):
            continue
        facts = code.facts(path)
        for number, item in enumerate(facts.definitions if facts is not None else ()):
            if item.name != rule.method or item.parent < 0 or facts is None:
                continue
            if facts.definitions[item.parent].name == rule.class_name:
                name = path.rpartition("/")[2].rpartition(".")[0]
                place = Place(RepoPath(path), number)
                yield Command((rule.program, name), place, RepoPath(path), item.name_line, rule.framework)


class _Reader:
    """Reads the commands of one file."""

    def __init__(self, evaluator: Evaluator, rule: CommandRule, tree: _Tree) -> None:
        self._evaluator, self._rule, self._tree = evaluator, rule, tree
        self._code = evaluator.code

    def read(self, path: RepoPath) -> None:
        rule = self._rule
        tails = {name.rpartition(".")[2] for name in (*rule.groups, *rule.commands)}
        aliases = {item.alias for item in self._code.require_facts(path).imports if item.name in tails}
        mounts = {mount.call: mount for mount in rule.mounts}
        for site in self._evaluator.sites(path).sites:
            name = site.value.text
            if site.kind is SiteKind.DECORATOR:
                if name in tails or name in aliases or name in (*rule.command_methods, *rule.group_methods):
                    self._read_decorator(path, site)
            elif site.kind is not SiteKind.CALL:
                continue
            elif name in mounts:
                self._read_mount(path, site, mounts[name].child, mounts[name].name)
            elif name in rule.parsers and site.name:
                self._read_parser(path, site)
            elif name in rule.handlers:
                self._read_chain(path, site)

    def _read_decorator(self, path: RepoPath, site: Site) -> None:
        rule, place = self._rule, self._evaluator.decorated_by(path, site)
        if place is None or self._code.definition_kind(place) not in _FUNCTIONS:
            return
        full = full_name(self._evaluator, Located(path, site.value))
        is_group = full in rule.groups or (
            full not in rule.commands and site.value.text in rule.group_methods
        )
        owner: _Owner | None = None
        if full not in rule.groups and full not in rule.commands:
            owner = self._owner_of(path, site.value.receiver)
            if owner is None:
                return
        names = self._names(path, site.value, place)
        line = self._evaluator.line_of(path, site.start)
        entry = _Entry(names, place, place, path, line, rule.framework, is_group)
        self._tree.add(owner, entry)
        if owner is not None:
            self._tree.with_owner.add(place)

    def _owner_of(self, path: RepoPath, receiver: Value | None) -> _Owner | None:
        """The group that a decorator is a method of."""
        if receiver is None:
            return None
        return self._owner_of_thing(self._evaluator.evaluate(Located(path, receiver)))

    def _owner_of_thing(self, thing: Thing) -> _Owner | None:
        if thing.kind is ThingKind.DEFINITION and thing.target[0].definition >= 0:
            place = thing.target[0]
            return place if self._code.definition_kind(place) in _FUNCTIONS else None
        if thing.kind is ThingKind.OBJECT and thing.origin is not None:
            names = {thing.text} if thing.text else set(self._evaluator.bases(thing.target[0]))
            return thing.origin if names & set(self._rule.owners) else None
        if thing.kind is ThingKind.EXTERNAL and thing.text in self._rule.owners:
            return Origin(RepoPath(thing.text), 0)
        return None

    def _names(self, path: RepoPath, call: Value, place: Place) -> tuple[str, ...]:
        """The name that is said, or those that a function's own may become."""
        choice = argument(Located(path, call), self._rule.name)
        text = self._evaluator.text(choice) if choice is not None else None
        if text:
            return (text.split()[0],) if text.split() else (text,)
        own = self._code.definition(place).name
        short = next((own[: -len(end)] for end in self._rule.suffixes if own.endswith(end)), own)
        return tuple(dict.fromkeys(name.replace("_", "-") for name in (own, short)))

    def _read_mount(self, path: RepoPath, site: Site, child: str, name: str) -> None:
        call_here = Located(path, site.value)
        choice = argument(call_here, child)
        owner = self._owner_of(path, site.value.receiver)
        below = self._owner_of_thing(self._evaluator.evaluate(choice)) if choice is not None else None
        if owner is None or below is None or owner == below:
            return
        self._tree.with_owner.add(below)
        line = self._evaluator.line_of(path, site.start)
        place = below if isinstance(below, Place) else None
        names = self._mounted_names(call_here, choice, name, below)
        self._tree.add(owner, _Entry(names, place, below, path, line, self._rule.framework, True))

    def _mounted_names(
        self, call: Located, child: Located | None, name: str, below: _Owner
    ) -> tuple[str, ...]:
        """The name that the mount says, else the one that the group or command has by itself."""
        label = argument(call, name) if name else None
        if label is None and child is not None and self._rule.owner_name:
            made_by = self._evaluator.evaluate(child).made_by
            label = argument(made_by, self._rule.owner_name) if made_by is not None else None
        text = self._evaluator.text(label) if label is not None else None
        if text:
            return (text,)
        own_entries = [entry for entry in self._tree.below.get(None, ()) if entry.key == below]
        return own_entries[0].names if own_entries else ("",)

    def _read_parser(self, path: RepoPath, site: Site) -> None:
        """`p = sub.add_parser("build")` with `p.set_defaults(func=build)` in the same function."""
        choice = argument(Located(path, site.value), self._rule.name)
        text = self._evaluator.text(choice) if choice is not None else None
        around = self._evaluator.definition_around(path, site.start)
        if not text:
            return
        for other in self._evaluator.sites(path).sites:
            receiver = other.value.receiver
            if other.kind is not SiteKind.CALL or other.value.text not in self._rule.defaults:
                continue
            is_same = receiver is not None and receiver.text == site.name and other.start > site.start
            if not is_same or self._evaluator.definition_around(path, other.start) != around:
                continue
            for item in other.value.arguments:
                thing = self._evaluator.evaluate(Located(path, item))
                place = thing.target[0] if thing.kind is ThingKind.DEFINITION else None
                if place is not None and self._code.definition_kind(place) in _FUNCTIONS:
                    line = self._evaluator.line_of(path, site.start)
                    self._tree.add(None, _Entry((text,), place, place, path, line, self._rule.framework))
            return

    def _read_chain(self, path: RepoPath, site: Site) -> None:
        """`program.command("build").action(build)`."""
        link = site.value.receiver
        while link is not None and link.kind is ValueKind.CALL and link.text not in self._rule.chain:
            link = link.receiver
        if link is None or link.kind is not ValueKind.CALL:
            return
        choice = argument(Located(path, link), self._rule.name)
        text = self._evaluator.text(choice) if choice is not None else None
        handler = site.value.argument(0)
        if not text or handler is None:
            return
        thing = self._evaluator.evaluate(Located(path, handler))
        place = thing.target[0] if thing.kind is ThingKind.DEFINITION else None
        if place is not None and self._code.definition_kind(place) in _FUNCTIONS:
            line = self._evaluator.line_of(path, site.start)
            self._tree.add(None, _Entry((text.split()[0],), place, place, path, line, self._rule.framework))
