"""Whose parameter or field a keyword names, in calls, literals and patterns."""

import re
from functools import cached_property
from typing import Final, Literal

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import descendants, is_class
from codeplane.languages import specs
from codeplane.languages.arguments import arguments
from codeplane.languages.facts import Occurrence, Role
from codeplane.names import Codebase, RefFact
from codeplane.names.meaning import is_external, known
from codeplane.refactor.holders import NAME, Holders
from codeplane.refactor.reflection.module_escape import stands_alone
from codeplane.refactor.rename_set import RenameSet

Owner = Literal["ours", "other", "open"]

KEYWORD: Final = "="
# Definitions that may hold any function.
VALUES: Final = frozenset(("variable", "constant", "field", "property"))
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_TAKEN: Final = (Role.READ, Role.WRITE)
_ASKED: Final = re.compile(r"\b(?:isinstance|issubclass|except|raise|instanceof)\b")


class Keywords:
    """The keywords of one name, told apart by what they are given to."""

    def __init__(self, snapshot: Codebase, rename_set: RenameSet) -> None:
        self._snapshot, self.rename_set = snapshot, rename_set
        self._receivers = snapshot.receivers
        self._holders = Holders(snapshot)
        self.names = {name for place in self.heads() for name in snapshot.references.names(place)}
        self._is_value: bool | None = None

    def owner(self, path: RepoPath, line: int, column: int) -> Owner:
        """Whose a keyword at a position is."""
        argument = self._holders.argument(path, line, column)
        if argument is None:
            is_told = self.rename_set.is_local or self.rename_set.functions
            return (
                "open" if self.rename_set.is_member or self.rename_set.embedders or not is_told else "other"
            )
        if argument.kind in ("macro", "loose"):
            return "open"
        if argument.holder is None:
            standing = self._snapshot.occurrence_at(path, line, column)
            return self._of_class_around(path, standing[1].scope) if standing else "open"
        standing = self._holders.called(path, argument)
        if argument.kind == "member":
            return self._of_matched(path, *standing) if standing is not None else "open"
        if standing is None:
            is_word = NAME.fullmatch(self._holders.text(path, argument)) is not None
            return "open" if is_word or self._makes_instances() or self.may_be_value() else "other"
        return self._of_called(path, *standing)

    def is_open(self, path: RepoPath, line: int, column: int) -> bool:
        """Whether a macro gives the name at a position its meaning."""
        return self._is(path, (line, column), "macro")

    def is_matched(self, path: RepoPath, line: int, column: int) -> bool:
        """Whether the name at a position is of a member that instances are compared by."""
        return self._is(path, (line, column), "member")

    def is_doubled(self, path: RepoPath, line: int, column: int) -> bool:
        """Whether the name at a position is given to what has any member that it is given: `Mock(load=…)`."""
        argument = self._holders.argument(path, line, column)
        if argument is None or argument.holder is None:
            return False
        name = NAME.search(self._holders.text(path, argument))
        return name is not None and name[0].decode() in specs()[self._language(path)].reflection.test_doubles

    def _is(self, path: RepoPath, at: tuple[int, int], kind: str) -> bool:
        argument = self._holders.argument(path, *at)
        return argument is not None and argument.kind == kind

    def splats(self, path: RepoPath) -> list[int]:
        """The lines of a file where a call of ours is given keywords that only run time knows."""
        lines = self._holders.lines(path)
        line_numbers = []
        for one in arguments(self._language(path), lines.data):
            standing = self._holders.called(path, one) if one.kind == "splat" else None
            if standing is not None and self._of_called(path, *standing) == "ours":
                line_numbers.append(lines.position(one.start)[0])
        return line_numbers

    def calling(self) -> set[RepoPath]:
        """The files with certain references to what takes the keywords."""
        heads = self.heads()
        refs = (ref for place in heads for ref in self._snapshot.structural_references.to(place))
        return {ref.path for ref in refs if heads.intersection(ref.target)}

    def heads(self) -> set[Place]:
        """What calls with keywords name: the functions, and the classes of constructors with their heirs."""
        heads = set(self.rename_set.functions)
        for place in self.rename_set.functions:
            parent = self._snapshot.definition(place).item.parent
            if self._is_initializer(place) and parent >= 0:
                owner = Place(place.path, parent)
                heirs = (one.place for one, _ in descendants(self._snapshot, owner))
                heads |= {owner, *(heir for heir in heirs if heir is not None)}
        return heads

    def _is_initializer(self, place: Place) -> bool:
        item = self._snapshot.definition(place).item
        return item.kind == "constructor" or item.name in specs()[self._language(place.path)].initializers

    def _makes_instances(self) -> bool:
        return any(map(self._is_initializer, self.rename_set.functions))

    def _language(self, path: str) -> str:
        facts = self._snapshot.facts(path)
        return facts.language if facts is not None else ""

    def _of_called(self, path: RepoPath, name: str, occurrence: Occurrence) -> Owner:
        if (
            name in specs()[self._language(path)].renaming.constructor_calls
            and occurrence.receiver
            and self._makes_instances()
        ):
            return self._of_made(path, occurrence)
        meaning = self._holders.meaning(path, name, occurrence)
        target = known(meaning.target)
        if meaning.tier in _CERTAIN and target:
            if is_external(target):
                return "open" if self.may_be_value() else "other"
            return self._of_target(target[0], target)
        spec = specs()[self._language(path)]
        if name in self.names or name in spec.scopes.self_parameters:
            return "open"
        if occurrence.receiver and name in spec.reflection.class_attributes and self._makes_instances():
            return "open"
        if self._is_builtin(path, name, occurrence):
            return "open" if self.rename_set.is_member else "other"
        return "open" if not self.rename_set.functions or self.may_be_value() else "other"

    def _of_matched(self, path: RepoPath, name: str, occurrence: Occurrence) -> Owner:
        """Of a class that instances are compared with: what they have by the name, however they are made."""
        if not self.rename_set.is_member:
            return "other"
        meaning = self._holders.meaning(path, name, occurrence)
        target = known(meaning.target)
        if meaning.tier not in _CERTAIN or not target or is_external(target):
            return "open"
        member = self._snapshot.classes.member(target, self.rename_set.name)
        return "ours" if self.rename_set.places.intersection(member) else self._other(member)

    def _of_made(self, path: RepoPath, occurrence: Occurrence) -> Owner:
        """Of a class that is asked for an instance: `Store.new`."""
        facts = self._snapshot.require_facts(path)
        receiver = facts.receivers[occurrence.receiver - 1]
        target = known(self._snapshot.written(path, occurrence.scope, receiver))
        is_known = bool(target) and not is_external(target) and is_class(self._snapshot, target[0])
        return self._of_class(target) if is_known else "open"

    def _is_builtin(self, path: RepoPath, name: str, occurrence: Occurrence) -> bool:
        outside = specs()[self._language(path)].types.builtins
        return not occurrence.receiver and not occurrence.target and name in outside

    def _of_target(self, place: Place, target: tuple[Place, ...]) -> Owner:
        if self.rename_set.functions.intersection(target):
            return "ours"
        if place.definition >= 0 and self._snapshot.definition(place).kind in VALUES:
            return "open" if not self.rename_set.functions or self.may_be_value() else "other"
        if place.definition < 0 or not is_class(self._snapshot, place):
            return "open" if self._passes_on(place) or self._takes_fields(place) else "other"
        return self._of_class(target)

    def _passes_on(self, place: Place) -> bool:
        """Whether a function takes any keyword, and may give it to ours, which is handed on."""
        if place.definition < 0 or not self.rename_set.functions:
            return False
        header = specs()[self._language(place.path)].header
        rest = header.named_rest if header is not None else ""
        takes_any = bool(rest) and rest in self._snapshot.definition(place).item.signature
        return takes_any and self.may_be_value()

    def _takes_fields(self, place: Place) -> bool:
        """Whether the keywords of a function are fields of ours: `**options: Unpack[Options]`.

        A function may hand them on to one whose parameters have these names, so the field and the keyword
        need not change together.
        """
        if place.definition < 0 or not self.rename_set.is_member:
            return False
        definition = self._snapshot.definition(place)
        type_name = definition.spec.types.unpacked_keywords(definition.item.signature)
        target = self._snapshot.written(place.path, definition.item.scope, type_name) if type_name else ()
        if not known(target) or is_external(target):
            return bool(type_name)
        return bool(
            self.rename_set.places.intersection(self._snapshot.classes.member(target, self.rename_set.name))
        )

    def _of_class_around(self, path: RepoPath, scope: int) -> Owner:
        facts = self._snapshot.require_facts(path)
        around = known(self._receivers.class_around(path, facts, scope))
        return self._of_class(around) if around else "open"

    def _of_class(self, owner: tuple[Place, ...]) -> Owner:
        """What a keyword names when an instance is made: a parameter of what makes it, or a field."""
        classes, spec = self._snapshot.classes, specs()[self._language(owner[0].path)]
        for name in spec.initializers:
            constructors = classes.member(owner, name)
            if constructors:
                is_ours = bool(self.rename_set.functions.intersection(constructors))
                is_open = not is_ours and any(
                    self._passes_on(one) or self._takes_fields(one) for one in known(constructors)
                )
                return "ours" if is_ours else "open" if is_open else self._other(constructors)
        own = self._constructors(owner)
        if own and self.rename_set.functions:
            return "ours" if self.rename_set.functions.intersection(own) else "other"
        member = classes.member(owner, self.rename_set.name)
        if self.rename_set.places.intersection(member) or self.rename_set.embedders.intersection(owner):
            return "ours"
        is_alias = self._snapshot.definition(owner[0]).kind == "type"
        return "open" if is_alias and not member else self._other(member)

    def _other(self, target: tuple[Place, ...]) -> Owner:
        return "other" if target == known(target) else "open"

    def _constructors(self, owner: tuple[Place, ...]) -> set[Place]:
        constructors = set()
        for place in owner:
            facts = self._snapshot.facts(place.path)
            items = enumerate(facts.definitions) if facts is not None else ()
            constructors |= {
                Place(place.path, at)
                for at, item in items
                if item.parent == place.definition and item.kind == "constructor"
            }
        return constructors

    def may_be_value(self) -> bool:
        """Whether what takes the keywords is handed on, or run by calls of something else, so that it may be
        called by any name."""
        if self._is_value is None:
            heads = sorted(self.heads())
            self._is_value = any(map(self._is_run_unnamed, heads)) or any(map(self.taking, heads))
        return self._is_value

    def is_of_class(self) -> bool:
        """Whether calls of a class or of its instances take the keywords, not those of a function."""
        return self._makes_instances() or any(map(self._is_run_unnamed, self.heads()))

    def _is_run_unnamed(self, place: Place) -> bool:
        item, spec = self._snapshot.definition(place).item, specs()[self._language(place.path)]
        return item.parent >= 0 and item.name in spec.renaming.call_operators

    @cached_property
    def is_taken(self) -> bool:
        """Whether the rename set is used other than by being called, so that it may be asked anything."""
        return any(self.taking(one) for one in self.rename_set.places)

    def taking(self, place: Place) -> list[RepoPath]:
        """The files where a function is used other than by being called."""
        refs = [
            ref
            for ref in self._snapshot.structural_references.to(place)
            if place in ref.target or not ref.target
        ]
        return sorted({ref.path for ref in refs if ref.role in _TAKEN and self._is_taken(ref)})

    def _is_taken(self, ref: RefFact) -> bool:
        lines = self._holders.lines(ref.path)
        size = len(ref.name.encode("utf-8", "surrogateescape"))
        return stands_alone(lines, (ref.line, ref.column, size)) and not _ASKED.search(lines.text(ref.line))
