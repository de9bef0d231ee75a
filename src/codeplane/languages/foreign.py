"""The records of a file as other files may read them.

The digest that decides how long meanings are kept is taken of all fields of these protocols: mypy refuses to
read a field of another file that is not covered, and a field that is added here is covered.

Numbers of scopes and binds change with bodies. They are handles: good for asking the same file, not for
keeping.
"""

from typing import Protocol

from codeplane.languages.facts import Import, Reason, ScopeKind


class ForeignDefinition(Protocol):
    """A definition of another file: `Definition` without positions and text."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def parent(self) -> int: ...
    @property
    def scope(self) -> int: ...
    @property
    def body(self) -> int: ...
    @property
    def signature(self) -> str: ...
    @property
    def bases(self) -> tuple[str, ...]: ...
    @property
    def annotation(self) -> str: ...
    @property
    def flags(self) -> int: ...
    @property
    def owner(self) -> str: ...


class ForeignImport(Protocol):
    """An import of another file: `Import` without its position."""

    @property
    def scope(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def module(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def alias(self) -> str: ...
    @property
    def certain(self) -> bool: ...
    @property
    def reexport(self) -> bool: ...


class ForeignBind(Protocol):
    """A name that a scope of another file binds: `Bind` without its position."""

    @property
    def scope(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def reason(self) -> Reason: ...
    @property
    def target(self) -> int: ...
    @property
    def certain(self) -> bool: ...
    @property
    def type_name(self) -> str: ...


class ForeignExport(Protocol):
    """A name that another file offers."""

    @property
    def name(self) -> str: ...
    @property
    def local(self) -> str: ...
    @property
    def evidence(self) -> str: ...
    @property
    def certain(self) -> bool: ...


class ForeignScope(Protocol):
    """A scope of another file: `Scope` without its span."""

    @property
    def parent(self) -> int: ...
    @property
    def kind(self) -> ScopeKind: ...


def import_of(item: ForeignImport, module: str, name: str = "", alias: str = "") -> Import:
    """What a statement of the same kind in the same place would import from another module."""
    return Import(item.scope, item.kind, module, name, alias, 0, 0, item.certain, item.reexport)
