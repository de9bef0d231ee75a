"""How Go code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class GoReflection(ReflectionRules):
    """The reflection of Go."""

    bulk_field_access = """
        ((call_expression function: (selector_expression field: (field_identifier) @_asks)
          arguments: (argument_list (_) @holder))
         (#any-of? @_asks "Marshal" "MarshalIndent" "Unmarshal" "Encode" "Decode" "ValueOf" "TypeOf"))
    """
    serialized_name = r"`[^`]*\w:\"\w"
    reserved_names = r"init"
    protocol_members = (
        r"Error|String|GoString|Format|Is|As|Unwrap|Read|Write|Close|Seek|ReadFrom|WriteTo|ReadAt|WriteAt|Len|Less"
        r"|Swap|Push|Pop|ServeHTTP|RoundTrip|Scan|Value|Set|Lock|Unlock|Done|Err|(?:Unm|M)arshal\w+"
    )
    decorator = r"^//(export|go:linkname)\b"
    decorator_mark = "//"


RULES: Final = GoReflection()
