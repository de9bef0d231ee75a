"""What a call gives: an instance of the class that is called, or of what a function says that it returns."""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages.facts import FLAG_ASYNC, MADE, Reason, ScopeKind
from codeplane.languages.foreign import ForeignDefinition
from codeplane.names.imports import ImportResolver
from codeplane.names.inference.receiver import Receivers
from codeplane.names.meaning import NO_VALUE, UNRESOLVED, Target, Value, known

if TYPE_CHECKING:
    from codeplane.names.inference.values import Values

_READABLE: Final = re.compile(r"[\w$]+(?:\(\))?(?:(?:\.|::|->|\\)#?[\w$]+(?:\(\))?)*\Z")
_FUNCTIONS: Final = ("function", "method")
_RESULT: Final = InterfaceSlot[tuple[str, int, int, str, bool], Target]("result of a call")
_HELD: Final = InterfaceSlot[tuple[str, int, int, str], Target]("class of an attribute that is read")
_AWAIT: Final = "await"
_ASYNC: Final = "async "
_GET: Final = "get"


class _Code(NamedTuple):
    """Where an expression stands."""

    path: RepoPath
    facts: ForeignFile
    scope: int


class Results:
    """Follows calls, and the names that stand before what is called."""

    def __init__(self, linker: ImportResolver, receivers: Receivers, values: "Values") -> None:
        self._linker = linker
        self._receivers = receivers
        self._values = values
        self._sources = linker.sources

    def of(self, path: RepoPath, scope: int, text: str) -> Value:
        """What an expression gives that ends with a call: `f()`, `await f()`, `with f()`; `get x.y()` reads
        an attribute."""
        facts = self._sources.facts(path)
        way, _, call = text.rpartition(" ")
        call = call.replace("?.", ".")
        if facts is None or not _READABLE.match(call):
            return NO_VALUE
        if way == _GET:
            return self._read(_Code(path, facts, scope), call.removesuffix(MADE))
        value = self._called(_Code(path, facts, scope), call.removesuffix(MADE), way == _AWAIT)
        method = self._linker.spec(facts).types.context_managers.get(way, "")
        return self._entered(path, value, method, way.startswith(_ASYNC)) if method else value

    def expression(self, path: RepoPath, scope: int, text: str) -> Value:
        """What names and calls behind each other stand for, wherever in a scope."""
        facts = self._sources.facts(path)
        text = text.replace("?.", ".")
        if facts is None or not _READABLE.match(text):
            return NO_VALUE
        return self._expression(_Code(path, facts, scope), text)

    def _called(self, code: _Code, function: str, is_awaited: bool = False) -> Value:
        if self._is_early(code, function):
            return NO_VALUE
        instance = self._values.made(code.facts, self._values.constructed(code.path, code.scope, function))
        if instance.target:
            return NO_VALUE if is_awaited else instance._replace(is_declared=False)
        key = (code.path, code.facts.blob, code.scope, function, is_awaited)
        return_type = known(
            self._linker.once(_RESULT, key, lambda: self._returned(code, function, is_awaited))
        )
        return self._values.declared(return_type)

    def _read(self, code: _Code, text: str) -> Value:
        """The instance that an attribute holds, by the declared types of what it is an attribute of."""
        if self._is_early(code, text):
            return NO_VALUE
        key = (code.path, code.facts.blob, code.scope, text)
        return self._values.declared(known(self._linker.once(_HELD, key, lambda: self._held(code, text))))

    def _held(self, code: _Code, text: str) -> Target:
        value = self._expression(code, text)
        return value.target if value.is_instance else UNRESOLVED

    def _is_early(self, code: _Code, function: str) -> bool:
        """Whether code of a file or of its classes may run before the file binds the name that is called: it
        is built in until then, or what a star import brings."""
        spec, scope, first = self._linker.spec(code.facts), code.scope, split_path(function)[0]
        while scope > 0 and code.facts.scopes.kind(scope) == ScopeKind.CLASS:
            scope = code.facts.scopes.parent(scope)
        is_brought = first in spec.types.builtins or (
            spec.scopes.star_imports_rebind and bool(code.facts.stars)
        )
        return is_brought and scope == 0 and code.facts.bound(0, first) is not None

    def _returned(self, code: _Code, function: str, is_awaited: bool) -> Target:
        owner, target = self._function(code, function)
        return self._said(target, owner, is_awaited)

    def _entered(self, path: RepoPath, value: Value, method: str, is_async: bool) -> Value:
        """What is got from a value by entering it."""
        if not value.target or not value.is_instance:
            return NO_VALUE
        methods = known(self._values.inside(path, value, method, is_called=True))
        said = self._said(methods, value, is_async)
        return self._values.declared(said)

    def _function(self, code: _Code, text: str) -> tuple[Value, Target]:
        """What is called, and the value that it is a member of."""
        head, dot, name = text.rpartition(".")
        if not dot:
            return NO_VALUE, known(self._linker.lexical(code.path, code.scope, name))
        value = self._expression(code, head)
        if self._is_open(code, head, value, name):
            return NO_VALUE, UNRESOLVED
        return value, known(self._values.inside(code.path, value, name, is_called=True))

    def _expression(self, code: _Code, text: str) -> Value:
        if text.endswith(MADE):
            return self._called(code, text.removesuffix(MADE))
        head, dot, name = text.rpartition(".")
        if dot:
            value = self._expression(code, head)
            is_open = self._is_open(code, head, value, name)
            return NO_VALUE if is_open else self._values.held(self._values.inside(code.path, value, name))
        spec = self._linker.spec(code.facts)
        if name in spec.scopes.self_keywords or name in spec.scopes.class_keywords:
            return self._receiver(code)
        at = self._linker.binding_at(code.facts, code.scope, name)
        if at is None:
            return self._values.typed(self._linker.lexical(code.path, code.scope, name))
        return self._values.of_bind(code.path, code.facts, at) if at >= 0 else NO_VALUE

    def _receiver(self, code: _Code) -> Value:
        spec = self._linker.spec(code.facts)
        if spec.scopes.methods_apart or spec.scopes.inherited_before_file:
            return NO_VALUE
        owner = self._receivers.class_around(code.path, code.facts, code.scope)
        is_type = spec.scopes.static_members_apart and self._receivers.is_in_static(code.facts, code.scope)
        return Value(owner, is_instance=not is_type)

    def _is_open(self, code: _Code, head: str, value: Value, name: str) -> bool:
        """Whether a member may be another one: of a type that the code asks for, or written apart."""
        is_apart = self._linker.spec(code.facts).types.is_mangled(name)
        checks = self._values.narrowing.asked(code.path, code.facts).get(head)
        return is_apart or self._values.is_narrowed(code.path, value, name, checks)

    def _said(self, function: Target, owner: Value, is_awaited: bool) -> Target:
        """The class of what a function says that it returns."""
        facts = self._sources.facts(function[0].path) if len(function) == 1 else None
        if facts is None or function[0].definition < 0:
            return UNRESOLVED
        place, item = function[0], facts.definitions[function[0].definition]
        said = self.returned(facts, item, is_awaited) if item.kind in _FUNCTIONS else ""
        if not said or len(self._linker.grouped(place)) > 1 or not self._keeps(place, facts, item):
            return UNRESOLVED
        if self._is_own(facts, item, said):
            return owner.target
        if self._is_parameter(facts, item, split_path(said)[0]):
            return UNRESOLVED
        return self._values.said(place.path, item.scope, said).target

    def _is_parameter(self, facts: ForeignFile, item: ForeignDefinition, name: str) -> bool:
        """Whether a name in the type of a function is a parameter that the function is written for."""
        if name in facts.parameters.get(item.body, ()):
            return True
        pattern = rf"[<\[,]\s*(?:const\s+)?{re.escape(name)}\b[^()]*[>\]]\s*\("
        return re.search(pattern, item.signature) is not None

    def returned(self, facts: ForeignFile, item: ForeignDefinition, is_awaited: bool = False) -> str:
        """The declared type of what a function returns."""
        spec = self._linker.spec(facts)
        find = spec.types.awaited_type if is_awaited else spec.types.returned_type
        if not spec.types.reads_annotations or (item.flags & FLAG_ASYNC and not is_awaited):
            return ""
        if is_awaited and self._linker.binding_at(facts, item.scope, spec.types.promise) is not None:
            return ""
        return find(item.signature, facts.full_names)

    def _is_own(self, facts: ForeignFile, item: ForeignDefinition, said: str) -> bool:
        """Whether a method returns the type of its receiver: it says so, or has both as one variable."""
        spec = self._linker.spec(facts)
        first, dot, rest = said.partition(".")
        if facts.full_names.get(first, first) + dot + rest in spec.types.self_types:
            return True
        names = "|".join(map(re.escape, spec.scopes.self_parameters))
        annotation = re.search(rf"\(\s*(?:{names})\s*:\s*([\w.]+)\s*[,)]", item.signature) if names else None
        return annotation is not None and annotation[1] == said and self._is_variable(facts, said)

    def _is_variable(self, facts: ForeignFile, said: str) -> bool:
        """Whether a name stands for any type: `T = TypeVar("T")`."""
        bind = facts.named(0, said)
        constructor = bind.type_name.removesuffix(MADE) if bind is not None else ""
        return self._full(facts, 0, constructor) in self._linker.spec(facts).types.type_variables

    def _keeps(self, place: Place, facts: ForeignFile, item: ForeignDefinition) -> bool:
        """Whether a call of the name gives what the function returns, in spite of its decorators."""
        preserving = self._linker.spec(facts).types.type_preserving_decorators
        texts = self._sources.decorators(place) if preserving is not None else ()
        return preserving is None or all(self._full(facts, item.scope, text) in preserving for text in texts)

    def _full(self, facts: ForeignFile, scope: int, text: str) -> str:
        """The full name of something that is no part of the repository, or ""."""
        first, dot, rest = text.partition(".")
        for one in (scope, 0):
            bind = facts.named(one, first)
            is_import = bind is not None and bind.certain and bind.reason == Reason.IMPORT_ALIAS
            if not is_import and facts.bound(one, first) is not None:
                return ""
        return facts.full_names.get(first, first) + dot + rest
