import ast
from pathlib import Path

import codeplane
from tests.architecture.words import dependent_docstrings, one_word_functions, participles

SOURCES = Path(next(iter(codeplane.__path__)))
# Shares of the tree, in percent. They only ever go down.
MOST_PARTICIPLES = 0.7
MOST_ONE_WORD = 37.0


def tree() -> list[ast.Module]:
    return [ast.parse(file.read_text()) for file in sorted(SOURCES.rglob("*.py"))]


def test_participles_do_not_spread_among_variables() -> None:
    share = participles(tree())
    assert share.percent <= MOST_PARTICIPLES, f"{share.percent:.2f} % of {share.total}"


def test_one_word_names_do_not_spread_among_functions() -> None:
    share = one_word_functions(tree())
    assert share.percent <= MOST_ONE_WORD, f"{share.percent:.2f} % of {share.total}"


def test_docstrings_can_be_read_alone() -> None:
    assert dependent_docstrings(tree()) == []


def test_a_docstring_that_leans_on_another_is_seen() -> None:
    source = '''
def each():
    """The same one by one."""

def most():
    """As many as fit."""

class Rest:
    """Those that are left, or the same."""

def named():
    """Aspects of a name; the same for all."""
'''
    assert dependent_docstrings([ast.parse(source)]) == [
        "each: The same one by one.",
        "most: As many as fit.",
        "Rest: Those that are left, or the same.",
    ]


def test_a_participle_is_seen_wherever_a_name_is_bound() -> None:
    source = "found = 1\nfor told, _made in []: seed = [kept for kept in x]\nclass A:\n    changed: int\n"
    share = participles([ast.parse(source)])
    assert sorted(share.names) == ["_made", "changed", "found", "kept", "told"]
    assert share.total == 6


def test_names_that_are_not_free_are_not_counted() -> None:
    source = """
class Shape(Protocol):
    def area(self): ...

class Base:
    def render(self): ...

class Text(Base):
    def __init__(self): ...
    def render(self): ...
    def area(self): ...
    @property
    def size(self): ...
    def told(self): ...

@tool(1)
def search(call): ...

def read_file():
    def key(): ...
"""
    share = one_word_functions([ast.parse(source)])
    assert (sorted(share.names), share.total) == (["render", "told"], 3)
