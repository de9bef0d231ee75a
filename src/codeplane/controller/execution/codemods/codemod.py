"""What a codemod is: a name, parameters that are checked, and a function from one file to another."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

Origin = Literal["built-in", "installed", "repository"]


class Rewrite(NamedTuple):
    """What a codemod makes of a file; the same bytes where it already is as it should be."""

    data: bytes
    notes: Sequence[str] = ()


class Codemod(Protocol):
    """One codemod. What can't be done safely raises `CodemodRefused`; nothing is written here."""

    @property
    def codemod_id(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def origin(self) -> Origin: ...

    def rewrite(self, path: str, data: bytes, params: Mapping[str, Any]) -> Rewrite: ...
