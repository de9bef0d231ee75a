"""What changes its name together in Ruby."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class RubyNames(RenameRules):
    """The names of Ruby that belong together."""

    property_field_prefix = "@"
    named_arguments = True
    keyword_patterns = (
        "(call method: (_) @holder arguments: (argument_list (pair key: (hash_key_symbol) @keyword)))",
        "(call method: (_) @holder arguments: (argument_list (hash_splat_argument) @splat))",
    )
    key_patterns = (
        "(hash (pair key: [(hash_key_symbol) (simple_symbol)] @key))",
        "(assignment left: (element_reference (simple_symbol) @key))",
    )
    shorthand_patterns = {"(pair key: (hash_key_symbol) @name !value) @whole": "{key}: {value}"}
    constructor_calls = {"new": "initialize"}


RULES: Final = RubyNames()
