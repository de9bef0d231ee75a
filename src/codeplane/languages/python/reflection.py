"""How Python code reaches definitions other than by their written names."""

import re
from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules

# What the interpreter prints of a class: instances without a `__repr__` (`<m.Box object at 0x7f>`), errors
# about them (`'Box' object has no attribute`), classes (`<class 'm.Box'>`), dataclasses, named tuples and
# exceptions (`Box(x=1)`), members of enumerations (`<Box.RED: 1>`, `Box.RED`), tracebacks (`m.Box: text`). A
# test may have a regular expression of it: `(Box|Bag) object`, `Box\(`. Prose is none: `the Box is full`.
_PRINTED_CLASS: Final = "|".join(
    (
        *(r"NAME[\w.|()\\'\"]* object\b", r"<[\w ]+'[\w.\\]*NAME", r"\bclass '?NAME", r"NAME\\*\("),
        *(r"<NAME\\*\.\w+:", r"\ANAME\\*\.\w+\Z", r"(?:\A|\n|\\n|\.)NAME: ", r"NAME\\*\.__\w+__"),
    )
)
# Of a function: `<function f at 0x7f>`, `<bound method Box.f of …>`, `f() takes 1 positional argument`,
# `abstract method f`, `line 3, in f`.
_PRINTED_FUNCTION: Final = "|".join(
    (
        *(r"<(?:function|bound method)\s[\w.\\]*NAME", r"NAME\\*\(\\*\)\s\w", r",\sin\sNAME"),
        r"abstract\smethods?\s[\w\s,']*NAME",
    )
)
# Of a field: `Box(x=1)`, `property 'x' of 'Box' object has no setter`, `can't set attribute 'x'`.
_PRINTED_FIELD: Final = r"\w\\*\((?:.*[\s,])?NAME=|(?:attribute|property|field)\s'?NAME"
_PRINTED: Final = {
    "class": _PRINTED_CLASS,
    "function": _PRINTED_FUNCTION,
    "method": _PRINTED_FUNCTION,
    "field": _PRINTED_FIELD,
    "property": _PRINTED_FIELD,
    "variable": r"NAME\\*\(\w+=",  # `Box = namedtuple("Box", …)`
    # `f() missing 1 required positional argument: 'x'`, `f() got multiple values for argument 'x'`.
    "parameter": r"\b(?:missing|multiple|unexpected|required)\b[^\n]*\barguments?:?\s[^\n]*\\?'NAME\\?'",
}


class PythonReflection(ReflectionRules):
    """The reflection of Python."""

    name_attributes = ("__name__", "__qualname__")
    derived_name = r"([\w.()]+)\.__(?:qual)?name__\s*(?:\.\s*[a-z]|\[)"
    own_class = ("cls", "self.__class__", "type(self)")
    class_attributes = ("__class__",)
    type_factories = tuple(
        "TypeVar ParamSpec TypeVarTuple NewType namedtuple NamedTuple TypedDict Enum".split()
    )
    class_factories = tuple(
        "type new_class make_dataclass namedtuple NamedTuple Enum IntEnum create_model".split()
    )
    set_name_hook = "__set_name__"
    member_lists = ("__slots__", "__match_args__")
    attribute_calls = {
        r"(?:get|set|has|del)attr": "",
        r"monkeypatch\.(?:set|del)attr": "parameter",
        r"mocker\.(?:patch\.object|spy)": "parameter",
        r"(?:mock\.)?patch\.object": "mock",
    }
    attribute_hooks = frozenset(("__getattr__", "__getattribute__", "__setattr__", "__delattr__"))
    member_enumeration = (
        "dir",
        "vars",
        "__dict__",
        "getmembers",
        "__new__",
        "__init_subclass__",
        "__prepare__",
    )
    enums_by_name = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "Flag", "IntFlag", "StrEnum"))
    namespace_reads = {
        "vars": r"\bvars\(\s*([\w.]+)",
        "dir": r"\bdir\(\s*([\w.]+)",
        "getmembers": r"\bgetmembers\(\s*([\w.]+)",
        "__dict__": r"(?<![\w.])([\w.]+)\.__dict__\b",
        "__annotations__": r"(?<![\w.])([\w.]+)\.__annotations__\b",
        "get_annotations": r"\bget_annotations\(\s*([\w.]+)",
        "get_type_hints": r"\bget_type_hints\(\s*([\w.]+)",
    }
    own_namespace_reads = {
        "globals": r"globals\(\s*\)(?!\s*\[)",
        "__name__": r"__name__\s*\]",
        "__all__": r"__all__\s*\+?=[^\n]*?(?:['\"]\s*\+\s*\w|\bf['\"])",
        "eval": r"eval\((?!\s*['\"])[^,]*\)",
        "exec": r"exec\((?!\s*['\"])[^,]*\)",
    }
    caller_namespace = ("vars", "locals", "dir")
    local_namespace = ("locals", "vars", "eval", "exec")
    signature_inspection = tuple(
        "signature getfullargspec getargspec getcallargs co_varnames get_type_hints get_annotations "
        "__annotations__ __kwdefaults__".split()
    )
    module_registries = r"\bsys\.modules(?:\[|\.get\()\s*(?!__name__)([^\])]*)"
    modules_are_values = True
    bulk_field_access = """
        ((call function: [(identifier) @asking (attribute attribute: (identifier) @asking)]
          arguments: (argument_list . (_) @holder))
         (#any-of? @asking "vars" "asdict" "fields" "fields_dict" "get_type_hints" "get_annotations"))
        ((attribute object: (_) @holder attribute: (identifier) @_has)
         (#any-of? @_has "__dict__" "__annotations__" "__slots__" "__dataclass_fields__" "__attrs_attrs__"))
    """
    self_documenting = '(interpolation "=") @quoted'
    self_documenting_text = r"=\s*[!:}]"
    reserved_names = r"__\w+__"
    # What files, locks, mappings, generators and finders of modules are asked for, whatever their class.
    protocol_members = (
        r"read|readline|readlines|readinto|write|writelines|flush|close|seek|tell|fileno|isatty|truncate|"
        r"keys|items|acquire|release|send|throw|find_spec|create_module|exec_module|load_module"
    )
    virtual_subclassing = ("register",)
    test_doubles = frozenset(
        ("SimpleNamespace", "Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec")
    )
    transparent_decorators = frozenset(
        "property cached_property setter getter deleter staticmethod classmethod abstractmethod "
        "abstractproperty overload override final lru_cache cache wraps contextmanager "
        "asynccontextmanager dataclass total_ordering runtime_checkable no_type_check parametrize anyio "
        "asyncio skip skipif xfail usefixtures skipUnless skipIf expectedFailure".split()
    )
    field_decorators = frozenset(("define", "frozen", "mutable", "attrs", "attrib", "s", "unique"))
    advisory_risks = frozenset("string_with_the_name name_in_data path_in_string not_bound any_name".split())

    def mangled_prefix(self, class_name: str) -> str:
        """`__x` of `class _A` is `_A__x`."""
        return f"_{class_name.lstrip('_')}__"

    def printed_name(self, kind: str, name: str) -> str:
        """What the interpreter prints of a definition without a word about it in the code."""
        return _PRINTED.get(kind, "").replace("NAME", rf"\b{re.escape(name)}\b")


RULES: Final = PythonReflection()
