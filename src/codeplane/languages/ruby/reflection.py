"""How Ruby code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class RubyReflection(ReflectionRules):
    """The reflection of Ruby."""

    local_namespace = ("binding", "eval", "local_variables")
    modules_are_values = True
    reserved_names = r"initialize|method_missing|respond_to_missing\?|inherited|included|extended|prepended"
    protocol_members = r"to_\w+|inspect|each|call|hash|eql\?|coerce|new|dup|clone|===?|<=>"


RULES: Final = RubyReflection()
