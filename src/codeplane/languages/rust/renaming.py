"""What changes its name together in Rust."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class RustNames(RenameRules):
    """The names of Rust that belong together."""

    keyword_patterns = (
        (
            "(struct_expression name: (_) @holder body: (field_initializer_list"
            " (field_initializer field: (field_identifier) @keyword)))"
        ),
        (
            "(struct_expression name: (_) @holder body: (field_initializer_list"
            " (shorthand_field_initializer (identifier) @keyword)))"
        ),
        "(struct_pattern type: (_) @holder (field_pattern name: (_) @keyword))",
        "(token_tree (identifier) @macro)",
    )
    shorthand_patterns = {
        "(shorthand_field_initializer (identifier) @name)": "{key}: {value}",
        "(field_pattern name: (shorthand_field_identifier) @name)": "{key}: {value}",
        '(field_pattern ["ref" (mutable_specifier)] @modifier name: (shorthand_field_identifier) @name)': (
            "{key}: {value}"
        ),
    }


RULES: Final = RustNames()
