"""A `toolchain.toml` proposed from the linters and test runners that a repository uses."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from codeplane.delta.toolchain import OutputParser, Validator, ValidatorScope

# What each of them is run as, so that it checks and changes nothing.
_LINTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "mypy": ("mypy", "."),
    "pyright": ("pyright", "--outputjson"),
    "basedpyright": ("basedpyright", "--outputjson"),
    "ruff": ("ruff", "check", "--output-format=json", "--", "{file}"),
    "ruff-format": ("ruff", "format", "--check", "--", "{file}"),
    "black": ("black", "--check", "--quiet", "--", "{file}"),
    "eslint": ("eslint", "--format=json", "--", "{file}"),
    "biome": ("biome", "check", "{file}"),
    "prettier": ("prettier", "--check", "--", "{file}"),
    "tsc": ("tsc", "--noEmit", "--pretty", "false"),
    "clippy": ("cargo", "clippy", "--offline", "--message-format=json"),
    "rustfmt": ("cargo", "fmt", "--check"),
    "govet": ("go", "vet", "./..."),
    "gofmt": ("gofmt", "-l", "{file}"),
    "shellcheck": ("shellcheck", "--format=gcc", "--", "{file}"),
}
_RUNNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "pytest": ("pytest", "-q"),
    "unittest": ("python", "-m", "unittest"),
    "cargo": ("cargo", "test", "--offline", "--quiet"),
    "go": ("go", "test", "./..."),
    "jest": ("jest", "--ci"),
    "vitest": ("vitest", "run"),
    "node": ("node", "--test"),
    "ctest": ("ctest", "--output-on-failure"),
    "rspec": ("rspec",),
    "phpunit": ("phpunit",),
    "mix": ("mix", "test"),
}
_PARSERS: Final[Mapping[str, OutputParser]] = {
    "pyright": "json",
    "basedpyright": "json",
    "ruff": "json",
    "eslint": "json",
    "clippy": "cargo-json",
}
_TEST_SEC: Final = 900


def propose_toolchain(linters: Iterable[str], runners: Iterable[str]) -> str:
    """The text of a toolchain with a validator for each linter and test runner that is known here."""
    validators = [_validator(name, _LINTERS[name]) for name in linters if name in _LINTERS]
    validators += [_validator(f"tests-{name}", _RUNNERS[name]) for name in runners if name in _RUNNERS]
    return "\n".join(_table(one) for one in validators)


def _validator(name: str, argv: tuple[str, ...]) -> Validator:
    is_test = name.startswith("tests-")
    is_workspace = argv[0] in ("cargo", "tsc", "eslint", "prettier")
    scope: ValidatorScope = "file" if "{file}" in argv else "workspace" if is_workspace else "project"
    return Validator(
        name,
        argv[0],
        argv[1:],
        scope=scope,
        timeout_seconds=_TEST_SEC if is_test else 300,
        output_parser=_PARSERS.get(name, "text"),
        cwd="workspace_root" if is_workspace and scope == "workspace" else "project_root",
    )


def _table(one: Validator) -> str:
    lines = [
        f"[validators.{one.name}]",
        f"command = {json.dumps(one.command)}",
        f"args = {json.dumps(list(one.args))}",
        f'scope = "{one.scope}"',
        f"timeout_seconds = {one.timeout_seconds}",
        f'output_parser = "{one.output_parser}"',
        *([f'cwd = "{one.cwd}"'] if one.cwd != "project_root" else []),
    ]
    return "\n".join(lines) + "\n"
