"""Operations on files of the standard library change what they are about and nothing else."""

import ast
import io
import random
import sysconfig
import tokenize
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.addresses import Addressed, definitions_in
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import definition_match

_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
_LARGEST = 60_000
_NAME = "codeplane_probe"


def library_files(count: int) -> list[Path]:
    files = [path for path in sorted(_LIBRARY.glob("*.py")) if 500 < path.stat().st_size < _LARGEST]
    files += [
        path for path in sorted(_LIBRARY.glob("*/*.py")) if path.parts[-2] in ("json", "asyncio", "email")
    ]
    return random.Random(11).sample(files, count)


FILES = library_files(12)
SOAK = library_files(150)


def run(operation_name: str, data: bytes, number: int | None = None, /, **values: Any) -> bytes:
    """The bytes of a file after an operation, on the definition of a number or on the file."""
    source = Source("python", data, "lib/module.py")
    operation = operations_of("python")[operation_name]
    arguments, errors = check_arguments(operation, "python", "python", values)
    assert errors == []
    match = Match(source.root) if number is None else definition_match(definitions_in(source)[number])
    return run_operation(operation, source, [match], arguments).data


def comments(data: bytes) -> Counter[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if line.strip()]


def functions(data: bytes) -> list[tuple[int, Addressed]]:
    definitions = list(enumerate(definitions_in(Source("python", data))))
    items = [(number, one) for number, one in definitions if one.node.type == "function_definition"]
    return random.Random(5).sample(items, min(3, len(items)))


def function_at(tree: ast.Module, data: bytes, number: int) -> ast.FunctionDef | ast.AsyncFunctionDef:
    source = Source("python", data)
    node = definitions_in(source)[number].node
    line = source.line_of(node.start_byte)
    return next(
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.lineno == line
    )


def assert_imports_come_and_go(path: Path) -> None:
    data = path.read_bytes()
    for text in (
        "import codeplane_probe",
        "from codeplane_probe import thing as other",
        "import zipapp as probe",
    ):
        after = run("add_import", data, **{"import": text})
        tree = ast.parse(after)
        added = [one for one in tree.body if ast.unparse(one) == text]
        assert len(added) == 1, (path, text)
        tree.body.remove(added[0])
        assert ast.dump(tree) == ast.dump(ast.parse(data)), (path, text)
        assert comments(after) == comments(data)
        assert run("add_import", after, **{"import": text}) == after
        back = run("remove_import", after, **{"import": text})
        # A group of its own gets blank lines around it, and leaves one where there was none.
        assert back == data or (lines(back) == lines(data) and len(back) - len(data) == 1), (path, text)


def assert_parameters_come_and_go(path: Path) -> None:
    data = path.read_bytes()
    for number, one in functions(data):
        values = {"name": _NAME, "default": "None", "keyword_only": True, "type": "int"}
        try:
            after = run("add_parameter", data, number, **values)
        except OperationRefused:
            continue
        tree = ast.parse(after)
        arguments = function_at(tree, after, number).args
        assert arguments.kwonlyargs.pop().arg == _NAME, (path, one.address)
        arguments.kw_defaults.pop()
        assert ast.dump(tree) == ast.dump(ast.parse(data)), (path, one.address)
        assert comments(after) == comments(data)
        assert run("add_parameter", after, number, **values) == after
        assert run("remove_parameter", after, number, name=_NAME, force=True) == data, (path, one.address)


def assert_types_and_decorators_come(path: Path) -> None:
    data = path.read_bytes()
    for number, one in functions(data):
        after = run("add_decorator", data, number, decorator=f"@{_NAME}(1)", position="innermost")
        tree = ast.parse(after)
        decorators = function_at(tree, after, number).decorator_list
        assert ast.unparse(decorators.pop()) == f"{_NAME}(1)", (path, one.address)
        assert ast.dump(tree) == ast.dump(ast.parse(data)), (path, one.address)
        try:
            typed = run("add_type_annotation", data, number, type="list[int]")
        except OperationRefused:
            continue
        tree = ast.parse(typed)
        function_at(tree, typed, number).returns = None
        assert ast.dump(tree) == ast.dump(ast.parse(data)), (path, one.address)
        assert comments(after) == comments(typed) == comments(data)


def assert_renames_go_back(path: Path) -> None:
    data = path.read_bytes()
    for number, one in functions(data):
        assert one.name is not None
        name = Source("python", data).text(one.name)
        new = f"__{_NAME}" if name.startswith("__") else _NAME
        try:
            after = run("rename_symbol", data, number, to=new)
        except OperationRefused:
            continue
        assert _NAME.encode() in after
        assert comments(after) == comments(data)
        if f" as {new}".encode() in after:
            continue  # a branch imports it under its name
        assert ast.dump(ast.parse(after)).replace(new, name) == ast.dump(ast.parse(data)), (path, one.address)
        assert run("rename_symbol", after, number, to=name) == data, (path, one.address)


PROPERTIES = (
    assert_imports_come_and_go,
    assert_parameters_come_and_go,
    assert_types_and_decorators_come,
    assert_renames_go_back,
)


@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
def test_operations_change_what_they_are_about(check: Any) -> None:
    for path in FILES:
        check(path)


@pytest.mark.soak
@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
def test_operations_change_what_they_are_about_in_many_files(check: Any) -> None:
    for path in SOAK:
        check(path)


def test_packages_of_the_repository_have_a_group_of_their_own() -> None:
    data = b"import os\n\nimport requests\n"
    operation = operations_of("python")["add_import"]
    arguments, _ = check_arguments(operation, "python", "python", {"import": "import app"})
    for files, result in (
        (set[str](), b"import os\n\nimport app\nimport requests\n"),
        ({"src/app/__init__.py"}, b"import os\n\nimport requests\n\nimport app\n"),
        ({"tests/app.py"}, b"import os\n\nimport requests\n\nimport app\n"),
    ):
        source = Source("python", data, "tests/test_a.py", files.__contains__)
        assert run_operation(operation, source, [Match(source.root)], arguments).data == result
