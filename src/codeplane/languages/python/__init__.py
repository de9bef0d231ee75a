"""Python 3."""

import sys

from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_OVERRIDE, FLAG_STATIC
from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import PYTHON, HeaderStyle

SPEC = LanguageSpec(
    name="python",
    family="python",
    entry_points=EntryPoints(files=("__main__.py",), guard=r"^if\s+__name__\s*==\s*['\"]__main__['\"]"),
    initializers=("__init__", "__new__"),
    grammar="tree_sitter_python",
    extensions=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    shebangs=("python", "pypy"),
    call_by_parenthesis=True,
    constant=r"_*[A-Z][A-Z0-9_]*",
    private=r"_(?!_).*|__.*(?<!__)",
    tests={"function": r"test(_.*|[A-Z].*)?", "method": r"test(_.*|[A-Z].*)?", "class": r"Test.*"},
    test_base=r"(.*\.)?\w*TestCase",
    tests_by_place=True,
    made_from={".pyi": (".py",)},
    outputs=("build",),
    decorator_kinds={"property": "property", "cached_property": "property", "setter": "property"},
    decorator_flags={
        "staticmethod": FLAG_STATIC,
        "abstractmethod": FLAG_ABSTRACT,
        "abstractproperty": FLAG_ABSTRACT,
        "override": FLAG_OVERRIDE,
    },
    decorator_adds=frozenset(("setter", "getter", "deleter")),
    decorator_opens=frozenset(("overload",)),
    dynamic_calls={
        "getattr": ("getattr", 1),
        "setattr": ("setattr", 1),
        "hasattr": ("hasattr", 1),
        "delattr": ("delattr", 1),
        "object.__setattr__": ("setattr", 1),
        "object.__getattribute__": ("getattr", 1),
        "inspect.getattr_static": ("getattr", 1),
        "operator.attrgetter": ("getattr", 0),
        "operator.methodcaller": ("getattr", 0),
        "eval": ("eval", 0),
        "exec": ("exec", 0),
        "__import__": ("dynamic_import", 0),
        "importlib.import_module": ("dynamic_import", 0),
        "globals": ("bracket_access", -1),
        "locals": ("bracket_access", -1),
        "vars": ("bracket_access", -1),
    },
    default_exports="bound",
    standard=rf"(?:{'|'.join(sorted(sys.stdlib_module_names))})(?!\w)",
    surface="bound",
    writing=PYTHON,
    header=HeaderStyle(
        named=True, marks=True, rest=("*",), named_rest="**", receivers=frozenset(("self", "cls"))
    ),
)
