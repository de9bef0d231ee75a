"""How Java code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class JavaReflection(ReflectionRules):
    """The reflection of Java."""

    bulk_field_access = """
        ((method_invocation name: (identifier) @_asks arguments: (argument_list) @holder)
         (#any-of? @_asks "writeValueAsString" "writeValueAsBytes" "writeValue" "readValue" "convertValue"
          "toJson" "fromJson" "getDeclaredFields"))
        ((method_invocation object: (_) @holder name: (identifier) @_asks)
         (#eq? @_asks "valueOf"))
    """
    bulk_field_kinds = frozenset(("field", "constant", "enum_member"))
    accessor_methods = r"(?:get|set|is)[A-Z]\w*"
    protocol_members = (
        r"toString|equals|hashCode|compareTo|finalize|clone|close|readObject|writeObject|readResolve"
    )
    decorator = r"@\s*(?!interface\b)(?:\w+:)?([\w.]+)"
    transparent_decorators = frozenset(
        "Override Deprecated SuppressWarnings SafeVarargs FunctionalInterface Nullable NonNull NotNull"
        " CheckReturnValue VisibleForTesting Test ParameterizedTest BeforeEach AfterEach BeforeAll AfterAll"
        " Before After".split()
    )


RULES: Final = JavaReflection()
