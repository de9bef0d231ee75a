"""What changes its name together in Kotlin."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class KotlinNames(RenameRules):
    """The names of Kotlin that belong together."""

    named_arguments = True
    keyword_patterns = (
        '(value_argument (identifier) @loose . "=")',
        '(call_expression . (_) @holder (value_arguments (value_argument (identifier) @keyword . "=")))',
        (
            "(constructor_invocation . (_) @holder (value_arguments"
            ' (value_argument (identifier) @keyword . "=")))'
        ),
    )
    call_operators = frozenset(("invoke",))


RULES: Final = KotlinNames()
