"""What changes its name together in C#."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class CSharpNames(RenameRules):
    """The names of C# that belong together."""

    named_arguments = True
    keyword_patterns = (
        "(argument name: (identifier) @loose)",
        (
            "(invocation_expression function: (_) @holder arguments: (argument_list"
            " (argument name: (identifier) @keyword)))"
        ),
        (
            "(object_creation_expression type: (_) @holder arguments: (argument_list"
            " (argument name: (identifier) @keyword)))"
        ),
        (
            "(object_creation_expression type: (_) @holder initializer: (initializer_expression"
            " (assignment_expression left: (identifier) @keyword)))"
        ),
    )
    shorthand_patterns = {
        '(anonymous_object_creation_expression (identifier) @name . ["," "}"])': "{key} = {value}",
        # The elements of a tuple that is a value are named like the variables; those of a target are not.
        "(variable_declarator (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
        "(return_statement (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
        "(arrow_expression_clause (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
    }


RULES: Final = CSharpNames()
