"""What selectors of rules mean in a call."""

from codeplane.languages.sites import Value, ValueKind
from codeplane.surfaces.rule import selector
from codeplane.surfaces.values import Evaluator, Located


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
                    item = next((one for one in item.items if one.keyword == key), None)
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
                first = value.argument(0)
                item = (
                    first
                    if first is not None and first.kind in (ValueKind.TEXT, ValueKind.CONCAT)
                    else Value(ValueKind.TEXT, "")
                )
            elif part == "receiver":
                item = value.receiver
            elif part == "last":
                item = value.arguments[-1] if value.arguments else None
            if item is not None:
                return Located(path, item, environment)
        return None

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
