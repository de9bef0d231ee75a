"""Prefixes that files beside the code give: routes of a directory, settings of an application."""

import posixpath
from collections.abc import Sequence
from fnmatch import fnmatchcase

from codeplane.core.yaml_text import parse_yaml
from codeplane.names import Codebase


def directory_prefixes(code: Codebase, pattern: str) -> list[tuple[str, str]]:
    """Directories with the prefix of their controllers, the deepest first: `resource`, `type`, `prefix`."""
    if not pattern:
        return []
    rows: list[tuple[str, str]] = []
    for path in code.paths_with("prefix"):
        if not fnmatchcase(path, pattern):
            continue
        data = code.read(path)
        try:
            document = parse_yaml((data or b"").decode("utf-8", "replace"))
        except ValueError:
            continue
        for entry in document.values() if isinstance(document, dict) else ():
            if not isinstance(entry, dict) or not isinstance(entry.get("prefix"), str):
                continue
            resource = entry.get("resource")
            resource = resource.get("path") if isinstance(resource, dict) else resource
            if isinstance(resource, str):
                directory = posixpath.normpath(posixpath.join(posixpath.dirname(path), resource))
                rows.append((directory, entry["prefix"]))
    return sorted(rows, key=lambda row: -len(row[0]))


def configured_prefix(code: Codebase, path: str, keys: Sequence[str]) -> str:
    """The prefix that `application.properties` or its YAML twin gives to the sources beside it."""
    root, separator, _ = path.partition("src/main/")
    if not separator:
        return ""
    parts = []
    for name in ("application.properties", "application.yml", "application.yaml"):
        data = code.read(f"{root}src/main/resources/{name}")
        if data is not None:
            table = _settings(name, data.decode("utf-8", "replace"))
            parts += [table[key] for key in keys if key in table]
    return "".join(f"/{part.strip('/')}" for part in parts if part.strip("/") and "${" not in part)


def _settings(name: str, text: str) -> dict[str, str]:
    if name.endswith(".properties"):
        pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
        return {key.strip(): value.strip() for key, _, value in pairs}
    try:
        document = parse_yaml(text)
    except ValueError:
        return {}
    table: dict[str, str] = {}
    pending: list[tuple[str, object]] = [("", document)]
    while pending:
        prefix, value = pending.pop()
        if isinstance(value, dict):
            pending += [(f"{prefix}.{key}" if prefix else str(key), item) for key, item in value.items()]
        elif isinstance(value, str):
            table[prefix] = value
    return table
