"""What a delta is: for each file, transforms in order, assertions about the result, validators by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from codeplane.core.paths import RepoPath

SCHEMA_VERSION: Final = 1

TargetKind = Literal["file", "symbol", "pattern", "query", "selector"]
AssertionKind = Literal[
    "exists",
    "not_exists",
    "count_eq",
    "count_gte",
    "capture_equals",
    "capture_regex",
    "node_text_contains",
]
Scope = Literal["file", "project"]


@dataclass(frozen=True)
class Target:
    """What a transform is done to: a symbol, the matches of a pattern, a query or a selector, or the file."""

    kind: TargetKind = "file"
    text: str = ""
    inside: str | None = None  # a pattern around the pattern
    parameters: Mapping[str, str] = field(default_factory=dict)  # of a named query

    def to_json(self) -> dict[str, Any]:
        """The keys of a transform that name the target."""
        if self.kind == "file":
            return {}
        key = "target" if self.kind == "symbol" else self.kind
        inside = {"inside": self.inside} if self.inside is not None else {}
        parameters = {"parameters": dict(self.parameters)} if self.parameters else {}
        return {key: self.text, **inside, **parameters}


@dataclass(frozen=True)
class Transform:
    """One operation on one target."""

    operation: str
    version: int  # of the operation, when the delta was written; 0 where no pack has it
    target: Target
    args: Mapping[str, Any] = field(default_factory=dict)
    expect: int = 1  # how many places the target has to name
    scope: Scope = "file"
    call_sites: bool = False  # whether calls follow a change of parameters
    accept: bool = False  # whether places that are not proven may be left

    def to_json(self) -> dict[str, Any]:
        """The transform in its canonical form; what has its usual value is left out, but not `expect`."""
        document: dict[str, Any] = {"operation": self.operation, "version": self.version}
        document |= self.target.to_json()
        document |= {"scope": "project"} if self.scope == "project" else {}
        document |= {"call_sites": True} if self.call_sites else {}
        document |= {"accept": True} if self.accept else {}
        return {**document, "expect": self.expect, "args": dict(self.args)}


@dataclass(frozen=True)
class Assertion:
    """One check of the file after its transforms."""

    expect: AssertionKind
    query: Target | None = None  # a pattern, a query or a selector; None for that of the assertion before
    capture: str | None = None  # without its `@`
    value: str | int | None = None

    def to_json(self) -> dict[str, Any]:
        """The assertion in its canonical form."""
        document: dict[str, Any] = self.query.to_json() if self.query is not None else {}
        document |= {"capture": f"@{self.capture}"} if self.capture is not None else {}
        document["expect"] = self.expect
        return {**document, **({"value": self.value} if self.value is not None else {})}


@dataclass(frozen=True)
class Element:
    """What a delta does to one file."""

    path: RepoPath
    language: str | None  # None where nothing says which one it is
    transforms: Sequence[Transform]
    assertions: Sequence[Assertion] = ()
    validate_with: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The element in its canonical form."""
        return {
            "path": self.path,
            "language": self.language,
            "transforms": [transform.to_json() for transform in self.transforms],
            "assertions": [assertion.to_json() for assertion in self.assertions],
            "validate_with": list(self.validate_with),
        }


@dataclass(frozen=True)
class Delta:
    """The change of one task."""

    elements: Sequence[Element]
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> dict[str, Any]:
        """The delta in its canonical form: what its digest is of."""
        return {
            "schema_version": self.schema_version,
            "elements": [element.to_json() for element in self.elements],
        }
