"""The built-in codemods: operations of grammar packs that are done to a file as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.execution.codemods.codemod import Origin, Rewrite
from codeplane.core.errors import CodemodRefused
from codeplane.languages.operations import Match, Operation, OperationRefused, Source, operations_of
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.run import run_operation
from codeplane.languages.query import LARGEST, errors_in, is_too_broken, is_too_deep
from codeplane.languages.spec import language_of, specs

NAMES: Final = (
    "rename_identifier_in_file",
    "update_import_specifier",
    "update_route_path_literal",
    "rewrite_template_tag",
)


@dataclass(frozen=True)
class PackCodemod:
    """An operation by name, in whichever language the file has."""

    codemod_id: str
    origin: Origin = "built-in"

    @property
    def description(self) -> str:
        """What the operation says of itself in the first language that has it."""
        return next(iter(self._operations().values())).summary

    def _operations(self) -> dict[str, Operation]:
        by_language = {name: operations_of(name).get(self.codemod_id) for name in specs()}
        return {name: one for name, one in by_language.items() if one is not None}

    def rewrite(self, path: str, data: bytes, params: Mapping[str, Any]) -> Rewrite:
        """The file after the operation."""
        source = open_source(path, data)
        operation = operations_of(source.language).get(self.codemod_id)
        if operation is None:
            languages = ", ".join(self._operations())
            raise CodemodRefused(
                f"{self.codemod_id} works in {languages}; {path} is {source.language}.",
                languages=list(self._operations()),
            )
        return run_checked(operation, source, [Match(source.root)], params)


def open_source(path: str, data: bytes) -> Source:
    """A file with its tree; refused where no language reads it."""
    language = language_of(path, data[:200])
    if language is None or b"\0" in data:
        raise CodemodRefused(f"No language of CodePlane reads {path}.")
    if len(data) > LARGEST:
        raise CodemodRefused(f"{path} is too large to be parsed.")
    source = Source(language, data, path)
    if is_too_deep(source.root, len(data)) or is_too_broken(source.root):
        raise CodemodRefused(f"{path} is too deep or too broken to be parsed.")
    return source


def run_checked(
    operation: Operation, source: Source, matches: list[Match], params: Mapping[str, Any]
) -> Rewrite:
    """Runs an operation with checked parameters; its result has to parse as well as the file did."""
    language = source.language
    arguments, errors = check_arguments(operation, pack_of(language) or language, language, params)
    if errors:
        takes = {one.name: one.description for one in operation.arguments}
        raise CodemodRefused(f"{operation.name}: {' '.join(errors)}", takes=takes)
    try:
        result = run_operation(operation, source, matches, arguments)
    except OperationRefused as refusal:
        raise CodemodRefused(f"{operation.name}: {refusal.reason}") from refusal
    after = Source(language, result.data, source.path)
    if after.root.has_error and errors_in(after.root) > errors_in(source.root):
        raise CodemodRefused(f"{operation.name}: the result would have a new syntax error.")
    return Rewrite(result.data, tuple(result.outcome.notes))
