"""What the fields of classes hold by the values that their classes give them, where none says its type."""

import re
from collections.abc import Mapping

from codeplane.languages.extraction.binds import Binder
from codeplane.languages.facts import MADE, OTHER_TYPE, Reason, ScopeKind

_OTHER = OTHER_TYPE.encode()
_GET = b"get "
_NOTHING = b""  # no value that has members
_FIELDS = ("field", "variable", "constant")
_CLASS = ScopeKind.CLASS


class FieldTypes:
    """The one class of all values that a field is given in its file, gathered value by value."""

    def __init__(self, binder: Binder) -> None:
        self.binder = binder
        self.outline = binder.outline
        self._classes: dict[int, bytes] = {}  # draft of a field → the class, _NOTHING so far, or _OTHER
        nothing = binder.spec.types.none_value
        self._is_nothing = re.compile(nothing.encode()).match if nothing else None
        self._is_first = binder.spec.types.field_inference == "first"

    def begin(self, members: Mapping[int, Mapping[bytes, int]]) -> None:
        """Takes the values that classes give to fields where they stand in them."""
        if not self.binder.spec.types.field_inference:
            return
        for bind in self.binder.made_in_class:
            field = members.get(self.binder.body_of.get(bind.scope, -1), {}).get(bind.name, -1)
            self._add_value(field, _NOTHING)
        values = self.binder.member_values
        for at, draft in enumerate(self.outline.drafts) if values else ():
            if draft.name[0] in values and draft.parent >= 0:
                self.make(at, *draft.name, draft.scope)

    def make(self, at: int, start: int, end: int, scope: int) -> None:
        """Takes the value of a member that is a field from there on."""
        self._classes[at] = self._class_of_value(start, end, scope)

    def give(self, at: int, start: int, end: int, scope: int) -> None:
        """Takes one more value of a field, given to the member that stands from `start` to `end`."""
        self._add_value(at, self._class_of_value(start, end, scope))

    def change(self, at: int) -> None:
        """Takes note of a field that gets a value in some other way: `self.x += 1`."""
        self._add_value(at, _OTHER)

    def say(self) -> None:
        """Tells fields without a declared type what they hold."""
        for at, name in self._classes.items():
            draft = self.outline.drafts[at]
            if name not in (_NOTHING, _OTHER) and not draft.annotation:
                draft.annotation = name.decode("utf-8", "surrogateescape") + MADE

    def _add_value(self, at: int, value: bytes) -> None:
        if at < 0 or self.outline.drafts[at].kind not in _FIELDS:
            return
        before = self._classes[at] if at in self._classes else self._first_value(at)
        is_same = self._is_first or value in (_NOTHING, before)
        self._classes[at] = before if is_same else _OTHER if before else value

    def _first_value(self, at: int) -> bytes:
        """What the class itself gives to a field."""
        draft = self.outline.drafts[at]
        target = self.binder.tables[draft.scope].get(self.binder.data[slice(*draft.name)], 0)
        bind = self.binder.binds[target - 1] if target else None
        if bind is None or bind.count > 1 or bind.annotations:
            return _OTHER
        if len(bind.made) == 1:
            return self._seen_around(bind.made[0], draft.scope)
        return _NOTHING if self._is_nothing and self._is_nothing(self.binder.data, draft.name[1]) else _OTHER

    def _class_of_value(self, start: int, end: int, scope: int) -> bytes:
        """The class of what is given to the member that stands from `start` to `end`."""
        capture, text = self.binder.member_values.get(start, ("", b""))
        if not capture:
            is_nothing = self._is_nothing and self._is_nothing(self.binder.data, end)
            return _NOTHING if is_nothing else _OTHER
        if capture == "made.read":
            return self._class_of_attribute(text.removeprefix(_GET), scope)
        return self._seen_around(
            text if capture == "made" else self._declared_parameter_type(text, scope), scope
        )

    def _class_of_attribute(self, text: bytes, scope: int) -> bytes:
        """An attribute of a parameter, as one of an instance of the class that this is declared as."""
        first, _, rest = text.partition(b".")
        class_name = self._seen_around(self._declared_parameter_type(first, scope), scope)
        return _OTHER if class_name == _OTHER else b"%b%b%b.%b" % (_GET, class_name, MADE.encode(), rest)

    def _declared_parameter_type(self, name: bytes, scope: int) -> bytes:
        """The declared type of a parameter that is never given another value."""
        while scope >= 0 and name not in self.binder.tables[scope]:
            scope = self.outline.parents[scope]
        target = self.binder.tables[scope][name] if scope >= 0 else 0
        bind = self.binder.binds[target - 1] if target else None
        if bind is None or bind.reason is not Reason.PARAM or bind.count > 1 or len(bind.annotations) != 1:
            return _OTHER
        return bind.annotations[0]

    def _seen_around(self, text: bytes, scope: int) -> bytes:
        """The name of a class as written in a scope, where it means the same around the class there."""
        text = b"".join(text.split())
        last = text.rpartition(b".")[2].decode("utf-8", "surrogateescape")
        if not self.binder.spec.types.reads_annotations and not re.match(self.binder.spec.constructor, last):
            return _OTHER
        first = text.partition(b".")[0].removesuffix(b"()")
        while scope >= 0 and first not in self.binder.tables[scope]:
            if self.outline.kinds[scope] is _CLASS:
                return text
            scope = self.outline.parents[scope]
        return _OTHER
