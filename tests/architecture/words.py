"""How names are made, in figures, and docstrings that lean on others."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_REGULAR: Final = re.compile(r"[a-z]{2,}ed")
_NO_PARTICIPLES: Final = frozenset("bed embed exceed feed hundred need red seed shed speed".split())
_IRREGULAR: Final = frozenset(
    """
    been begun bent bound broken brought built caught chosen dealt done drawn driven fallen felt forgotten
    found frozen given gone got grown had heard held hidden kept known laid learnt led lent made meant met
    overridden paid proven seen sent shown sold sought spelt spent spoken stolen stood struck taken taught
    thought thrown told torn understood undone unknown unseen untold won worn written
    """.split()
)
_DEPENDENT: Final = re.compile(r"(The same|Those|As)\b")
_ATTRIBUTES: Final = frozenset(("property", "cached_property", "setter", "override", "overload"))
_UNITS: Final = frozenset(("tool", "command", "risk"))  # what such a function is called is not free


_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Share(NamedTuple):
    """How many of the names are of the kind that is to be rare."""

    names: list[str]
    total: int

    @property
    def percent(self) -> float:
        return 100 * len(self.names) / self.total


def is_participle(name: str) -> bool:
    word = name.strip("_")
    return word in _IRREGULAR or (bool(_REGULAR.fullmatch(word)) and word not in _NO_PARTICIPLES)


def participles(modules: Iterable[ast.Module]) -> Share:
    """Bindings of names: assignments, loops, comprehensions, `with` and fields, each time they are made."""
    names = [
        node.id
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return Share([name for name in names if is_participle(name)], len(names))


def one_word_functions(modules: Iterable[ast.Module]) -> Share:
    """Functions of modules and methods of classes.

    Names that are not free do not count: dunders, properties, tools, commands and risks, members of
    protocols, and methods that override one of a base.
    """
    parsed = list(modules)
    classes = {
        node.name: node for module in parsed for node in ast.walk(module) if isinstance(node, ast.ClassDef)
    }
    required = {
        name
        for node in classes.values()
        if "Protocol" in map(_last_name, node.bases)
        for name in _methods(node)
    }
    names = [
        function.name
        for module in parsed
        for owner, function in _functions(module)
        if not function.name.startswith("__")
        and not (_ATTRIBUTES | _UNITS) & set(map(_last_name, function.decorator_list))
        and function.name not in required
        and not (owner is not None and _overrides(owner, function.name, classes))
    ]
    return Share([name for name in names if "_" not in name.strip("_")], len(names))


def dependent_docstrings(modules: Iterable[ast.Module]) -> list[str]:
    """Docstrings that cannot be read without the one above them, by the names of what they describe."""
    described = (
        (node.name, ast.get_docstring(node) or "")
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, _Function | ast.ClassDef)
    )
    return [f"{name}: {text.splitlines()[0]}" for name, text in described if _DEPENDENT.match(text)]


def _classes(module: ast.Module) -> list[ast.ClassDef]:
    return [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]


def _functions(module: ast.Module) -> Iterator[tuple[ast.ClassDef | None, _Function]]:
    yield from ((None, node) for node in module.body if isinstance(node, _Function))
    for owner in _classes(module):
        yield from ((owner, node) for node in owner.body if isinstance(node, _Function))


def _methods(node: ast.ClassDef) -> set[str]:
    return {one.name for one in node.body if isinstance(one, _Function)}


def _overrides(owner: ast.ClassDef, name: str, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a base declares the method; of a base outside of the tree, that is assumed."""
    for base in map(_last_name, owner.bases):
        outer = classes.get(base)
        if outer is None:
            if base not in _PLAIN_BASES:
                return True
        elif outer is not owner and (name in _methods(outer) or _overrides(outer, name, classes)):
            return True
    return False


_PLAIN_BASES: Final = frozenset(
    (
        "BaseModel",
        "Enum",
        "Exception",
        "Generic",
        "IntEnum",
        "IntFlag",
        "NamedTuple",
        "Protocol",
        "StrEnum",
        "str",
    )
)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Subscript):
        return _last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
