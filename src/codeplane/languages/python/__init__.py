"""Python 3."""

import sys

from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_OVERRIDE, FLAG_STATIC, ScopeKind
from codeplane.languages.spec import LanguageSpec, Sharing
from codeplane.languages.style import PYTHON, HeaderStyle

SPEC = LanguageSpec(
    name="python",
    family="python",
    main_files=("__main__.py",),
    main_guard=r"^if\s+__name__\s*==\s*['\"]__main__['\"]",
    indented=True,
    initializers=("__init__", "__new__"),
    unnamed_calls=frozenset(("__call__", "__init_subclass__")),
    grammar="tree_sitter_python",
    extensions=(".py", ".pyi", ".pyw"),
    filenames=("SConstruct", "SConscript", "wscript"),
    shebangs=("python", "pypy"),
    members_visible="body",
    ordered=frozenset((ScopeKind.FILE, ScopeKind.CLASS)),
    self_parameters=("self", "cls"),
    star_rebinds=True,
    import_binds="first",
    call_by_parenthesis=True,
    constant=r"_*[A-Z][A-Z0-9_]*",
    private=r"_(?!_).*|__.*(?<!__)",
    tests={"function": r"test(_.*|[A-Z].*)?", "method": r"test(_.*|[A-Z].*)?", "class": r"Test.*"},
    test_base=r"(.*\.)?\w*TestCase",
    sharing=Sharing(
        files=("conftest.py",),
        plugins="pytest_plugins",
        word="fixture",
        mark=r"(?m)^\s*@(?:\w+\.)?fixture\b",
        for_all=r"\bautouse\s*=\s*True\b",
        asked=("usefixtures", "getfixturevalue"),
    ),
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
    directories_are_modules=True,
    super_receivers=("super()",),
    hooks=r"pytest_\w+|(?:setup|teardown)(?:_(?:module|class|method|function))?|(?:setUp|tearDown)\w*|conftest|"
    r"load_tests|main",
    given_kinds=frozenset(("field", "variable", "constant")),
    fixture=r"@(?:\w+\.)*fixture\b",
    fixture_files=("conftest.py",),
    fixture_texts="usefixtures|getfixturevalue",
    one_per_scope=True,
    named_arguments=True,
    keywords=(
        (
            "(call function: (_) @holder arguments: (argument_list"
            " (keyword_argument name: (identifier) @keyword)))"
        ),
        "(call function: (_) @holder arguments: (argument_list (dictionary_splat) @splat))",
        "(class_definition superclasses: (argument_list (keyword_argument name: (identifier) @loose)))",
        "(class_pattern . (_) @holder (case_pattern (keyword_pattern . (identifier) @member)))",
    ),
    writing=PYTHON,
    header=HeaderStyle(
        named=True, marks=True, rest=("*",), named_rest="**", receivers=frozenset(("self", "cls"))
    ),
)
