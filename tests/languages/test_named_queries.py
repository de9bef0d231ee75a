"""The named queries of the grammar packs find what their names say."""

import pytest

from codeplane.core.errors import QueryInvalid
from codeplane.languages.operations import Source
from codeplane.languages.queries.named import find_named, named_queries

FILES = {
    "python": "import os\nfrom a import b\n\n\n"
    "class A:\n    def f(self, x, y=1, z: int = 2):\n        g(x)\n\n\n@cache\ndef g(): pass\n",
    "rust": "use std::io;\nstruct S;\nfn f(x: i32) { g(|y| y); log!(1); }\n",
    "c": "#include <a.h>\nstruct s { int x; };\nint *f(int x) { return g(x); }\n",
    "javascript": "import a from 'b';\nclass A { m() {} }\nfunction f(x) { g(x); }\nconst h = (y) => y;\n",
    "typescript": "import a from 'b';\ninterface A {}\nfunction f(x, y: number) { g(x); }\n",
    "tsx": "import a from 'b';\nclass A {}\nfunction f(x) { return <p>{g(x)}</p>; }\n",
    "html": "<p><img alt=x></p>\n<script src=a.js></script>\n",
}
EXPECTED = {
    "python": {
        "all_functions": ["f", "g"],
        "all_classes": ["A"],
        "all_imports": ["os", "a"],
        "untyped_params": ["self", "x", "y"],
    },
    "rust": {
        "all_functions": ["f"],
        "all_classes": ["S"],
        "all_imports": ["use std::io;"],
        "untyped_params": ["y"],
    },
    "c": {"all_functions": ["f"], "all_classes": ["s"], "all_imports": ["<a.h>"], "untyped_params": []},
    "javascript": {
        "all_functions": ["m", "f", "h"],
        "all_classes": ["A"],
        "all_imports": ["'b'"],
        "untyped_params": ["x", "y"],
    },
    "typescript": {
        "all_functions": ["f"],
        "all_classes": ["A"],
        "all_imports": ["'b'"],
        "untyped_params": ["x"],
    },
    "tsx": {"all_functions": ["f"], "all_classes": ["A"], "all_imports": ["'b'"], "untyped_params": ["x"]},
    "html": {
        "all_elements": ["p", "img", "script"],
        "all_attributes": ["alt", "src"],
        "all_imports": ["script"],
    },
}
SHOWN = ("param", "name", "module", "path", "target")


@pytest.mark.parametrize("language", FILES)
def test_a_named_query_finds_what_its_name_says(language: str) -> None:
    source = Source(language, FILES[language].encode())
    for name, texts in EXPECTED[language].items():
        captures = [match.captures for match in find_named(source, name, {})]
        nodes = [next(one[key][0] for key in SHOWN if one.get(key)) for one in captures]
        assert [source.text(node) for node in nodes] == texts, name


@pytest.mark.parametrize("language", FILES)
def test_every_named_query_compiles_and_has_its_parameters(language: str) -> None:
    source = Source(language, FILES[language].encode())
    for name, query in named_queries(language).items():
        find_named(source, name, {})
        assert query.summary.endswith(".")
        assert all(f"@{parameter}" in query.text for parameter in query.parameters), name


def test_a_parameter_narrows_a_query() -> None:
    source = Source("python", FILES["python"].encode())
    [match] = find_named(source, "all_functions", {"name": "g"})
    assert source.line_of(match.node.start_byte) == 11


def test_an_unknown_query_or_parameter_names_the_nearest() -> None:
    source = Source("python", b"x = 1\n")
    with pytest.raises(QueryInvalid) as error:
        find_named(source, "all_function", {})
    assert error.value.hints[0].startswith("There are all_functions")
    with pytest.raises(QueryInvalid) as error:
        find_named(source, "all_functions", {"nam": "x"})
    assert error.value.hints == ("It has name.",)
