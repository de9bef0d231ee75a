"""What changes its name together in PHP."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class PHPNames(RenameRules):
    """The names of PHP that belong together."""

    named_arguments = True
    keyword_patterns = (
        "(argument name: (name) @loose)",
        (
            "(function_call_expression function: (_) @holder arguments: (arguments"
            " (argument name: (name) @keyword)))"
        ),
        "(member_call_expression name: (_) @holder arguments: (arguments (argument name: (name) @keyword)))",
        "(scoped_call_expression name: (_) @holder arguments: (arguments (argument name: (name) @keyword)))",
        "(object_creation_expression . (_) @holder (arguments (argument name: (name) @keyword)))",
    )
    call_operators = frozenset(("__invoke",))


RULES: Final = PHPNames()
