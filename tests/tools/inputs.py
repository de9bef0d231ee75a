"""Inputs made from the schema of a tool: ones that it allows, and ones that it does not."""

from typing import Any

from hypothesis import strategies as st

# What a repository of a test has, so that a good part of the inputs is about something.
_SAID = (
    "app.py", "lib/util.py", "lib/", "lib/util.py:1", "tests/test_app.py", "web/index.ts", "nowhere.py",
    "../escape", "/etc/passwd", "*.py", "**/*", "[", "run", "Base", "Base.run", "lib.util.helper", "helper",
    "sym_0000000000000000", "HEAD", "HEAD~1", "epoch:1", "a|b", "(a+)+$", "\\", "", " ", "\0", "é", "x" * 300,
)  # fmt: skip
_texts = st.sampled_from(_SAID) | st.text(max_size=30)
_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def allowed(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that the schema allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return st.one_of([allowed(choice) for choice in choices])
    match schema.get("type"):
        case "object":
            return _objects(schema)
        case "array":
            items = allowed(schema.get("items", {}))
            most = min(schema.get("maxItems", 4), 4)
            return st.lists(items, min_size=schema.get("minItems", 0), max_size=most)
        case "integer":
            low = schema.get("minimum", schema.get("exclusiveMinimum", -2) + 1)
            high = schema.get("maximum", schema.get("exclusiveMaximum", 10**12) - 1)
            return st.integers(low, high) | st.integers(low, min(high, low + 40))
        case "number":
            return st.floats(schema.get("minimum", -1e9), schema.get("maximum", 1e9))
        case "boolean":
            return st.booleans()
        case "string":
            low, high = schema.get("minLength", 0), schema.get("maxLength", 10_000)
            return _texts.filter(lambda text: low <= len(text) <= high)
        case _:
            return _anything


def _objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = schema.get("properties", {})
    required = set(schema.get("required", ()))
    made = {name: allowed(field) for name, field in fields.items()}
    return st.fixed_dictionaries(
        {name: made[name] for name in fields if name in required},
        optional={name: made[name] for name in fields if name not in required},
    )


def refused(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of which most are not allowed: a field too many, too few, of another kind; no object at all."""
    fields = list(schema.get("properties", {}))
    whole = allowed(schema)
    wrong = [_anything, whole.flatmap(_with_a_stranger)]
    if fields:
        wrong.append(st.tuples(whole, st.sampled_from(fields), _anything).map(_with_another))
        wrong.append(st.tuples(whole, st.sampled_from(fields)).map(_without))
    return st.one_of(wrong)


def _with_a_stranger(value: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(st.text(max_size=12), _anything).map(lambda pair: {**value, pair[0]: pair[1]})


def _with_another(made: tuple[dict[str, Any], str, Any]) -> dict[str, Any]:
    value, name, other = made
    return {**value, name: other}


def _without(made: tuple[dict[str, Any], str]) -> dict[str, Any]:
    value, name = made
    return {key: item for key, item in value.items() if key != name}
