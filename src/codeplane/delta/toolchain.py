"""`.codeplane/toolchain.toml`: the validators of a project, each with the contract that it runs under."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from codeplane.core.documents import Malformed, parse_toml
from codeplane.core.errors import ToolchainInvalid
from codeplane.core.suggest import nearest

FILE: Final = "toolchain.toml"
PLACEHOLDER: Final = "{file}"
LONGEST_SEC: Final = 3600
_MOST_VALIDATORS: Final = 100
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,99}\Z")
_PROGRAM: Final = re.compile(r"[\w][\w.+-]*\Z")
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*\Z")
_PACKAGE: Final = "package"

ValidatorScope = Literal["file", "project", "workspace"]
OutputParser = Literal["text", "json", "cargo-json", "sarif"]
WorkingDirectory = Literal["project_root", "workspace_root", "file_parent"]


@dataclass(frozen=True)
class Validator:
    """One validator as the user has configured it."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    scope: ValidatorScope = "project"
    timeout_seconds: int = 120
    success_exit_codes: tuple[int, ...] = (0,)
    is_required: bool = True
    fail_if_missing: bool = True
    output_parser: OutputParser = "text"
    env_allowlist: tuple[str, ...] | None = None  # None: what tests and linters see
    cwd: WorkingDirectory = "project_root"


@dataclass(frozen=True)
class Toolchain:
    """The validators of a project by name, and the digest of the file that says so."""

    validators: Mapping[str, Validator] = field(default_factory=dict)
    digest: str = ""

    def find(self, name: str) -> Validator | None:
        """The validator of a name."""
        return self.validators.get(name)

    def unknown_text(self, name: str) -> str:
        """Why a name is no validator, with the nearest ones."""
        close = nearest(name, self.validators)
        hint = f"did you mean {' or '.join(close)}?" if close else "cpl delta toolchain proposes a file."
        return f"toolchain.toml has no validator {name[:60]!r}; {hint}"


def read_toolchain(data: bytes) -> Toolchain:
    """The toolchain that a file says; `ToolchainInvalid` with the line of every error."""
    try:
        text = data.decode("utf-8")
        document = parse_toml(text)
    except (UnicodeDecodeError, Malformed) as error:
        raise ToolchainInvalid(f".codeplane/{FILE}: {error}") from error
    reader = _Reader(text.splitlines())
    validators = reader.validators(document)
    if reader.problems:
        raise ToolchainInvalid("\n".join(reader.problems[:20]), problems=reader.problems[:20])
    return Toolchain(validators, hashlib.sha256(data).hexdigest())


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.problems: list[str] = []
        self._lines = lines

    def validators(self, document: Mapping[str, Any]) -> dict[str, Validator]:
        for key in document:
            if key != "validators":
                self._add(key, None, f"unknown table or key `{key}`; only `validators` is known.")
        tables = document.get("validators", {})
        if not isinstance(tables, dict) or len(tables) > _MOST_VALIDATORS:
            self._add(
                "validators", None, f"`validators` is a table of at most {_MOST_VALIDATORS} validators."
            )
            return {}
        read = {name: self._validator(name, table) for name, table in tables.items()}
        return {name: validator for name, validator in read.items() if validator is not None}

    def _validator(self, name: str, table: object) -> Validator | None:
        if not _NAME.match(name) or not isinstance(table, dict):
            self._add(name, None, f"`{name[:60]}` is no validator: a table with a plain name is needed.")
            return None
        count = len(self.problems)
        for key in table:
            if key not in _FIELDS:
                close = nearest(key, _FIELDS)
                hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(_FIELDS)}."
                self._add(name, key, f"unknown field `{key[:60]}`; {hint}")
        for key, (is_valid, form) in _FIELDS.items():
            if key in table and not is_valid(table[key]):
                self._add(name, key, f"`{key}` is {form}.")
        if "command" not in table:
            self._add(name, None, "`command` is missing.")
        if len(self.problems) == count:
            self._check_scope(name, table)
        if len(self.problems) > count:
            return None
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        if "required" in values:
            values["is_required"] = values.pop("required")
        return Validator(name, **values)

    def _check_scope(self, name: str, table: Mapping[str, Any]) -> None:
        scope, args = table.get("scope", "project"), table.get("args", [])
        if scope == _PACKAGE:
            text = (
                "scope `package` is not supported: no package is known by all build tools; use `workspace`."
            )
            self._add(name, "scope", text)
        if scope != "file" and any(PLACEHOLDER in arg for arg in args):
            self._add(name, "args", f"`{PLACEHOLDER}` needs scope `file`; the scope is `{scope}`.")
        if scope == "file" and not any(PLACEHOLDER in arg for arg in args):
            self._add(name, "args", f"scope `file` needs an argument `{PLACEHOLDER}`.")
        if any(PLACEHOLDER in arg and arg != PLACEHOLDER for arg in args):
            self._add(name, "args", f"`{PLACEHOLDER}` is an argument of its own.")
        if scope != "file" and table.get("cwd") == "file_parent":
            self._add(name, "cwd", "`file_parent` needs scope `file`.")

    def _add(self, table: str, key: str | None, text: str) -> None:
        self.problems.append(f".codeplane/{FILE}:{self._line_of(table, key)}: {text}")

    def _line_of(self, table: str, key: str | None) -> int:
        """The line of a key of a validator; tomllib does not tell lines."""
        header = re.compile(
            rf"\s*(?:\[\s*validators\s*\.\s*['\"]?{re.escape(table)}['\"]?\s*\]|{re.escape(table)}\b|\[\s*{re.escape(table)}\b)"
        )
        first = next((n for n, line in enumerate(self._lines) if header.match(line)), 0)
        if key is None:
            return first + 1
        entry = re.compile(rf"\s*['\"]?{re.escape(key)}['\"]?\s*=")
        rest = range(first + 1, len(self._lines))
        inside = next(
            (n for n in rest if self._lines[n].lstrip().startswith("[validators")), len(self._lines)
        )
        return next((n for n in rest if n < inside and entry.match(self._lines[n])), first) + 1


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 4000 and "\0" not in value


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= 500 and all(map(_is_text, value))


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_FIELDS: Final[Mapping[str, tuple[Any, str]]] = {
    "command": (
        lambda value: isinstance(value, str) and bool(_PROGRAM.match(value)),
        "the name of a program, without a path",
    ),
    "args": (_is_texts, "a list of texts"),
    "scope": (
        lambda value: value in (*get_args(ValidatorScope), _PACKAGE),
        f"one of {', '.join(get_args(ValidatorScope))}",
    ),
    "timeout_seconds": (
        lambda value: _is_number(value) and 1 <= value <= LONGEST_SEC,
        f"a number from 1 to {LONGEST_SEC}",
    ),
    "success_exit_codes": (
        lambda value: isinstance(value, list) and bool(value) and all(map(_is_number, value)),
        "a list of numbers",
    ),
    "required": (lambda value: isinstance(value, bool), "true or false"),
    "fail_if_missing": (lambda value: isinstance(value, bool), "true or false"),
    "output_parser": (
        lambda value: value in get_args(OutputParser),
        f"one of {', '.join(get_args(OutputParser))}",
    ),
    "env_allowlist": (
        lambda value: _is_texts(value) and all(map(_VARIABLE.match, value)),
        "a list of names of variables",
    ),
    "cwd": (
        lambda value: value in get_args(WorkingDirectory),
        f"one of {', '.join(get_args(WorkingDirectory))}",
    ),
}
