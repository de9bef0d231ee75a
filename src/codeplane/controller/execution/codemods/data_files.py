"""Codemods of a repository as data: a pattern and a template in the language of `replace_match`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codeplane.controller.execution.codemods.built_in import open_source, run_checked
from codeplane.controller.execution.codemods.codemod import Origin, Rewrite
from codeplane.core.documents import Malformed
from codeplane.core.errors import CodemodRefused, CodePlaneError
from codeplane.languages.operations import Arguments, operations_of
from codeplane.languages.patterns import compile_pattern, find_pattern, near_misses
from codeplane.storage.files import read_small

LARGEST_FILE: Final = 65_536
MOST_FILES: Final = 50
_OPERATION: Final = "replace_match"
_NAME: Final = r"^[a-z][a-z0-9_]{1,59}$"
_PLACE: Final = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")
_LONGEST_VALUE: Final = 200
_WORD: Final = r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ParameterSchema(_Part):
    """One parameter: what it means, and which values it may have."""

    description: str = ""
    matches: str = _WORD  # a regular expression for the whole value


class CodemodFile(_Part):
    """A codemod as its file says it."""

    codemod: str = Field(pattern=_NAME)
    description: str = ""
    languages: list[str] = []
    pattern: str = Field(min_length=1, max_length=20_000)
    inside: str = ""
    template: str = Field(alias="with", max_length=20_000)
    parameters: dict[str, ParameterSchema] = {}
    expect: int | None = Field(default=None, ge=1, le=10_000)


@dataclass(frozen=True)
class DataCodemod:
    """A pattern that is looked for and a template that takes its place, with parameters filled in."""

    file: CodemodFile
    origin: Origin = "repository"

    @property
    def codemod_id(self) -> str:
        return self.file.codemod

    @property
    def description(self) -> str:
        return self.file.description

    def rewrite(self, path: str, data: bytes, params: Mapping[str, Any]) -> Rewrite:
        """The file with every match replaced."""
        values = self._checked(params)
        source = open_source(path, data)
        operation = operations_of(source.language).get(_OPERATION)
        if operation is None or (self.file.languages and source.language not in self.file.languages):
            languages = ", ".join(self.file.languages) or "languages with a grammar pack"
            raise CodemodRefused(f"{self.codemod_id} works in {languages}; {path} is {source.language}.")
        pattern, template = (_fill(text, values) for text in (self.file.pattern, self.file.template))
        try:
            compiled_pattern = compile_pattern(
                source.language, pattern, inside=_fill(self.file.inside, values)
            )
            matches = find_pattern(source, compiled_pattern)
        except CodePlaneError as error:
            raise CodemodRefused(f"{self.codemod_id}: {error.message}") from error
        expected_count = self.file.expect
        if matches and expected_count is not None and len(matches) != expected_count:
            raise CodemodRefused(
                f"{self.codemod_id}: {len(matches)} places match, {expected_count} are expected."
            )
        if not matches and operation.is_done(source, pattern, Arguments({"with": template})):
            return Rewrite(data, (f"`{pattern[:80]}` matches nothing; taken as done.",))
        if not matches:
            misses = [
                f"line {one.line}: {one.text} ({one.reason})" for one in near_misses(source, compiled_pattern)
            ]
            raise CodemodRefused(f"{self.codemod_id}: `{pattern[:80]}` matches nothing.", candidates=misses)
        return run_checked(operation, source, list(matches), {"with": template})

    def _checked(self, params: Mapping[str, Any]) -> dict[str, str]:
        schemas = self.file.parameters
        problems = [f"{name} is unknown" for name in params if name not in schemas]
        for name, schema in schemas.items():
            value = params.get(name)
            if not isinstance(value, str) or len(value) > _LONGEST_VALUE:
                problems.append(f"{name} is a text: {schema.description or schema.matches}")
            elif re.fullmatch(schema.matches, value) is None:
                problems.append(f"{name}: {value[:60]!r} does not match {schema.matches}")
        if problems:
            raise CodemodRefused(f"{self.codemod_id}: {'; '.join(problems)}.", takes=sorted(schemas))
        return {name: str(params[name]) for name in schemas}


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values[match[1]], text)


def read_codemods(folder: Path) -> Iterator[DataCodemod]:
    """The codemods of a folder. The caller has made sure that the repository is trusted."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError:
        return
    for file in files[:MOST_FILES]:
        yield DataCodemod(_read_file(file))


def _read_file(file: Path) -> CodemodFile:
    from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

    data = read_small(file, LARGEST_FILE)
    if data is None:
        raise CodemodRefused(f"{file.name}: not a plain file of at most {LARGEST_FILE} bytes.")
    try:
        codemod = CodemodFile.model_validate(parse_yaml(data.decode("utf-8-sig")))
    except (Malformed, UnicodeDecodeError) as error:
        raise CodemodRefused(f"{file.name}: {error}.") from error
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        # A misspelled key is missing as well: its own spelling says more.
        first = next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])
        where = ".".join(map(str, first["loc"]))
        raise CodemodRefused(f"{file.name}: {where}: {first['msg']}.") from error
    if codemod.codemod != file.stem:
        raise CodemodRefused(
            f"{file.name}: the codemod is {codemod.codemod}; file and codemod have one name."
        )
    _check_places(file, codemod)
    return codemod


def _check_places(file: Path, codemod: CodemodFile) -> None:
    texts = (codemod.pattern, codemod.inside, codemod.template)
    names = {match for text in texts for match in _PLACE.findall(text)}
    if stray := sorted(names - codemod.parameters.keys()):
        raise CodemodRefused(f"{file.name}: {stray[0]} is no parameter of the codemod.")
    for name, schema in codemod.parameters.items():
        try:
            re.compile(schema.matches)
        except re.error as error:
            raise CodemodRefused(f"{file.name}: parameters.{name}.matches: {error}.") from error
