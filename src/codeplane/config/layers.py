"""Four layers make the settings: overrides, repository, user, defaults."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import GenericAlias
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from codeplane.config.places import ENV_PREFIX
from codeplane.config.settings import Settings
from codeplane.core.errors import ConfigError, InvalidSetting, UnknownSetting, UnreadableConfig
from codeplane.core.suggest import nearest

_LARGEST_FILE = 1_048_576

_Tree = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """One layer: where it came from, in words for an error, and the tree it holds."""

    label: str
    tree: Mapping[str, Any]


def load_settings(sources: Sequence[Source]) -> Settings:
    """Merges the sources, the strongest first, over the defaults; each is checked on its own."""
    merged: _Tree = {}
    for source in reversed(sources):
        _check(source)
        _merge(merged, source.tree)
    return Settings.model_validate(merged)


def file_source(path: Path) -> Source:
    """Reads a YAML file; a missing one is an empty layer."""
    label = str(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise UnreadableConfig(f"{label}: larger than {_LARGEST_FILE} bytes.", file=label)
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Source(label, {})
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableConfig(f"{label}: {error}.", file=label) from error
    return Source(label, _mapping(_parse(text, label), label))


def env_source(overrides: Mapping[str, str]) -> Source:
    """Reads `CODEPLANE__SERVER__PORT=8080` as `server.port: 8080`."""
    tree: _Tree = {}
    for name in sorted(overrides):
        keys = name.removeprefix(ENV_PREFIX).lower().split("__")
        _plant(tree, keys, overrides[name], name)
    return Source("environment", tree)


def assignment_source(assignments: Sequence[str]) -> Source:
    """Reads `server.port=8080`, as given to `--set`."""
    tree: _Tree = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise InvalidSetting(
                f"--set {assignment}: not of the form key=value.",
                hints=["cpl up --set server.port=8080"],
            )
        _plant(tree, key.strip().split("."), value, f"--set {key.strip()}")
    return Source("--set", tree)


def setting_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every dotted key that may be set."""
    for name, field in model.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield prefix + name
        else:
            yield from setting_keys(section, f"{prefix}{name}.")


def _parse(text: str, label: str) -> object:
    import yaml  # most starts read no YAML at all

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UnreadableConfig(f"{label}: {error}", file=label) from error


def _mapping(value: object, label: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    raise UnreadableConfig(f"{label}: not a mapping of settings.", file=label)


def _plant(tree: _Tree, keys: Sequence[str], value: str, label: str) -> None:
    node = tree
    for key in keys[:-1]:
        child = node.setdefault(key, {})
        if not isinstance(child, dict):
            raise InvalidSetting(f"{label}: {key} is given both a value and parts.")
        node = child
    node[keys[-1]] = _parse(value, label)


def _check(source: Source) -> None:
    _check_keys(source.tree, Settings, source.label, "")
    try:
        Settings.model_validate(source.tree)
    except ValidationError as error:
        raise _invalid(error, source) from error


def _check_keys(tree: Mapping[str, Any], model: type[BaseModel], label: str, prefix: str) -> None:
    for key, value in tree.items():
        field = model.model_fields.get(key)
        if field is None:
            raise _unknown(prefix + key, label)
        section = _section(field.annotation)
        if section is not None and isinstance(value, dict):
            _check_keys(value, section, label, f"{prefix}{key}.")


def _unknown(key: str, label: str) -> ConfigError:
    near = nearest(key, setting_keys(), most=1)
    ending = f"; did you mean {near[0]}?" if near else "."
    return UnknownSetting(
        f"{label}: there is no setting {key}{ending}",
        source=label,
        key=key,
        **({"nearest": near[0]} if near else {}),
    )


def _invalid(error: ValidationError, source: Source) -> ConfigError:
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    given = first["input"]
    near = _nearest_value(first["msg"], given)
    ending = f"; did you mean {near}?" if near else "."
    return InvalidSetting(
        f"{source.label}: {key} is {given!r}: {first['msg'].rstrip('.')}{ending}",
        source=source.label,
        key=key,
    )


def _nearest_value(message: str, given: object) -> str | None:
    quoted = message.split("'")[1::2]
    if not quoted or not isinstance(given, str):
        return None
    return next(iter(nearest(given, quoted, most=1)), None)


def _section(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, GenericAlias) or get_origin(annotation) or get_args(annotation):
        return None
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _merge(into: _Tree, tree: Mapping[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else value
