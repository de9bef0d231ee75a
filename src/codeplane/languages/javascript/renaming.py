"""What changes its name together in JavaScript."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class JavaScriptNames(RenameRules):
    """The names of JavaScript that belong together."""

    object_literals = True
    shorthand_patterns = {
        "(shorthand_property_identifier) @name": "{key}: {value}",
        "(shorthand_property_identifier_pattern) @name": "{key}: {value}",
    }


RULES: Final = JavaScriptNames()
