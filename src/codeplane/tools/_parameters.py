"""Parameters that several tools take."""

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from codeplane.core.errors import InvalidArgument
from codeplane.tools._registry import synonyms

SymbolName = Annotated[
    str,
    synonyms("symbol_id", "name", "query"),
    Field(description="Qualified name or its end (`Model.save`), `path:line`, or `sym_…`."),
]


# Tests that are run for a plan have their own limits (`tests.run_timeout_sec`).
LONGEST_SEC: Final = 7200.0


VERIFY: Final[Any] = Field(default=None, max_length=3, description="Run in a scratch copy first.")


LONGEST_MESSAGE = 100_000


def _written(value: Any) -> Any:
    """`{"name": …, "email": …}` is accepted as well."""
    if isinstance(value, dict) and value.keys() == {"name", "email"}:
        return f"{value['name']} <{value['email']}>"
    return value


Authored = Annotated[str | None, BeforeValidator(_written)]


def author_of(text: str | None) -> tuple[str, str] | None:
    """Name and address of `Name <address>`."""
    if text is None:
        return None
    name, bracket, rest = text.strip().partition("<")
    if not bracket or not rest.endswith(">"):
        raise InvalidArgument(f"{text[:100]!r} is not of the form `Name <address>`.")
    return name.strip(), rest[:-1].strip()


AffectedBy = Annotated[str | list[str], synonyms("changed_files", "paths", "files", "changed")]
