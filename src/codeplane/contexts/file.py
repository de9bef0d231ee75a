"""`contexts.yaml`: the contexts of a repository as text, and what its user says about them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from codeplane.contexts.contexts import Context, Override
from codeplane.core.documents import Malformed
from codeplane.core.errors import UnreadableConfig
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.core.yaml_text import parse_yaml_texts
from codeplane.languages.families import FAMILIES

_CONFIG_VERSION: Final = 1
_LARGEST_CONFIG: Final = 1_048_576
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Divergence = Literal["fail"]

_HEADER: Final = """\
# The contexts that were found in this repository. It is obeyed in a trusted repository (cpl trust):
#   enabled: false                               on an entry switches its context off
#   {family, root_path, include, exclude}        as a new entry adds a context; the globs are optional
#   indexer: NAME, env: {VARIABLE: value}        on an entry choose its semantic indexer; off for none
"""


def write_contexts(contexts: Iterable[Context], overrides: Iterable[Override] = ()) -> str:
    """The text of contexts.yaml: the same contexts and overrides give the same text."""
    said = {(one.family, one.root_path): one for one in overrides}
    entries = []
    for one in sorted(contexts, key=lambda one: (one.family, one.root_path)):
        override = said.pop((one.family, one.root_path), None)
        entry: dict[str, object] = {"family": one.family, "root_path": str(one.root_path)}
        entry |= _override_entry(override) if override else {}
        entry |= {"status": one.probe_status, "markers": list(one.markers)}
        entries.append(entry | ({"reason": one.reason} if one.reason else {}))
    for _, override in sorted(said.items()):
        entries.append(
            {"family": override.family, "root_path": str(override.root_path)} | _override_entry(override)
        )
    tree = {"version": _CONFIG_VERSION, "contexts": entries}
    return _HEADER + yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Quotes and escapes every name that a plain scalar would not bring back as it was."""

    def represent_name(self, name: str) -> yaml.ScalarNode:
        style = None if name.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", name, style=style)


_Dumper.add_representer(str, _Dumper.represent_name)


def _override_entry(override: Override) -> dict[str, object]:
    said: dict[str, object] = {"added": True} if override.added else {}
    said |= {} if override.enabled else {"enabled": False}
    said |= {"include": list(override.include)} if override.include else {}
    return said | ({"exclude": list(override.exclude)} if override.exclude else {})


@dataclass(frozen=True)
class IndexerChoice:
    """Which indexer the user wants for a context, and what it sees in its environment besides."""

    indexer: str = ""  # "" for the one that is preferred, `off` for none
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SemanticChoices:
    """What contexts.yaml says about the semantic tier."""

    by_unit: dict[str, IndexerChoice] = field(default_factory=dict)  # by `Context.unit`
    max_parallel_contexts: int = 1
    # What a refactoring does where build contexts disagree about an open place: it is refused.
    divergence_behavior: Divergence = "fail"

    def of_unit(self, unit: str) -> IndexerChoice:
        return self.by_unit.get(unit, IndexerChoice())


class _IndexerName(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = ""


class _Defaults(BaseModel):
    model_config = ConfigDict(extra="forbid")

    max_parallel_contexts: int = Field(default=1, ge=1, le=16)
    divergence_behavior: Divergence = "fail"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    family: str
    root_path: str
    enabled: bool = True
    added: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    indexer: _IndexerName = _IndexerName()
    env: dict[str, str] = {}
    status: str | None = None
    markers: object = None
    reason: object = None

    @field_validator("indexer", mode="before")
    @classmethod
    def _name_alone(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal["1"]
    contexts: list[_Entry] = []
    defaults: _Defaults = _Defaults()


def read_contexts(text: str) -> list[Override]:
    """What the user says in contexts.yaml.

    An entry with a status and without `added` was written by CodePlane: only its `enabled`, `indexer` and
    `env` count.
    """
    overrides = [_parse_override(entry) for entry in _read_file(text).contexts]
    keys = {(one.family, one.root_path) for one in overrides}
    if len(keys) < len(overrides):
        raise _unreadable_error("two entries have the same family and root_path")
    return [one for one in overrides if one.added or not one.enabled]


def read_semantic_choices(text: str) -> SemanticChoices:
    """What the user says in contexts.yaml about indexers."""
    file = _read_file(text)
    choices = {}
    for entry in file.contexts:
        override = _parse_override(entry)
        name = entry.indexer.name
        if wrong := [one for one in entry.env if not _VARIABLE.fullmatch(one)]:
            raise _unreadable_error(f"{wrong[0]!r} is not the name of an environment variable")
        if name or entry.env:
            choices[f"{override.family}:{override.root_path}"] = IndexerChoice(name, entry.env)
    defaults = file.defaults
    return SemanticChoices(choices, defaults.max_parallel_contexts, defaults.divergence_behavior)


def _read_file(text: str) -> _File:
    if len(text) > _LARGEST_CONFIG:
        raise _unreadable_error(f"larger than {_LARGEST_CONFIG} characters")
    try:
        return _File.model_validate(parse_yaml_texts(text))
    except Malformed as error:
        raise _unreadable_error(str(error)) from error
    except ValidationError as error:
        raise _unreadable_error(_first_problem(error)) from error


def _parse_override(entry: _Entry) -> Override:
    where = f"{entry.family} at {entry.root_path or '.'}"
    if entry.family not in FAMILIES:
        near = nearest(entry.family, FAMILIES, most=1)
        raise _unreadable_error(
            f"there is no family {entry.family}" + (f"; did you mean {near[0]}?" if near else "")
        )
    root_path = "" if entry.root_path == "." else entry.root_path.removesuffix("/")
    if root_path and not _is_canonical(root_path):
        raise _unreadable_error(f"{where}: root_path is not a relative path without . and ..")
    if not all(_is_canonical(glob) for glob in entry.include + entry.exclude):
        raise _unreadable_error(f"{where}: a glob is not a relative path without . and ..")
    is_added = entry.added or entry.status is None
    if is_added and entry.enabled and not (entry.include or FAMILIES[entry.family].include):
        raise _unreadable_error(f"{where}: this family needs an include list")
    return Override(entry.family, RepoPath(root_path), entry.enabled, is_added, entry.include, entry.exclude)


def _is_canonical(path: str) -> bool:
    return not {"", ".", ".."} & set(path.split("/"))


def _first_problem(error: ValidationError) -> str:
    first: Any = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _unreadable_error(problem: str) -> UnreadableConfig:
    return UnreadableConfig(f"contexts.yaml: {problem.rstrip('.')}.", file="contexts.yaml")
