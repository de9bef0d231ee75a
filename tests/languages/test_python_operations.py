"""Operations on Python files that a text case can not show: byte order marks, mixed line endings, size."""

from typing import Any

import pytest

from codeplane.languages.operations import Source, operations_of
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import Target, resolve_target


def run(operation_name: str, data: bytes, target: str = "", /, **values: Any) -> bytes:
    operation = operations_of("python")[operation_name]
    arguments, errors = check_arguments(operation, "python", "python", values)
    assert errors == []
    source = Source("python", data, "src/a.py")
    matches = resolve_target(source, Target("symbol", target) if target else Target("file"))
    assert len(matches) == 1
    return run_operation(operation, source, matches, arguments).data


_BOM = b"\xef\xbb\xbf"


def test_a_byte_order_mark_and_a_shebang_stay_first() -> None:
    data = _BOM + b"#!/usr/bin/env python\nx = 1\n"
    after = run("add_import", data, **{"import": "import os"})
    assert after == _BOM + b"#!/usr/bin/env python\n\nimport os\n\nx = 1\n"
    assert run("add_import", _BOM, **{"import": "import os"}) == _BOM + b"import os\n"
    assert run("remove_import", _BOM + b"import os\n", **{"import": "import os"}) == _BOM
    assert run("add_decorator", _BOM + b"def f(): ...\n", "f", decorator="a") == _BOM + b"@a\ndef f(): ...\n"


def test_new_lines_end_as_those_around_them() -> None:
    data = b"import os\r\nimport sys\r\n\r\n\ndef f(\n    a,\n):\n    pass\n\r\n\r\ndef g(): ...\r\n"
    assert run("add_import", data, **{"import": "import re"}).startswith(
        b"import os\r\nimport re\r\nimport sys\r\n"
    )
    assert b"(\n    a,\n    b,\n):\n" in run("add_parameter", data, "f", name="b")
    assert run("add_decorator", data, "g", decorator="a").endswith(b"@a\r\ndef g(): ...\r\n")


def test_names_of_another_encoding_are_left_alone() -> None:
    data = b"# -*- coding: latin-1 -*-\nx = '\xe9'\ndef f(a): return '\xe9'\n"
    after = run("add_parameter", data, "f", name="b")
    assert after == data.replace(b"f(a)", b"f(a, b)")


@pytest.mark.parametrize("count", [10_000])
def test_long_files_are_edited(count: int) -> None:
    data = b"".join(b"def f%d(a): return a\n" % number for number in range(count))
    after = run("add_type_annotation", data, f"f{count - 1}", parameter="a", type="int")
    assert after == data.replace(b"f%d(a)" % (count - 1), b"f%d(a: int)" % (count - 1))


def test_deep_files_are_edited() -> None:
    data = b"x = " + b"[" * 1_000 + b"]" * 1_000 + b"\ndef f(a): ...\n"
    assert run("add_parameter", data, "f", name="b").endswith(b"def f(a, b): ...\n")
    assert run("rename_symbol", data, "f", to="g").endswith(b"def g(a): ...\n")


def test_a_line_of_many_statements_is_edited() -> None:
    data = b";".join(b"x%d=%d" % (number, number) for number in range(2_000)) + b"\n"
    after = run("add_type_annotation", data, variable="x7", type="int")
    assert after == data.replace(b"x7=7;", b"x7: int = 7;")
