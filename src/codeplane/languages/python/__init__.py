"""Python 3."""

import builtins
import sys

from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_OVERRIDE, FLAG_STATIC, ScopeKind
from codeplane.languages.python.annotations import KEEPING, awaited_type, declared_type, returned_type
from codeplane.languages.python.builtin import members_of
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
    declared_first=True,
    made_in="methods",
    root_members=frozenset(dir(object)) | {"__annotations__", "__dict__", "__module__"},
    declared_type=declared_type,
    returned_type=returned_type,
    awaited_type=awaited_type,
    class_result=r"->\s*[\"']?(?:\w+\.)*[tT]ype\[\s*[\"']?([\w.]+)",
    own_types=frozenset(("typing.Self", "typing_extensions.Self")),
    type_variables=frozenset(("typing.TypeVar", "typing_extensions.TypeVar")),
    kept_by=KEEPING,
    guards=r"->\s*[\"']?(?:\w+\.)*(TypeGuard)\[(.+)\][\"']?\Z",
    guard_word="TypeGuard",
    entering={"with": "__enter__", "async with": "__aenter__"},
    types_late=True,
    held_types="all",
    nothing=r"\s*=\s*None\s*?(?:[\n#;]|\Z)",
    keyed_bases=frozenset(("TypedDict", "typing.TypedDict", "t.TypedDict", "typing_extensions.TypedDict")),
    listing_bases=frozenset(
        f"{module}{name}"
        for module in ("", "enum.")
        for name in ("Enum", "IntEnum", "StrEnum", "ReprEnum", "Flag", "IntFlag")
    ),
    maker="__new__",
    maker_of=r"[(,] ?metaclass ?= ?([\w.]+)",
    maker_by="__call__",
    getter="__get__",
    class_names=r"__(?!.*__\Z)\w+",
    narrowing=("isinstance", "issubclass"),
    structural_bases=frozenset(("Protocol", "typing.Protocol", "t.Protocol", "typing_extensions.Protocol")),
    outside_members=members_of,
    plain_bases=frozenset(
        ("object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "typing.Protocol")
    ),
    super_receivers=("super()",),
    loose_types=True,
    hooks=r"pytest_\w+|(?:setup|teardown)(?:_(?:module|class|method|function))?|(?:setUp|tearDown)\w*|conftest|"
    r"load_tests|main",
    given_kinds=frozenset(("field", "variable", "constant")),
    fixture=r"@(?:\w+\.)*fixture\b",
    fixture_files=("conftest.py",),
    fixture_texts="usefixtures|getfixturevalue",
    one_per_scope=True,
    slots="__slots__",
    builtins=frozenset(dir(builtins)),
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
