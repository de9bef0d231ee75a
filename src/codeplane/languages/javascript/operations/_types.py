"""Types as texts: which languages have them, and whether two are the same."""

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.changes import with_newlines


def refuse_untyped(source: Source) -> None:
    """Refuses types in JavaScript, which has none."""
    if source.language == "javascript":
        raise OperationRefused(
            "JavaScript has no types; describe it in a comment (`@param`, `@returns`, `@type`), or make the"
            " file TypeScript."
        )


def type_annotation(source: Source, offset: int, text: str) -> str:
    """A type with its colon; a union that begins with `|` over several lines begins on a line of its own."""
    lines = text.strip().splitlines()
    own = with_newlines(source, offset, text.strip())
    if len(lines) == 1 or lines[0][:1] not in "|&":
        return f": {own}"
    indents = [line[: -len(line.lstrip())] for line in lines[1:] if line.lstrip().startswith(lines[0][0])]
    return f":{source.newline_at(offset)}{min(indents, key=len, default='')}{own}"


def same_code(one: str, other: str) -> bool:
    """Whether two pieces of code are written alike but for blanks."""
    return "".join(one.split()) == "".join(other.split())
