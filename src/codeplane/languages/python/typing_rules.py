"""What Python says about types."""

import builtins
import re
from typing import Final

from codeplane.languages.python.annotations import KEEPING, awaited_type, declared_type, returned_type
from codeplane.languages.python.builtin import members_of
from codeplane.languages.rules.typing_rules import TypeRules

_CLASS_RESULT: Final = re.compile(r"->\s*[\"']?(?:\w+\.)*[tT]ype\[\s*[\"']?([\w.]+)")
_UNPACKED: Final = re.compile(r"\*\*\s*\w+\s*:\s*[\"']?(?:\w+\.)*Unpack\[\s*[\"']?([\w.]+)")
_METACLASS: Final = re.compile(r"[(,] ?metaclass ?= ?([\w.]+)")
_MANGLED: Final = re.compile(r"__(?!.*__\Z)\w+")


class PythonTypes(TypeRules):
    """The types of Python."""

    duck_typed = True
    builtins = frozenset(dir(builtins))
    reads_annotations = True
    declared_type = staticmethod(declared_type)
    returned_type = staticmethod(returned_type)
    awaited_type = staticmethod(awaited_type)
    deferred_annotations = True
    self_types = frozenset(("typing.Self", "typing_extensions.Self"))
    type_variables = frozenset(("typing.TypeVar", "typing_extensions.TypeVar"))
    type_preserving_decorators = KEEPING
    context_managers = {"with": "__enter__", "async with": "__aenter__"}
    narrowing_calls = ("isinstance", "issubclass")
    type_guards = r"->\s*[\"']?(?:\w+\.)*(TypeGuard)\[(.+)\][\"']?\Z"
    type_guard_word = "TypeGuard"
    protocols = frozenset(("Protocol", "typing.Protocol", "t.Protocol", "typing_extensions.Protocol"))
    typed_dicts = frozenset(("TypedDict", "typing.TypedDict", "t.TypedDict", "typing_extensions.TypedDict"))
    enums = frozenset(
        f"{module}{name}"
        for module in ("", "enum.")
        for name in ("Enum", "IntEnum", "StrEnum", "ReprEnum", "Flag", "IntFlag")
    )
    memberless_bases = frozenset(
        ("object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "typing.Protocol")
    )
    declared_members_first = True
    fields_made_in = "methods"
    field_inference = "all"
    none_value = r"\s*=\s*None\s*?(?:[\n#;]|\Z)"
    slots = "__slots__"
    object_members = frozenset(dir(object)) | {"__annotations__", "__dict__", "__module__"}
    new_method = "__new__"
    metaclass_call = "__call__"
    descriptor = "__get__"

    def unpacked_keywords(self, signature: str) -> str:
        """`**options: Unpack[Options]`."""
        match = _UNPACKED.search(signature)
        return match[1] if match else ""

    def returned_class(self, signature: str) -> str:
        """`-> type[Base]`."""
        match = _CLASS_RESULT.search(signature)
        return match[1] if match else ""

    def metaclass(self, header: str) -> str:
        """`class A(metaclass=Meta)`."""
        match = _METACLASS.search(header)
        return match[1] if match else ""

    def is_mangled(self, name: str) -> bool:
        """`__x`, not `__x__`."""
        return _MANGLED.match(name) is not None

    def may_have(self, base: str, name: str) -> bool:
        """What the classes of the standard library have is known."""
        return name in members_of(base)


RULES: Final = PythonTypes()
