"""Requirements of packages as manifests write them, in few words: name, versions, when."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_LONGEST: Final = 60
_PYTHON: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;@()]*)\)?\s*(?P<url>@[^;]*)?(?:;(?P<marker>.*))?",
    re.DOTALL,
)
# Anything else, an address for one, may hold what nobody should see.
_VERSIONS: Final = re.compile(r"[\w.*^~<>=!|,+ -]{1,40}")
_INTERPRETER: Final = re.compile(r"python_(?:full_)?version")
_EQUAL: Final = re.compile(r"(?:sys_platform|platform_system|os_name|platform_python_implementation)==")
_SPACE: Final = re.compile(r"\s*(,|[<>=!~]=?=?)\s*")


def python_requirement(text: str, extra: str = "") -> str:
    """`anyio>=4 (python<3.13)` of `anyio >= 4; python_version < '3.13'`; "" where there is no name."""
    match = _PYTHON.match(text.strip())
    if match is None:
        return ""
    versions = _SPACE.sub(r"\1", match["versions"].strip())
    versions = versions if _VERSIONS.fullmatch(versions) else ""
    marker = _SPACE.sub(r"\1", (match["marker"] or "").strip()).replace("'", "").replace('"', "")
    marker = _EQUAL.sub("", _INTERPRETER.sub("python", marker))
    notes = ", ".join(filter(None, [f"extra {extra}" if extra else "", marker]))
    return _cut(f"{match['name']}{versions}" + (f" ({notes})" if notes else ""))


def versioned(table: Mapping[str, Any]) -> Iterator[str]:
    """`name versions` of a table from names to versions, or to tables that have one."""
    for name, value in table.items():
        is_table = isinstance(value, Mapping)
        version = value.get("version") if is_table else value
        is_plain = isinstance(version, str) and version != "*" and _VERSIONS.fullmatch(version)
        optional = " (optional)" if is_table and value.get("optional") is True else ""
        yield _cut(f"{name} {version}{optional}" if is_plain else f"{name}{optional}")


def _cut(text: str) -> str:
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text
