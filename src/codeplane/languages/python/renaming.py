"""What changes its name together in Python."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class PythonNames(RenameRules):
    """The names of Python that belong together."""

    one_definition_per_scope = True
    named_arguments = True
    keyword_patterns = (
        (
            "(call function: (_) @holder arguments: (argument_list"
            " (keyword_argument name: (identifier) @keyword)))"
        ),
        "(call function: (_) @holder arguments: (argument_list (dictionary_splat) @splat))",
        "(class_definition superclasses: (argument_list (keyword_argument name: (identifier) @loose)))",
        "(class_pattern . (_) @holder (case_pattern (keyword_pattern . (identifier) @member)))",
    )
    key_patterns = (
        "(dictionary (pair key: (string . (string_start) . (string_content) @key . (string_end) .)))",
        (
            "(assignment left: (subscript subscript:"
            " (string . (string_start) . (string_content) @key . (string_end) .)))"
        ),
        (
            '(call function: (identifier) @_maker (#eq? @_maker "dict")'
            " arguments: (argument_list (keyword_argument name: (identifier) @key)))"
        ),
        (
            '(call function: (attribute attribute: (identifier) @_adds) (#eq? @_adds "update")'
            " arguments: (argument_list (keyword_argument name: (identifier) @key)))"
        ),
        (
            '(call function: (attribute attribute: (identifier) @_adds) (#eq? @_adds "setdefault")'
            " arguments: (argument_list ."
            " (string . (string_start) . (string_content) @key . (string_end) .)))"
        ),
    )
    keyword_kinds = frozenset(("field", "variable", "constant"))
    call_operators = frozenset(("__call__", "__init_subclass__"))


RULES: Final = PythonNames()
