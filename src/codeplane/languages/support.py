"""The table of what is read out of each language, made from its queries and its spec."""

from functools import cache

from codeplane.languages.extraction.grammar import query_files
from codeplane.languages.spec import LanguageSpec, specs

_COLUMNS = {
    "Definitions": ("@definition.", "@bind.variable"),
    "References": ("@identifier",),
    "Scopes": ("@scope.",),
    "Binds": ("@bind.",),
    "Members": ("@member", "@receiver"),
    "Imports": ("@import.",),
    "Inheritance": ("@base",),
    "Types": ("@annotation",),
}


@cache
def has_references(language: str) -> bool:
    """Whether the uses of names are read out of a language, and not only what it defines."""
    return any("@identifier" in path.read_text() for path in query_files(language))


def support_table() -> str:
    """Which facts each language has, as a Markdown table."""
    columns = [*_COLUMNS, "Exports", "Dynamic sites", "Tests", "Files", "Left out"]
    rows = ["| Language | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 1) + "|"]
    rows += [_table_row(spec) for spec in specs().values()]
    return "\n".join(rows) + "\n"


def _table_row(spec: LanguageSpec) -> str:
    queries = "\n".join(path.read_text() for path in query_files(spec.name))
    has = [any(capture in queries for capture in captures) for captures in _COLUMNS.values()]
    has += [
        "@export." in queries or bool(spec.default_exports),
        "@dynamic." in queries or bool(spec.dynamic_calls),
        "@test" in queries or bool(spec.tests),
    ]
    files = ", ".join(f"`{name}`" for name in (*spec.extensions, *spec.filenames))
    return (
        f"| {spec.name} | "
        + " | ".join("yes" if one else "no" for one in has)
        + f" | {files} | {spec.gaps} |"
    )
