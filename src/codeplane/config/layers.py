"""Four layers make the settings: overrides, repository, user, defaults."""

import os
import reprlib
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import GenericAlias
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from codeplane.config.places import ENV_PREFIX
from codeplane.config.settings import Settings
from codeplane.core.errors import ConfigError, InvalidSetting, UnknownSetting, UnreadableConfig
from codeplane.core.suggest import nearest, nearest_quoted

_LARGEST_FILE = 1_048_576
_LONGEST_SHOWN = 80

_Tree = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One layer: where it came from, in words for an error, and the tree it holds.

    A layer that is put together from parts names the part that a key came from.
    """

    label: str
    tree: Mapping[str, Any]
    parts: Mapping[str, str] = field(default_factory=dict)
    is_repository: bool = False  # written by whoever may write to the repository

    def label_of(self, key: str) -> str:
        while key and key not in self.parts:
            key = key.rpartition(".")[0]
        return self.parts.get(key, self.label)


def load_settings(sources: Sequence[Source]) -> Settings:
    """Merges the sources, the strongest first, over the defaults; each is checked on its own."""
    values: _Tree = {}
    for source in reversed(sources):
        _check_source(source)
        _merge_trees(values, source.tree)
    return Settings.model_validate(values)


def repository_source(path: Path) -> Source:
    """Reads a repository's own file, which can't give what only the user may decide."""
    return replace(file_source(path), is_repository=True)


def file_source(path: Path) -> Source:
    """Reads a YAML file; a missing one is an empty layer."""
    label = str(path)
    try:
        tree = _parse_text(_read_file(path).decode("utf-8"))
    except FileNotFoundError:
        return Source(label, {})
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnreadableConfig(f"{label}: {reason}.", file=label) from error
    except ValueError as error:
        raise UnreadableConfig(f"{label}: {error}.", file=label) from error
    if tree is None:
        return Source(label, {})
    if not isinstance(tree, dict):
        raise UnreadableConfig(f"{label}: not a mapping of settings.", file=label)
    return Source(label, tree)


def env_source(overrides: Mapping[str, str]) -> Source:
    """Reads `CODEPLANE__SERVER__PORT=8080` as `server.port: 8080`."""
    tree: _Tree = {}
    parts = {}
    for name in sorted(overrides):
        keys = name.removeprefix(ENV_PREFIX).lower().split("__")
        _plant_value(tree, keys, overrides[name], name)
        parts[".".join(keys)] = name
    return Source("environment", tree, parts)


def assignment_source(assignments: Sequence[str]) -> Source:
    """Reads `server.port=8080`, as given to `--set`."""
    tree: _Tree = {}
    parts = {}
    for assignment in assignments:
        label = f"--set {_cut_text(assignment)}"
        key, equals, value = assignment.partition("=")
        key = key.strip()
        if not equals or not key:
            raise InvalidSetting(
                f"{label}: not of the form key=value.",
                hints=["cpl up --set server.port=8080"],
            )
        _plant_value(tree, key.split("."), value, label)
        parts[key] = label
    return Source("--set", tree, parts)


def setting_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every dotted key that may be set."""
    for name, info in model.model_fields.items():
        section = _section_model(info.annotation)
        if section is None:
            yield prefix + name
        else:
            yield from setting_keys(section, f"{prefix}{name}.")


def _read_file(path: Path) -> bytes:
    # The user's file may be a link, but neither a pipe nor a device is waited for.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(fd, "rb", closefd=True) as stream:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a regular file")
        data = stream.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise ValueError(f"larger than {_LARGEST_FILE} bytes")
    return data


def _parse_text(text: str) -> object:
    from codeplane.core.yaml_text import parse_yaml  # most starts read no YAML at all

    return parse_yaml(text)


def _plant_value(tree: _Tree, keys: Sequence[str], value: str, label: str) -> None:
    node = tree
    for key in keys[:-1]:
        child = node.setdefault(key, {})
        if not isinstance(child, dict):
            raise InvalidSetting(f"{label}: {key} is given both a value and parts.")
        node = child
    try:
        node[keys[-1]] = _parse_text(value)
    except ValueError as error:
        raise InvalidSetting(f"{label}: {error}.", source=label) from error


def _check_source(source: Source) -> None:
    _check_keys(source.tree, Settings, source, "")
    try:
        Settings.model_validate(source.tree)
    except ValidationError as error:
        raise _invalid_value_error(error, source) from error


def _check_keys(tree: Mapping[Any, Any], model: type[BaseModel], source: Source, prefix: str) -> None:
    for key, value in tree.items():
        info = model.model_fields.get(key) if isinstance(key, str) else None
        if info is None:
            raise _unknown_key_error(prefix + (key if isinstance(key, str) else _show_value(key)), source)
        section = _section_model(info.annotation)
        if section is not None and isinstance(value, dict):
            _check_keys(value, section, source, f"{prefix}{key}.")
        if source.is_repository and is_user_only(info):
            raise _user_only_error(prefix + key, source)


def is_user_only(info: FieldInfo) -> bool:
    """Whether only the user's own layers may give a setting."""
    extra = info.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("user_only"))


def _user_only_error(key: str, source: Source) -> ConfigError:
    return InvalidSetting(
        f"{source.label_of(key)}: {key} can't be set by a repository.",
        hints=["Move it to your own configuration file (`cpl doctor` shows where that is)."],
        source=source.label_of(key),
        key=key,
    )


def _unknown_key_error(key: str, source: Source) -> ConfigError:
    label = source.label_of(key)
    key = _cut_text(key)
    near = nearest(key, setting_keys(), most=1)
    ending = f"; did you mean {near[0]}?" if near else "."
    return UnknownSetting(
        f"{label}: there is no setting {key}{ending}",
        source=label,
        key=key,
        **({"nearest": near[0]} if near else {}),
    )


def _invalid_value_error(error: ValidationError, source: Source) -> ConfigError:
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    label = source.label_of(key)
    value = first["input"]
    near = nearest_quoted(first["msg"], value)
    ending = f"; did you mean {near}?" if near else "."
    # What is missing has no value: the input is that of what it is missing in.
    text = (
        "missing."
        if first["type"] == "missing"
        else f"{_show_value(value)}: {first['msg'].rstrip('.')}{ending}"
    )
    return InvalidSetting(
        f"{label}: {_cut_text(key)} is {text}",
        source=label,
        key=_cut_text(key),
    )


def _show_value(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python writes out no integer of more than some thousand digits
        return "a number of thousands of digits"


def _cut_text(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _section_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, GenericAlias) or get_origin(annotation) or get_args(annotation):
        return None
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _merge_trees(into: _Tree, tree: Mapping[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge_trees(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else value
