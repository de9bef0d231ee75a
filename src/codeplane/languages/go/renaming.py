"""What changes its name together in Go."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class GoNames(RenameRules):
    """The names of Go that belong together."""

    keyword_patterns = (
        (
            "(composite_literal type: (_) @holder body: (literal_value (keyed_element"
            " key: (literal_element (identifier) @keyword))))"
        ),
        (
            "(composite_literal type: (_) @holder body: (literal_value (literal_element (literal_value"
            " (keyed_element key: (literal_element (identifier) @keyword))))))"
        ),
        (
            "(composite_literal type: (_) @holder body: (literal_value (keyed_element value: (literal_element"
            " (literal_value (keyed_element key: (literal_element (identifier) @keyword)))))))"
        ),
    )


RULES: Final = GoNames()
