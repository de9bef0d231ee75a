"""How C# code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class CSharpReflection(ReflectionRules):
    """The reflection of C#."""

    bulk_field_access = """
        ((invocation_expression
          function: (member_access_expression name: [(identifier) @_asks (generic_name (identifier) @_asks)])
          arguments: (argument_list) @holder)
         (#any-of? @_asks "Serialize" "SerializeAsync" "SerializeObject" "SerializeToUtf8Bytes" "Deserialize"
          "DeserializeAsync" "DeserializeObject" "GetProperties" "GetFields"))
        ((invocation_expression
          function: (member_access_expression expression: (identifier) @_of)
          arguments: (argument_list) @holder)
         (#eq? @_of "Enum"))
    """
    bulk_field_kinds = frozenset(("field", "property", "enum_member", "constant"))
    protocol_members = (
        r"ToString|Equals|GetHashCode|Deconstruct|GetEnumerator|MoveNext|Current|GetAwaiter|Dispose|Add"
        r"|Finalize"
    )
    decorator = r"\[\s*(?:\w+:\s*)?([A-Za-z_][\w.]*)"
    decorator_mark = ""
    transparent_decorators = frozenset(
        "Obsolete MethodImpl DebuggerStepThrough DebuggerBrowsable NotNull MaybeNull CanBeNull Fact Theory"
        " Test TestMethod TestCase SetUp TearDown InlineData Conditional Pure CLSCompliant"
        " Flags EditorBrowsable ThreadStatic SuppressMessage ExcludeFromCodeCoverage"
        " AttributeUsage Intrinsic".split()
    )


RULES: Final = CSharpReflection()
