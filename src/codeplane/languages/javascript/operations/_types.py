"""Types as texts: which languages have them, and whether two are the same."""

from codeplane.languages.operations import OperationRefused, Source


def refuse_untyped(source: Source) -> None:
    """Refuses types in JavaScript, which has none."""
    if source.language == "javascript":
        raise OperationRefused(
            "JavaScript has no types; describe it in a comment (`@param`, `@returns`, `@type`), or make the"
            " file TypeScript."
        )


def same_code(one: str, other: str) -> bool:
    """Whether two pieces of code are written alike but for blanks."""
    return "".join(one.split()) == "".join(other.split())
