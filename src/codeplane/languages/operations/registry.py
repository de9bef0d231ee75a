"""Finds the operations of a language by reading its folder."""

import importlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from codeplane.languages.operations.operation import Argument, Operation
from codeplane.languages.spec import HERE, specs

_GENERIC = "operations.generic"
# Where it is known how calls of a language pass arguments, they can follow a parameter.
_CALL_ARGUMENT = Argument(
    "argument", "expression", "what calls pass for it, with `call_sites`; its default where that is left out"
)


@cache
def operations_of(language: str) -> Mapping[str, Operation]:
    """The operations of a language by name, the generic ones among them; none where no pack claims it."""
    folder = _folder_of(language)
    if folder is None:
        return {}
    return {**_modules_in(_GENERIC), **_modules_in(f"{folder}.operations")}


def pack_of(language: str) -> str | None:
    """The grammar pack that a language belongs to: TypeScript is of that of JavaScript."""
    return _folder_of(language)


@cache
def formatter_of(language: str) -> str | None:
    """The formatter that brings what operations write into a project's form, by its name as a linter.

    None for a language whose operations get their layout right by themselves.
    """
    folder = _folder_of(language)
    if folder is None or not (HERE / folder / "operations" / "_formatter.py").is_file():
        return None
    name: str = importlib.import_module(f"codeplane.languages.{folder}.operations._formatter").FORMATTER
    return name


@cache
def _folder_of(language: str) -> str | None:
    if (HERE / language / "operations").is_dir():
        return language
    return specs()[language].operations or None


@cache
def _modules_in(folder: str) -> Mapping[str, Operation]:
    names = sorted(path.stem for path in (HERE / folder.replace(".", "/")).glob("[a-z]*.py"))
    modules = {name: importlib.import_module(f"codeplane.languages.{folder}.{name}") for name in names}
    operations = {name: getattr(module, name) for name, module in modules.items()}
    if "add_parameter" in operations and (HERE / folder.replace(".", "/") / "_call_sites.py").exists():
        adding: Operation = operations["add_parameter"]
        operations["add_parameter"] = replace(adding, arguments=(*adding.arguments, _CALL_ARGUMENT))
    return operations
