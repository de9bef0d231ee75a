"""Reads deltas as people and agents write them, strictly: what is not understood is refused by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from codeplane.core.errors import CodePlaneError, DeltaInvalid
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.delta.digest import digest_of
from codeplane.delta.model import (
    SCHEMA_VERSION,
    Assertion,
    AssertionKind,
    Delta,
    Element,
    Target,
    TargetKind,
    Transform,
)
from codeplane.languages.operations import operations_of
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.operation import Operation
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.spec import language_of, specs

MOST_ELEMENTS: Final = 500
MOST_TRANSFORMS: Final = 500
MOST_EXPECTED: Final = 10_000
_MOST_PROBLEMS: Final = 20
_TARGET_KEYS: Final[Mapping[str, TargetKind]] = {
    "target": "symbol",
    "symbol": "symbol",
    "pattern": "pattern",
    "query": "query",
    "selector": "selector",
}
_TRANSFORM_KEYS: Final = (
    "operation", "op", "version", *_TARGET_KEYS, "inside", "parameters", "expect", "scope", "call_sites",
    "accept", "args",
)  # fmt: skip
_ELEMENT_KEYS: Final = (
    "path", "language", "transforms", "assertions", "validate_with", "pre_hash", "post_hash"
)  # fmt: skip
_ASSERTION_KEYS: Final = (
    "query", "pattern", "selector", "inside", "parameters", "capture", "expect", "value"
)  # fmt: skip
_KINDS: Final[Sequence[AssertionKind]] = get_args(AssertionKind)
_WITH_QUERY: Final = ("exists", "not_exists", "count_eq", "count_gte", "node_text_contains")
_WITH_NUMBER: Final = ("count_eq", "count_gte")
_WITH_TEXT: Final = ("capture_equals", "capture_regex", "node_text_contains")
_CROSS_FILE: Final = ("rename_symbol", "add_parameter", "remove_parameter")


@dataclass(frozen=True)
class Authoring:
    """What a delta is read against."""

    enter: Callable[[str], RepoPath]  # the jail
    packs: Sequence[str]  # grammar packs that are switched on
    content: Callable[[RepoPath], bytes]  # of a file; empty where it is not there


def read_delta(document: object, authoring: Authoring) -> Delta:
    """The delta that a document says; `DeltaInvalid` with everything that is wrong with it."""
    reader = _Reader(authoring)
    delta = reader.delta(document)
    if reader.problems:
        count = len(reader.problems)
        raise DeltaInvalid(
            "\n".join(reader.problems[:_MOST_PROBLEMS])
            + (f"\n… {count - _MOST_PROBLEMS} more problems" if count > _MOST_PROBLEMS else ""),
            problems=reader.problems[:_MOST_PROBLEMS],
        )
    return delta


def stored_form(delta: Delta) -> dict[str, Any]:
    """A delta as a plan keeps it: its canonical form with its digest."""
    return {**delta.to_json(), "digest": digest_of(delta)}


@dataclass
class _Reader:
    authoring: Authoring
    problems: list[str] = field(default_factory=list)

    def delta(self, document: object) -> Delta:
        body = self._object(document, "delta")
        if "path" in body and "elements" not in body:
            body = {"elements": [body]}  # one file, written without the list around it
        self._refuse_unknown(body, ("elements", "schema_version", "digest"), "delta")
        version = body.get("schema_version", SCHEMA_VERSION)
        if version != SCHEMA_VERSION or isinstance(version, bool):
            self._add("delta.schema_version", f"is {SCHEMA_VERSION}.")
        elements = self._list(body.get("elements"), "delta.elements", MOST_ELEMENTS)
        if not elements:
            self._add("delta.elements", "is a list of at least one file.")
        return Delta([self._element(item, f"elements[{n}]") for n, item in enumerate(elements)])

    def _element(self, document: object, where: str) -> Element:
        body = self._object(document, where)
        self._refuse_unknown(body, _ELEMENT_KEYS, where)
        path = self._path(body.get("path"), where)
        language = self._language(body.get("language"), path, where)
        transforms = self._list(body.get("transforms"), f"{where}.transforms", MOST_TRANSFORMS)
        if not transforms:
            self._add(f"{where}.transforms", "is a list of at least one operation.")
        assertions = self._list(body.get("assertions", []), f"{where}.assertions", MOST_TRANSFORMS)
        validators = self._list(body.get("validate_with", []), f"{where}.validate_with", 50)
        if not all(isinstance(name, str) and 0 < len(name) <= 200 for name in validators):
            self._add(f"{where}.validate_with", "is a list of names from toolchain.toml.")
        return Element(
            path,
            language,
            [
                self._transform(item, language, f"{where}.transforms[{n}]")
                for n, item in enumerate(transforms)
            ],
            list(self._assertions(assertions, f"{where}.assertions")),
            [str(name) for name in validators],
        )

    def _path(self, text: object, where: str) -> RepoPath:
        if not isinstance(text, str):
            self._add(f"{where}.path", "is the path of a file, relative to the repository.")
            return RepoPath("")
        try:
            return self.authoring.enter(text)
        except CodePlaneError as error:
            self._add(f"{where}.path", error.message)
            return RepoPath("")

    def _language(self, name: object, path: RepoPath, where: str) -> str | None:
        if name is None:
            language = language_of(path, self.authoring.content(path))
        elif isinstance(name, str) and name in specs():
            language = name
        else:
            close = nearest(str(name), specs())
            self._add(f"{where}.language", f"no language {str(name)[:60]!r}; {_choices(close)}")
            return None
        pack = pack_of(language) if language else None
        return language if pack in self.authoring.packs else None

    def _transform(self, document: object, language: str | None, where: str) -> Transform:
        body = self._object(document, where)
        name = body.get("operation", body.get("op"))
        if not isinstance(name, str):
            self._add(where, "has no `operation`.")
            return Transform("", 0, Target())
        name, _, suffix = name.partition("@")
        # Arguments may stand beside the operation or in `args`.
        flat = {key: value for key, value in body.items() if key not in _TRANSFORM_KEYS}
        args = {**self._object(body.get("args", {}), f"{where}.args"), **flat}
        operation = operations_of(language).get(name) if language else None
        if language and operation is None:
            self._add(where, _unknown_operation(language, name))
        target = self._transform_target(body, operation, where)
        if operation and language:
            self._check_arguments(operation, language, args, target, where)
        if name == "add_parameter" and "argument" in args and not body.get("call_sites"):
            self._add(where, "`argument` is what calls pass; it needs `call_sites: true`.")
        version = body.get("version") or (int(suffix) if suffix.isdigit() else None)
        return Transform(
            name,
            version if isinstance(version, int) else operation.version if operation else 0,
            target,
            args,
            self._count(body.get("expect", 1), f"{where}.expect"),
            "project" if self._project_scope(body, name, where) else "file",
            self._flag(body, "call_sites", where) and self._is_cross_file(name, where),
            self._flag(body, "accept", where),
        )

    def _check_arguments(
        self, operation: Operation, language: str, args: dict[str, Any], target: Target, where: str
    ) -> None:
        # A capture of a pattern or a query may be the argument of its name.
        is_partial = target.kind in ("pattern", "query")
        pack = pack_of(language) or language
        _, errors = check_arguments(operation, pack, language, args, is_partial=is_partial)
        self.problems += [f"{where}: {error}" for error in errors]

    def _transform_target(self, body: Mapping[str, Any], operation: Operation | None, where: str) -> Target:
        target = self._target(body, where)
        if operation is None:
            return target
        if operation.target == "element" and target.kind != "selector":
            self._add(where, f"`{operation.name}` needs a `selector`.")
        if operation.target in ("definition", "node") and target.kind in ("file", "selector"):
            kinds = "`pattern` or `query`" if operation.target == "node" else "`target`, `pattern` or `query`"
            self._add(where, f"`{operation.name}` needs a {kinds}.")
        return target

    def _target(self, body: Mapping[str, Any], where: str) -> Target:
        keys = [key for key in _TARGET_KEYS if body.get(key) is not None]
        if not keys:
            return Target()
        text = body[keys[0]]
        if len(keys) > 1:
            self._add(where, f"names its target by {' and '.join(f'`{key}`' for key in keys)}; use one.")
        if not isinstance(text, str) or not text.strip() or len(text) > 10_000:
            self._add(f"{where}.{keys[0]}", "is a text of at most 10,000 characters.")
            return Target()
        inside, parameters = body.get("inside"), body.get("parameters", {})
        if inside is not None and (not isinstance(inside, str) or keys[0] != "pattern"):
            self._add(f"{where}.inside", "is a pattern around `pattern`.")
        if not isinstance(parameters, dict) or not all(isinstance(v, str) for v in parameters.values()):
            self._add(f"{where}.parameters", "are texts of a named query.")
            parameters = {}
        return Target(_TARGET_KEYS[keys[0]], text, inside if isinstance(inside, str) else None, parameters)

    def _assertions(self, documents: Sequence[object], where: str) -> Iterator[Assertion]:
        has_query = False
        for number, document in enumerate(documents):
            assertion = self._assertion(document, f"{where}[{number}]", has_query=has_query)
            has_query = has_query or assertion.query is not None
            yield assertion

    def _assertion(self, document: object, where: str, *, has_query: bool) -> Assertion:
        body = self._object(document, where)
        self._refuse_unknown(body, _ASSERTION_KEYS, where)
        value, capture = body.get("value"), body.get("capture")
        kind = next((name for name in _KINDS if name == body.get("expect")), None)
        if kind is None:
            self._add(f"{where}.expect", f"is one of {', '.join(_KINDS)}.")
            return Assertion("exists")
        target = self._target(body, where)
        query = target if target.kind != "file" else None
        if query is None and (kind in _WITH_QUERY or not has_query):
            self._add(where, f"`{kind}` needs a `query`, `pattern` or `selector`.")
        if kind.startswith("capture_") and not (isinstance(capture, str) and capture.strip("@")):
            self._add(f"{where}.capture", "names a capture, `@name`.")
        if kind in _WITH_NUMBER and not (
            isinstance(value, int) and not isinstance(value, bool) and value >= 0
        ):
            self._add(f"{where}.value", "is a number.")
        if kind in _WITH_TEXT and not isinstance(value, str):
            self._add(f"{where}.value", "is a text.")
        name = capture.lstrip("@") if isinstance(capture, str) else None
        return Assertion(kind, query, name, value if isinstance(value, str | int) else None)

    def _project_scope(self, body: Mapping[str, Any], name: str, where: str) -> bool:
        scope = body.get("scope", "file")
        if scope not in ("file", "project"):
            self._add(f"{where}.scope", "is file or project.")
        return scope == "project" and self._is_cross_file(name, where)

    def _is_cross_file(self, name: str, where: str) -> bool:
        if name not in _CROSS_FILE:
            self._add(where, f"`{name}` works on one file; {', '.join(_CROSS_FILE)} can go beyond it.")
        return name in _CROSS_FILE

    def _flag(self, body: Mapping[str, Any], key: str, where: str) -> bool:
        value = body.get(key, False)
        if not isinstance(value, bool):
            self._add(f"{where}.{key}", "is true or false.")
        return value is True

    def _count(self, value: object, where: str) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_EXPECTED:
            return value
        self._add(where, f"is a number from 1 to {MOST_EXPECTED}.")
        return 1

    def _object(self, value: object, where: str) -> dict[str, Any]:
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return value
        self._add(where, "is an object.")
        return {}

    def _list(self, value: object, where: str, most: int) -> list[Any]:
        if isinstance(value, list) and len(value) <= most:
            return value
        self._add(where, f"is a list of at most {most}.")
        return []

    def _refuse_unknown(self, body: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
        for key in body:
            if key not in keys:
                self._add(where, f"has no key `{key[:60]}`; {_choices(nearest(key, keys) or keys)}")

    def _add(self, where: str, text: str) -> None:
        self.problems.append(f"{where}: {text}")


def _choices(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(f'`{name}`' for name in names[:3])}?"


def _unknown_operation(language: str, name: str) -> str:
    names = sorted(operations_of(language))
    close = nearest(name, names)
    hint = _choices(close[:1]) if close else f"it has {', '.join(names)}."
    return f"{language} has no operation `{name[:60]}`; {hint}"
