"""Prefixes that YAML files give to the controllers of a directory."""

import posixpath
from fnmatch import fnmatchcase

from codeplane.core.yaml_text import parse_yaml
from codeplane.names import Codebase


def directory_prefixes(code: Codebase, pattern: str) -> list[tuple[str, str]]:
    """Directories with the prefix of their controllers, the deepest first: `resource`, `type`, `prefix`."""
    if not pattern:
        return []
    rows: list[tuple[str, str]] = []
    for path in code.layout.ordered:
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
