"""`contexts.yaml`: the contexts of a repository as text, and what its user says about them."""

from collections.abc import Iterable
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from codeplane.contexts.contexts import Context, Override
from codeplane.core.documents import Malformed
from codeplane.core.errors import UnreadableConfig
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.core.yaml_text import parse_yaml_texts
from codeplane.languages.families import FAMILIES

_CONFIG_VERSION: Final = 1
_LARGEST_CONFIG: Final = 1_048_576

_HEADER: Final = """\
# The contexts that were found in this repository. It is obeyed in a trusted repository (cpl trust):
#   enabled: false                               on an entry switches its context off
#   {family, root_path, include, exclude}        as a new entry adds a context; the globs are optional
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


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    family: str
    root_path: str
    enabled: bool = True
    added: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    status: str | None = None
    markers: object = None
    reason: object = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal["1"]
    contexts: list[_Entry] = []


def read_contexts(text: str) -> list[Override]:
    """What the user says in contexts.yaml.

    An entry with a status and without `added` was written by CodePlane: only its `enabled` counts.
    """
    if len(text) > _LARGEST_CONFIG:
        raise _unreadable_error(f"larger than {_LARGEST_CONFIG} characters")
    try:
        file = _File.model_validate(parse_yaml_texts(text))
    except Malformed as error:
        raise _unreadable_error(str(error)) from error
    except ValidationError as error:
        raise _unreadable_error(_first_problem(error)) from error
    overrides = [_parse_override(entry) for entry in file.contexts]
    keys = {(one.family, one.root_path) for one in overrides}
    if len(keys) < len(overrides):
        raise _unreadable_error("two entries have the same family and root_path")
    return [one for one in overrides if one.added or not one.enabled]


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
