"""One plan in a JavaScript package: imports in every file, parameters with their calls; its tests are judges.

JavaScript does not mind a call that passes too little. The suite runs once more with a statement in every
function that got a parameter which throws where it is not passed.
"""

import random
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance import node

from bench.corpora import npm_package
from bench.measure import Figure
from bench.package_plans import (
    NAME,
    BenchRepo,
    Candidate,
    Choice,
    choose_proven,
    functions_of,
    missing_figure,
    new_parameter,
    opened_copy,
)

PACKAGE = ("fastify", "5.4.0")
# What tests import besides the package's own dependencies; files that need others are left out.
TEST_PACKAGES = (
    ("simple-get", "4.0.1"),
    ("fastify-plugin", "5.0.1"),
    ("proxyquire", "2.1.3"),
    ("h2url", "0.2.0"),
)
PARAMETERS = 20
FILES = 25
_IMPORT = "const { inspect } = require('node:util')"
_IMPORTED = re.compile(rb"const \{ inspect \} = require\(['\"]node:util['\"]\)")  # in the style of the file
_GUARD = f" if ({NAME} === undefined) throw new Error('not passed');"
_TEST_SEC = 20
_FAILED = re.compile(r"^test at (\S+?):\d+", re.MULTILINE)
_PASSED = re.compile(r"^ℹ pass (\d+)$", re.MULTILINE)
_TOOLCHAIN = """[validators.syntax]
command = "node"
args = ["--check", "{file}"]
scope = "file"
timeout_seconds = 60
"""


class Suite(NamedTuple):
    """A run of the package's tests."""

    passes: int  # of the first run
    failures: list[str]  # files that fail twice


def figures() -> Iterator[Figure]:
    search_path = f"{node.node().parent}:/usr/local/bin:/usr/bin:/bin"
    with opened_copy(npm_package(*PACKAGE) / "package", _TOOLCHAIN, search_path, _link_packages) as repo:
        tests = sorted(str(one.relative_to(repo.root)) for one in repo.root.glob("test/**/*.test.js"))
        unusable = _run_once(repo.root, tests).failures
        tests = [one for one in tests if one not in unusable]
        random.Random(7).shuffle(pool := list(_candidates(repo.root)))
        choice = choose_proven(repo, pool, PARAMETERS)
        sources = _importing_files(repo.root)
        started = time.perf_counter()
        restored = _execute(repo, choice, sources)
        seconds = time.perf_counter() - started
        after = _run_suite(repo.root, tests)
        _guard_functions(repo.root, choice)
        guarded = _run_suite(repo.root, tests)
    detail = (
        f"added to {len(sources)} files, tested by node --check, then removed from every second;"
        f" of those without new calls {restored} come back byte for byte; executed in {seconds:.0f} s"
    )
    yield missing_figure("imports", len(sources), FILES, detail)
    detail = f"{choice.calls} calls; {choice.reasons.total()} others refused"
    yield missing_figure("parameters", len(choice.green), PARAMETERS, detail)
    detail = (
        f"of {len(tests)} that pass before: {after.passes} tests pass after the plan,"
        f" {guarded.passes} where each call has to pass the parameter; {len(unusable)} files left out"
    )
    failures = sorted({*after.failures, *guarded.failures})
    is_run = min(after.passes, guarded.passes) > 0
    broken = len(failures) if failures or is_run else len(tests)
    yield Figure("fastify test files broken", broken, "", 0, f"{detail}; {', '.join(failures)}".rstrip("; "))


def _execute(repo: BenchRepo, choice: Choice, sources: Sequence[str]) -> str:
    """Imports everywhere, then parameters, then every second import is taken out again.

    Answers how many of the files that have no more than that are as they were; an import below a directive
    gets a blank line behind it, which stays.
    """
    committed = {path: (repo.root / path).read_bytes() for path in sources}
    phases = [
        [_import_element("add_import", path) for path in sources],
        [{**one, "validate_with": ["syntax"]} for one in choice.elements],
        [_import_element("remove_import", path) for path in sources[::2]],
    ]
    plan = repo.create(*phases)
    result = repo.result("execute_deltas", plan=plan, confidence="tested")
    assert not result["phases"][1].get("more_files"), result
    with_calls = result["phases"][1]["files"]
    is_same: list[bool] = []
    for position, path in enumerate(sources):
        data, is_removed = (repo.root / path).read_bytes(), position % 2 == 0
        assert bool(_IMPORTED.search(data)) != is_removed, path
        if is_removed and path not in with_calls:
            is_same.append(data == committed[path])
            assert data.replace(b"\n\n", b"\n") == committed[path].replace(b"\n\n", b"\n"), path
    return f"{sum(is_same)} of {len(is_same)}"


def _import_element(operation: str, path: str) -> dict[str, Any]:
    transform = {"operation": operation, "import": _IMPORT}
    return {"path": path, "transforms": [transform], "validate_with": ["syntax"]}


def _importing_files(root: Path) -> list[str]:
    """The package's own files that don't have such an import."""
    files = [root / "fastify.js", *sorted(root.glob("lib/*.js"))]
    return [str(one.relative_to(root)) for one in files if "inspect" not in one.read_text()]


def _candidates(root: Path) -> Iterator[Candidate]:
    for path, _, one in functions_of(root, "lib/*.js", "javascript", ["function_declaration"]):
        yield new_parameter(path, one.address, "true")


def _guard_functions(root: Path, choice: Choice) -> None:
    for path in {candidate.path for candidate, _ in choice.green}:
        addresses = {candidate.address for candidate, _ in choice.green if candidate.path == path}
        for _, source, one in list(functions_of(root, path, "javascript", ["function_declaration"]))[::-1]:
            body = one.node.child_by_field_name("body")
            if one.address in addresses and body is not None:
                assert NAME in source.text(one.node), one.address
                data = (root / path).read_bytes()
                (root / path).write_bytes(
                    data[: body.start_byte + 1] + _GUARD.encode() + data[body.start_byte + 1 :]
                )


def _run_suite(root: Path, files: Sequence[str]) -> Suite:
    """What passes; a file with a failure gets a second chance, because some tests measure time."""
    suite = _run_once(root, files)
    return suite._replace(failures=_run_once(root, suite.failures).failures) if suite.failures else suite


def _run_once(root: Path, files: Sequence[str]) -> Suite:
    flags = ["--test", "--test-reporter=spec", f"--test-timeout={_TEST_SEC * 1000}"]
    done = subprocess.run([node.node(), *flags, *files], cwd=root, capture_output=True, text=True)
    count = _PASSED.search(done.stdout)
    return Suite(int(count[1]) if count else 0, sorted(set(_FAILED.findall(done.stdout))))


def _link_packages(root: Path) -> None:
    """Lets the package and its tests import what they need."""
    (root / ".gitignore").write_text("node_modules\n")
    (root / "node_modules").mkdir()
    dependencies = node.package(*PACKAGE).parent
    for one in (*dependencies.iterdir(), *(node.package(*package) for package in TEST_PACKAGES)):
        if one.name != PACKAGE[0] and not one.name.startswith("."):
            (root / "node_modules" / one.name).symlink_to(one)
