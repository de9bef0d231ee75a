"""What facts are read by: a language's spec, its queries compiled into one, and its hooks."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from tree_sitter import Parser, Query

from codeplane.languages.query import compiled, parser_of
from codeplane.languages.spec import HERE, LanguageSpec, part_of, specs


@dataclass(frozen=True)
class Grammar:
    """A language ready to read files."""

    spec: LanguageSpec
    parser: Parser
    query: Query
    hooks: ModuleType | None


def query_files(name: str) -> list[Path]:
    """The query files of a language, those of the language that it inherits from first."""
    parent = specs()[name].inherits
    own = sorted((HERE / name).glob("*.scm"))
    if not parent:
        return own
    apart = specs()[parent].own_queries
    return [*(path for path in query_files(parent) if path.name not in apart), *own]


@cache
def grammar(name: str) -> Grammar:
    """A language ready to read files, loaded at the first call."""
    text = "\n".join(path.read_text() for path in query_files(name))
    return Grammar(specs()[name], parser_of(name), compiled(name, text), part_of(name, "hooks"))
