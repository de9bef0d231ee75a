"""How JavaScript code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class JavaScriptReflection(ReflectionRules):
    """The reflection of JavaScript."""

    name_attributes = ("name",)
    name_attribute_owners = (
        r"\bconstructor$|^new\.target$|^[A-Z]\w*$|(?i:class|cls|type|ctor|func|fn|handler|callback|target)$"
    )
    derived_name = r"([\w.$]+)\.name\s*(?:\??\.\s*[a-z]|\[|\])"
    own_class = ("this.constructor", "new.target")
    member_enumeration = ("getOwnPropertyNames", "ownKeys", "getOwnPropertyDescriptors")
    local_namespace = ("eval",)
    modules_are_values = True
    import_expressions = frozenset(("js_require", "js_dynamic"))
    bulk_field_access = """
        ((call_expression
          function: (member_expression object: (identifier) @_of property: (property_identifier) @_asks)
          arguments: (arguments (_) @holder))
         (#any-of? @_of "Object" "Reflect" "JSON")
         (#any-of? @_asks "keys" "entries" "assign" "ownKeys" "getOwnPropertyNames" "stringify"))
        (object (spread_element (_) @holder))
        (for_in_statement operator: "in" right: (_) @holder)
    """
    reserved_names = r"constructor"
    protocol_members = (
        r"toString|toJSON|valueOf|then|next|return|throw|(?:connected|disconnected|adopted)Callback|render|"
        r"handleEvent"
    )
    decorator = r"@\s*([\w.]+)"


RULES: Final = JavaScriptReflection()
