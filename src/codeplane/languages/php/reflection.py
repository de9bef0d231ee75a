"""How PHP code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class PHPReflection(ReflectionRules):
    """The reflection of PHP."""

    bulk_field_access = """
        ((function_call_expression function: (name) @_asks arguments: (arguments (argument (_) @holder)))
         (#any-of? @_asks "json_encode" "get_object_vars" "serialize" "var_export" "http_build_query"))
        ((cast_expression type: (cast_type) @_to value: (_) @holder) (#eq? @_to "array"))
    """
    reserved_names = r"__\w+"
    decorator = r"#\[\s*([\w\\]+)"
    decorator_mark = ""
    transparent_decorators = frozenset(
        ("Override", "Pure", "ReturnTypeWillChange", "SensitiveParameter", "Deprecated")
    )


RULES: Final = PHPReflection()
