"""What selectors of rules mean in a call."""

from typing import Final

from codeplane.languages.sites import Value, ValueKind
from codeplane.surfaces.rule import selector
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_GETTERS: Final = frozenset({"get", "getOrThrow", "join", "concat", "replace", "toString", "trim"})
_GLOBALS: Final = frozenset({"process", "globalThis", "global"})


class Arguments:
    """Finds arguments of calls by selectors."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def value(self, call: Located, text: str) -> Located | None:
        """The argument that a selector means."""
        path, value, environment = call
        for part in selector(text):
            item: Value | None = None
            if part.startswith("kw."):
                item = value.keyword_argument(part[3:])
            elif part.startswith("arg"):
                number, _, key = part[3:].partition(".")
                item = value.argument(int(number))
                if item is not None and key:
                    member = self._member(Located(path, item, environment), key)
                    if member is not None:
                        return member
                    continue
            elif part.startswith("/arg"):
                first = value.argument(int(part[4:]))
                slash = Value(ValueKind.TEXT, "/")
                item = Value(ValueKind.CONCAT, items=(slash, first)) if first is not None else None
            elif part.startswith("rest"):
                positional = [one for one in value.arguments if not one.keyword]
                item = Value(ValueKind.LIST, items=tuple(positional[int(part[4:]) :]))
            elif part.startswith("'"):
                item = Value(ValueKind.TEXT, part.strip("'"))
            elif part == "text0":
                item = self._leading_text(call)
            elif part.startswith("text"):
                item = value.argument(int(part[4:]))
                is_text = (
                    item is not None and self.evaluator.text(Located(path, item, environment)) is not None
                )
                item = item if is_text else None
            elif part == "receiver":
                item = value.receiver
            elif part == "last":
                item = value.arguments[-1] if value.arguments else None
                while item is not None and item.kind is ValueKind.LIST and item.items:
                    item = item.items[-1]
            if item is not None:
                return Located(path, item, environment)
        return None

    def _leading_text(self, call: Located) -> Value:
        """The path before what is mounted: no text where the first argument is mounted or called itself."""
        path, value, environment = call
        nothing, first = Value(ValueKind.TEXT, ""), value.argument(0)
        if first is None or first.kind in (ValueKind.TEXT, ValueKind.CONCAT):
            return first or nothing
        leading_value = Located(path, first, environment)
        if first.kind is ValueKind.LIST:
            texts = self.texts(Located(path, Value(ValueKind.CALL, items=(first,)), environment), "arg0")
            return first if texts else nothing
        if self.evaluator.text(leading_value) is not None:
            return first
        if value.argument(1) is None:
            return nothing
        return first if self._may_be_text(leading_value) else nothing

    def _may_be_text(self, located: Located) -> bool:
        """Whether a value of which nothing is known may be a path rather than a function that is called."""
        value = located.value
        if value.kind is ValueKind.CALL:  # `config.get("prefix")`, where `cors()` gives a function
            return value.text in _GETTERS
        if value.kind not in (ValueKind.NAME, ValueKind.MEMBER):
            return False
        thing = self.evaluator.evaluate(located)
        if thing.kind is ThingKind.EXTERNAL:
            head = thing.text.partition(".")[0]
            is_import = head not in _GLOBALS and value.text.partition(".")[0] != head
            return "()" in thing.text or not (is_import or self._is_imported(located))
        if thing.kind is not ThingKind.UNKNOWN:
            return False
        source = self.evaluator.source_of(located) if value.kind is ValueKind.NAME else None
        is_call = source is not None and source.value.kind is ValueKind.CALL
        is_function = source is not None and source.value.kind is ValueKind.FUNCTION
        is_getter = source is not None and is_call and source.value.text in _GETTERS
        return is_getter or not (is_call or is_function)

    def _is_imported(self, located: Located) -> bool:
        facts = self.evaluator.code.facts(located.path)
        root = located.value.text.partition(".")[0]
        return facts is not None and any(item.alias == root for item in facts.imports)

    def _member(self, located: Located, key: str) -> Located | None:
        """The value of a key of a mapping, straight or behind a name."""
        if located.value.kind is ValueKind.MAPPING:
            return self.evaluator.mapping_item(located, key)
        made_by = self.evaluator.evaluate(located).made_by
        if made_by is not None and made_by.value.kind is ValueKind.CALL:  # `createRoute({path: …})`
            first = made_by.value.argument(0)
            made_by = made_by._replace(value=first) if first is not None else None
        is_mapping = made_by is not None and made_by.value.kind is ValueKind.MAPPING
        return self.evaluator.mapping_item(made_by, key) if made_by is not None and is_mapping else None

    def texts(self, call: Located, text: str) -> list[str] | None:
        """The texts that a selector means; an argument that isn't there is no text."""
        value = self.value(call, text)
        if value is None:
            return [""]
        single = self.evaluator.text(value)
        if single is not None:
            return [single]
        items = self.evaluator.items(value)
        texts = [self.evaluator.text(item) for item in items] if items is not None else [None]
        return None if None in texts else [one for one in texts if one is not None]
