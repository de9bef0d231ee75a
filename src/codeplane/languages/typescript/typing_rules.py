"""What TypeScript says about types."""

from typing import Final

from codeplane.languages.javascript.typing_rules import JavaScriptTypes
from codeplane.languages.typescript.annotations import (
    awaited_type,
    declared_type,
    other_parts,
    returned_type,
)


class TypeScriptTypes(JavaScriptTypes):
    """The types of TypeScript."""

    reads_annotations = True
    declared_type = staticmethod(declared_type)
    returned_type = staticmethod(returned_type)
    awaited_type = staticmethod(awaited_type)
    intersection_parts = staticmethod(other_parts)
    promise = "Promise"
    self_types = frozenset(("this",))
    primitive_types = frozenset("bigint boolean false null number symbol true undefined void".split())
    type_guards = r"\)\s*:\s*(?:asserts\s+)?([\w$]+)\s+is\s+(.+)\Z"
    type_guard_word = " is "
    structural_kinds = frozenset(("interface", "type"))
    augmented_kinds = frozenset(("interface", "class", "enum", "namespace"))
    field_inference = "first"


RULES: Final = TypeScriptTypes()
