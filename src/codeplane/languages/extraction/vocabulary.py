"""The closed list of captures that a query may use. `CAPTURES.md` says what each of them means."""

from codeplane.languages.facts import (
    FLAG_ABSTRACT,
    FLAG_ASYNC,
    FLAG_OVERRIDE,
    FLAG_PRIVATE,
    FLAG_STATIC,
    KINDS,
)

SCOPES = ("function", "arrow", "class", "block", "comprehension", "namespace", "unknown")
BINDS = (
    "variable", "local", "param", "type_param", "type_local", "own", "hoisted", "global", "nonlocal",
    "member", "pattern",
)  # fmt: skip
PATTERNS = ("variable", "local", "param", "hoisted", "write")
ROLES = ("call", "read", "write", "type", "new", "class", "namespace")
MODIFIERS = {
    "private": FLAG_PRIVATE,
    "static": FLAG_STATIC,
    "abstract": FLAG_ABSTRACT,
    "async": FLAG_ASYNC,
    "override": FLAG_OVERRIDE,
}

_FIXED = (
    "identifier identifier.whole identifier.part member receiver name body base base.mixin base.other "
    "decorator extent extended "
    "declaration declared annotation annotation.next annotated made made.await made.read made.first "
    "made.name made.with entered entered.async given test package doubt deleted rebinds "
    "annotation.before region.raw region.text open "
    "scope.outer argument.keyword dotted region.type region.names "
    "import.module import.name import.alias import.default import.namespace import.star import.reexport "
    "export.name export.alias export.default export.public export.list"
).split()


def is_known(capture: str) -> bool:
    """Whether a capture is in the vocabulary. Names that begin with `_` are for predicates."""
    head, _, tail = capture.partition(".")
    return (
        capture.startswith("_")
        or capture in _FIXED
        or (head == "scope" and tail in SCOPES)
        or (head == "bind" and tail in BINDS)
        or (head == "pattern" and tail in PATTERNS)
        or (head == "reference" and tail in ROLES)
        or (head == "modifier" and tail in MODIFIERS)
        or (head == "definition" and tail.removesuffix(".more").removesuffix(".forward") in KINDS)
        or (head in ("import", "dynamic", "hook", "space", "implicit") and tail.replace("_", "").isalnum())
    )
