"""Names across files: what an import brings, what a module shows, what a name means where it is not bound.

Every answer follows from facts and the language's module rules alone. What could mean several things, or
something outside the repository, means nothing here.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, TypeVar

from codeplane.core.kinds import CLASSES, SPACES, split_head, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.index.view.view import View
from codeplane.languages import LanguageSpec, specs
from codeplane.languages.facts import FLAG_MORE, Import, Reason, ScopeKind
from codeplane.languages.foreign import ForeignBind, ForeignImport, import_of
from codeplane.languages.modules import module_rules
from codeplane.names.classes import PATH, Classes
from codeplane.names.inference.construct import Construction
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, known
from codeplane.names.scopes import EnclosingScopes

_DEEPEST: Final = 60
_MOST_STARS: Final = 2_000
_IMPORT: Final = InterfaceSlot[tuple[str, int], Target]("what an import brings")
_NAME: Final = InterfaceSlot[tuple[Place, str], Target]("a name in a place")
_MODULES: Final = InterfaceSlot[str, set[Target]]("modules that a file names")
_HOLDERS: Final = InterfaceSlot[str, list[Target]]("classes with a member of a name")
_ABOVE_HOLDERS: Final = InterfaceSlot[str, set[Target]]("bases of classes with a member of a name")
_HOMES: Final = InterfaceSlot[str, set[tuple[str, ...]]]("namespaces with a function of a name")

K = TypeVar("K")


class ImportResolver:
    """Follows names through one view. Answers are kept; cycles of imports end."""

    def __init__(self, sources: View) -> None:
        self.sources = sources
        self.classes = Classes(self)
        self.making = Construction(self, self.classes)
        self.around = EnclosingScopes(self)
        self._answers = sources.memo
        self._running: dict[tuple[InterfaceSlot[Any, Target], Hashable], int] = {}
        self._lowest = _DEEPEST

    def spec(self, facts: ForeignFile) -> LanguageSpec:
        return facts.spec

    def imported(self, path: RepoPath, at: int) -> Target:
        """What an import of a file brings; for a star import, the module."""
        return self.once(_IMPORT, (path, at), lambda: self._imported(path, at))

    def module(self, path: RepoPath, text: str) -> Target:
        """The module that a dotted name in an import statement of a file means."""
        facts = self.sources.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        if facts is None or rules is None:
            return UNRESOLVED
        for item in facts.imports:
            if item.module == text or item.module.startswith(text + "."):
                import_item = import_of(item, text)
                return tuple(rules.places(self.sources, path, import_item))
        return UNRESOLVED

    def named_module(self, path: RepoPath, module: str, kind: str) -> Target:
        """The module that import statements of a kind mean by a source."""
        facts = self.sources.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        items = facts.imports if facts is not None else []
        item = next((item for item in items if (item.module, item.kind) == (module, kind)), None)
        return tuple(rules.places(self.sources, path, item)) if rules is not None and item else UNRESOLVED

    def modules(self, path: RepoPath) -> set[Target]:
        """The modules that the imports of a file name, and those on the way there."""
        answers = self._answers.table(_MODULES)
        if path not in answers:
            facts = self.sources.facts(path)
            texts = {item.module for item in facts.imports} if facts else set()
            paths = {".".join(text.split(".")[:at]) for text in texts for at in range(1, text.count(".") + 2)}
            answers[path] = {self.module(path, text) for text in paths if text}
        return answers[path]

    def lookup(self, places: Target, name: str) -> Target:
        """What a name means inside a module, package or class, seen from outside."""
        if places == AMBIGUOUS:
            return AMBIGUOUS
        targets = [self._name_in(place, name) for place in places]
        if any(targets):
            return self.single(targets)
        below = [submodule for place in places for submodule in self.submodule(place, name)]
        return tuple(sorted(set(below)))

    def lexical(self, path: RepoPath, scope: int, name: str) -> Target:
        """What a name means in a scope of a file, whatever the position."""
        facts = self.sources.facts(path)
        if facts is None:
            return UNRESOLVED
        around = self._scope_of(facts, scope, name)
        if around is not None:
            return self._bound_in(path, facts, around, name)
        return self.ambient(path, scope, name) or self.crate(path, scope, name)

    def binding_at(self, facts: ForeignFile, scope: int, name: str) -> int | None:
        """The bind that a name means in a scope of a file; -1 where there are several, None where none is."""
        around = self._scope_of(facts, scope, name)
        return facts.bound(around, name) if around is not None else None

    def _scope_of(self, facts: ForeignFile, scope: int, name: str) -> int | None:
        """The scope that binds what a name means in it or in one inside of it."""
        hides = self.spec(facts).scopes.members_visible != "nested"
        is_direct = True
        for at in self.outward(facts, scope):
            if facts.bound(at, name) is not None and (
                is_direct or not hides or facts.scopes.kind(at) != ScopeKind.CLASS
            ):
                return at
            is_direct = False
        return None

    def outward(self, facts: ForeignFile, scope: int) -> Iterator[int]:
        """The scopes that a name is looked up in, inner ones first."""
        has_islands = ScopeKind.NAMESPACE in self.spec(facts).scopes.opaque_scopes
        while scope >= 0:
            yield scope
            if has_islands and facts.scopes.kind(scope) == ScopeKind.NAMESPACE:
                return
            scope = facts.scopes.parent(scope)

    def crate(self, path: RepoPath, scope: int, name: str) -> Target:
        """What a path means that begins with a name that nothing around binds."""
        facts = self.sources.facts(path)
        if facts is None or not self.spec(facts).scopes.module_keywords:
            return UNRESOLVED
        return self.begun(path, Import(scope, "", name, "", "", 0, 0)) or UNRESOLVED

    def begun(self, path: RepoPath, item: ForeignImport) -> Target | None:
        """Where the first part of a path leads by the language's rules; None where it is a plain name."""
        facts = self.sources.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        places = rules.head(self.sources, path, item) if rules is not None else ()
        return tuple(places) if places is not None else None

    def followed(self, path: RepoPath, item: ForeignImport) -> Target:
        """What the module of an import means where that is a path of names, each in the one before."""
        facts = self.sources.facts(path)
        if facts is None:
            return UNRESOLVED
        head, rest = split_head(item.module, self.spec(facts).scopes.module_keywords)
        target = self.begun(path, import_of(item, head, item.name, item.alias))
        if target is None:
            target = self.lexical(path, item.scope, head)
        for name in rest:
            target = self.lookup(known(target), name)
        return target

    def written(self, path: RepoPath, scope: int, text: str) -> Target:
        """What a dotted name means in a scope of a file."""
        facts = self.sources.facts(path)
        if facts is not None and (between := self.spec(facts).scopes.namespace_separator) and between in text:
            return self._qualified(path, facts, scope, text)
        first, *rest = split_path(text)
        target = self.lexical(path, scope, first)
        for name in rest:
            target = self.lookup(known(target), name)
        return target

    def _qualified(self, path: RepoPath, facts: ForeignFile, scope: int, text: str) -> Target:
        rules = module_rules(facts.language)
        item = rules.qualified(self.sources, self.sources.space(path, scope), text) if rules else None
        if rules is None or item is None:
            return UNRESOLVED
        return self.lookup(tuple(rules.places(self.sources, path, item)), item.name)

    def bound(self, path: RepoPath, bind: ForeignBind | None) -> Target:
        """What a bind of a file stands for."""
        if bind is None or not bind.certain:
            return AMBIGUOUS
        if bind.reason == Reason.DEF_IN_SCOPE:
            return self.opened(self.grouped(Place(path, bind.target)))
        if bind.reason == Reason.IMPORT_ALIAS:
            return self.imported(path, bind.target) or AMBIGUOUS
        return AMBIGUOUS

    def _bound_in(self, path: RepoPath, facts: ForeignFile, scope: int, name: str) -> Target:
        """What a scope binds a name to; one thing for each name space that has it."""
        at = facts.bound(scope, name)
        if at is not None and at >= 0:
            return self.bound(path, facts.binds[at])
        several = facts.several(scope, name)
        if not several or any(not one.certain or one.reason != Reason.DEF_IN_SCOPE for one in several):
            return AMBIGUOUS
        return self._apart([Place(path, bind.target) for bind in several])

    def _apart(self, places: Sequence[Place]) -> Target:
        """Definitions of one name together, where each is in name spaces of its own."""
        spaces = [space for place in places for space in self._spaces(place)]
        facts = self.sources.facts(places[0].path)
        is_apart = facts is not None and self.spec(facts).surface == "exported"
        if not is_apart or len(spaces) > len(set(spaces)):
            return AMBIGUOUS
        return tuple(sorted(one for place in places for one in self.grouped(place)))

    def _spaces(self, place: Place) -> set[str]:
        facts = self.sources.facts(place.path)
        return (
            set(self.spec(facts).scopes.name_spaces.get(self.definition_kind(place), "v")) if facts else set()
        )

    def is_mixed(self, target: Target) -> bool:
        """Whether it is one name for things that no use of the name can mean all of."""
        return len(target) > 1 and not set.intersection(*map(self._spaces, target))

    def of_space(self, target: Target, spaces: str) -> Target:
        """Of a name for several things, those in some of the name spaces."""
        if not self.is_mixed(target):
            return target
        return tuple(place for place in target if self._spaces(place) & set(spaces))

    def grouped(self, place: Place) -> Target:
        """A definition with those that only add to it."""
        facts = self.sources.facts(place.path)
        return tuple(Place(place.path, at) for at in facts.group(place.definition)) if facts else (place,)

    def opened(self, target: Target) -> Target:
        """The file of a module that is only declared in a place; everything else is what it is."""
        if len(target) != 1 or target[0].definition < 0:
            return target
        facts = self.sources.facts(target[0].path)
        if facts is None or not self._is_declaration(facts, target[0].definition):
            return target
        item = facts.definitions[target[0].definition]
        around = self.sources.space(target[0].path, item.scope)
        return tuple(self.submodule(around, item.name)) or target

    def ambient(self, path: RepoPath, scope: int, name: str) -> Target:
        """What a name means that no scope around it binds."""
        facts = self.sources.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        if facts is None or rules is None:
            return UNRESOLVED
        member = self.around.inherited(path, facts, scope, name)
        if member:
            return member
        spec = self.spec(facts)
        if spec.scopes.closed_names and re.fullmatch(spec.scopes.closed_names, name):
            return UNRESOLVED
        place = self.sources.space(path, scope)
        for far, group in enumerate(rules.ambient(self.sources, place)):
            target = self.single([self._name_in(one, name) for one in group])
            if far and spec.scopes.fallback_kinds and not self._are_far(known(target), spec):
                continue
            if target:
                is_hidden = (
                    far
                    and spec.scopes.star_imports_hide
                    and self.around.may_bring(path, facts, (scope, 0), name)
                )
                return AMBIGUOUS if is_hidden else target
        stars = [at for at in facts.stars if self._sees(facts, scope, facts.imports[at].scope)]
        return self.starred(path, stars, name)

    def _are_far(self, target: Target, spec: LanguageSpec) -> bool:
        return all(self.definition_kind(place) in spec.scopes.fallback_kinds for place in target)

    def starred(self, path: RepoPath, stars: Sequence[int], name: str) -> Target:
        """What star imports bring under a name. Each module is asked once, however they import each other."""
        targets: list[Target] = []
        waiting = [(path, at) for at in stars]
        visits = {self._home(path, at) for at in stars}
        for _ in range(_MOST_STARS):
            if not waiting:
                return self.single(targets)
            from_path, at = waiting.pop(0)
            facts = self.sources.require_facts(from_path)
            module = self.imported(from_path, at)
            if not known(module):
                # All of what it brings is unknown; where later names replace earlier ones, nothing is sure.
                if self.spec(facts).scopes.star_imports_rebind:
                    targets.append(AMBIGUOUS)
                continue
            for place in module:
                if place in visits:
                    continue
                visits.add(place)
                more = self._star_of(place, name)
                if isinstance(more, list):
                    waiting += [(place.path, star) for star in more]
                else:
                    targets.append(more)
        return AMBIGUOUS

    def _home(self, path: RepoPath, at: int) -> Place:
        """Whose names have been asked for before those of a star import count."""
        facts = self.sources.require_facts(path)
        has_islands = ScopeKind.NAMESPACE in self.spec(facts).scopes.opaque_scopes
        return self.sources.space(path, facts.imports[at].scope) if has_islands else Place(path)

    def single(self, found: Sequence[Target]) -> Target:
        """The one thing that all answers mean, or AMBIGUOUS where they differ."""
        distinct = {target for target in found if target}
        if len(distinct) <= 1:
            return next(iter(distinct), UNRESOLVED)
        places = sorted({place for target in distinct for place in target})
        return tuple(places) if self._are_merged(places) else AMBIGUOUS

    def once(self, slot: InterfaceSlot[K, Target], key: K, find: Callable[[], Target]) -> Target:
        """The answer to a question, found once. One that is asked again while it is being answered has none;
        what was answered on the way there is not kept."""
        answers = self._answers.table(slot)
        answer = answers.get(key)
        if answer is not None:
            return answer
        question = (slot, key)
        depth = self._running.get(question, 0 if len(self._running) >= _DEEPEST else -1)
        if depth >= 0:
            self._lowest = min(self._lowest, depth)
            return AMBIGUOUS
        depth = len(self._running)
        self._running[question] = depth
        try:
            answer = find()
        finally:
            del self._running[question]
        if self._lowest >= depth:
            answers[key] = answer
            self._lowest = _DEEPEST
        return answer

    def holders(self, name: str) -> list[Target]:
        """The classes that define a member of this name."""
        answers = self._answers.table(_HOLDERS)
        if name not in answers:
            places = self.sources.held(name)
            answers[name] = [(place,) for place, kind in places if kind in CLASSES]
        return answers[name]

    def above_holders(self, name: str) -> set[Target]:
        """The classes that a class with a member of this name is derived from."""
        answers = self._answers.table(_ABOVE_HOLDERS)
        if name not in answers:
            answers[name] = {
                one for holder in self.holders(name) for one in self.classes.order(holder) if one != holder
            }
        return answers[name]

    def homes(self, name: str) -> set[tuple[str, ...]]:
        """The namespaces that have a function of this name."""
        answers = self._answers.table(_HOMES)
        if name not in answers:
            places = [
                one for one in self.sources.definitions(name) if self.definition_kind(one) == "function"
            ]
            answers[name] = {self._names_around(place) for place in places}
        return answers[name]

    def _names_around(self, place: Place) -> tuple[str, ...]:
        """The names of the definitions that a definition stands in, outer ones last."""
        facts = self.sources.facts(place.path)
        names: list[str] = []
        at = facts.definitions[place.definition].parent if facts else -1
        while facts and at >= 0:
            names.append(facts.definitions[at].name)
            at = facts.definitions[at].parent
        return tuple(names)

    def definition_kind(self, place: Place) -> str:
        facts = self.sources.facts(place.path) if place.definition >= 0 else None
        return facts.definitions.kind(place.definition) if facts else ""

    def _imported(self, path: RepoPath, at: int) -> Target:
        facts = self.sources.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        if facts is None or rules is None:
            return UNRESOLVED
        item = facts.imports[at]
        if self.spec(facts).scopes.module_keywords:
            target = self.followed(path, item) if item.certain else UNRESOLVED
            return target if item.name in ("", "*") else self.lookup(known(target), item.name)
        places = tuple(rules.places(self.sources, path, item)) if item.certain else UNRESOLVED
        if not places or item.name in ("", "*"):
            return places
        if places == (Place(path),):
            # A package that imports from itself cannot mean the name that this very statement binds.
            return tuple(self.submodule(places[0], item.name))
        return self.lookup(places, item.name)

    def submodule(self, place: Place, name: str) -> Sequence[Place]:
        """The module of a name inside of another one, whatever that other one binds."""
        language = self._language(place.path)
        rules = module_rules(language) if language else None
        return rules.submodule(self.sources, place, name) if rules is not None else ()

    def _language(self, path: RepoPath) -> str:
        """The language of a file, or of the files in a directory (`dir/`) that is a module by itself."""
        if not path.endswith("/"):
            facts = self.sources.facts(path)
            return facts.language if facts else ""
        return next((spec.name for spec in specs().values() if spec.scopes.namespace_packages), "")

    def _name_in(self, place: Place, name: str) -> Target:
        return self.once(_NAME, (place, name), lambda: self._find_in(place, name))

    def _find_in(self, place: Place, name: str) -> Target:
        direct = self._direct(place, name)
        if direct:
            return direct
        facts = self.sources.facts(place.path)
        if facts is None:
            return UNRESOLVED
        return self.starred(place.path, self._passed_on(place, facts), name)

    def _passed_on(self, place: Place, facts: ForeignFile) -> list[int]:
        """The star imports whose names the place shows as its own."""
        surface = self.spec(facts).surface
        if surface == "defined":
            return []
        scope = 0 if place.definition < 0 else facts.definitions[place.definition].body
        stars = [at for at in facts.stars if facts.imports[at].scope == scope]
        return stars if surface != "exported" else [at for at in stars if facts.imports[at].reexport]

    def _star_of(self, place: Place, name: str) -> Target | list[int]:
        """What a star import of a place brings under a name; where the place only passes it on, by which."""
        facts = self.sources.facts(place.path)
        if facts is None or (place.definition < 0 and self._is_kept_back(facts, name)):
            return []
        return self._direct(place, name) or self._passed_on(place, facts)

    def _is_kept_back(self, facts: ForeignFile, name: str) -> bool:
        """Whether a star import leaves a name out: not in the list of a module that has one, or private."""
        if self.spec(facts).surface != "bound":
            return name == "default"
        export_list = [item for item in facts.exports if item.evidence == "all_literal"]
        if export_list:
            return name not in facts.exported or facts.exported[name][0].evidence != "all_literal"
        return name.startswith("_")

    def _direct(self, place: Place, name: str) -> Target:
        """What a place itself says about a name, star imports aside."""
        facts = self.sources.facts(place.path)
        if facts is None:
            return UNRESOLVED
        if place.definition >= 0:
            return self._in_definition(place, facts, name)
        surface = self.spec(facts).surface
        if surface == "bound":
            return (
                UNRESOLVED if facts.bound(0, name) is None else self.bound(place.path, facts.named(0, name))
            )
        if surface == "exported":
            return self._in_exports(place.path, facts, name)
        return self.defined(place, facts, name)

    def _in_definition(self, place: Place, facts: ForeignFile, name: str) -> Target:
        item = facts.definitions[place.definition]
        if item.kind in CLASSES:
            return self.classes.member((place,), name, want=PATH)
        if item.kind not in SPACES:
            return UNRESOLVED
        if item.body >= 0 and (bind := facts.named(item.body, name)) and bind.reason == Reason.IMPORT_ALIAS:
            return self.bound(place.path, bind)
        return self.defined(place, facts, name)

    def defined(self, place: Place, facts: ForeignFile, name: str) -> Target:
        """The definition of a name directly in a place. One that only declares a module leaves it to the
        module's file."""
        indices = facts.inside(place.definition, name)
        if place.definition < 0 or facts.definitions[place.definition].kind in SPACES:
            # A method that stands outside of its type is no name of the place where it stands.
            indices = [at for at in indices if not facts.definitions[at].owner]
        if not indices:
            return UNRESOLVED
        bodies = [at for at in indices if not self._is_declaration(facts, at)]
        if not bodies:
            return UNRESOLVED if self.submodule(place, name) else (Place(place.path, indices[0]),)
        places = [Place(place.path, at) for at in bodies]
        if len(places) == 1:
            scope = facts.definitions[bodies[0]].scope
            bind = facts.bound(scope, name)
            is_unsure = bind is not None and (bind < 0 or not facts.binds[bind].certain)
            return AMBIGUOUS if is_unsure else self.grouped(places[0])
        return tuple(places) if self._are_merged(places) else self._apart(places)

    def _is_declaration(self, facts: ForeignFile, at: int) -> bool:
        item = facts.definitions[at]
        return item.kind in SPACES and item.body < 0

    def _in_exports(self, path: RepoPath, facts: ForeignFile, name: str) -> Target:
        targets: list[Target] = []
        for export in facts.exported.get(name, ()):
            if not export.certain:
                return AMBIGUOUS
            if export.local:
                targets.append(self._local(path, facts, export.local))
        for at, item in enumerate(facts.imports):
            if item.reexport and item.name != "*" and (item.alias or item.name) == name:
                targets.append(self.imported(path, at) or AMBIGUOUS)
        return self.single(targets)

    def _local(self, path: RepoPath, facts: ForeignFile, name: str) -> Target:
        if facts.bound(0, name) is not None:
            return self._bound_in(path, facts, 0, name)
        return self.defined(Place(path), facts, name) or AMBIGUOUS

    def _are_merged(self, places: Sequence[Place]) -> bool:
        """Whether several definitions of one name are one thing: a namespace, a reopened class."""
        for place in places:
            facts = self.sources.facts(place.path)
            if facts is None or place.definition < 0:
                return False
            item = facts.definitions[place.definition]
            is_part = item.kind in CLASSES and item.flags & FLAG_MORE
            if not is_part and item.kind not in self.spec(facts).scopes.reopened_kinds:
                return False
        return True

    def _sees(self, facts: ForeignFile, scope: int, outer: int) -> bool:
        return any(one == outer for one in self.outward(facts, scope))
