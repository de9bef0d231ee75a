"""One plan in a Rust crate: attributes on 50 functions, a parameter with its calls on 10; cargo is the judge.

`cargo check` over all targets is the validator of both phases, the crate's own unit tests judge the result.
"""

import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.builds import regex_syntax
from bench.measure import Figure
from bench.package_plans import (
    Candidate,
    choose_proven,
    functions_of,
    missing_figure,
    new_parameter,
    opened_copy,
)
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import Addressed

ATTRIBUTES = 50
PARAMETERS = 10
_TOOLCHAIN = """[validators.build]
command = "cargo"
args = ["check", "--offline", "--all-targets", "--message-format=json"]
scope = "workspace"
cwd = "workspace_root"
timeout_seconds = 300
output_parser = "cargo-json"
"""
_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)


def figures() -> Iterator[Figure]:
    with opened_copy(regex_syntax() / "package", _TOOLCHAIN, _search_path(), _ignore_builds) as repo:
        before = _judgement(repo.root)
        attributes = _attributes(repo.root)
        random.Random(7).shuffle(pool := list(_parameters(repo.root)))
        choice = choose_proven(repo, pool, PARAMETERS)
        phases = [
            [{**one, "validate_with": ["build"]} for one in some] for some in (attributes, choice.elements)
        ]
        plan = repo.create(*phases)
        started = time.perf_counter()
        repo.result("execute_deltas", plan=plan, confidence="tested")
        seconds = time.perf_counter() - started
        after = _judgement(repo.root)
        lines = repo.git("diff", "--cached", "--shortstat")
    yield missing_figure("attributes", len(attributes), ATTRIBUTES, f"tested by cargo check; {lines}")
    detail = (
        f"{choice.calls} calls; {sum(choice.reasons.values())} others refused; executed in {seconds:.0f} s"
    )
    yield missing_figure("parameters", len(choice.green), PARAMETERS, detail)
    detail = f"cargo check {after[0]}, {after[1]} tests pass after the plan; {before[0]}, {before[1]} before"
    is_green = before == after and before[0] == "passes" and before[1] > 0
    yield Figure("regex-syntax broken", 0 if is_green else 1, "", 0, detail)


def _search_path() -> str:
    """The directory of the compiler itself: rustup's stand-in would look for it in the user's home."""
    done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True)
    return f"{done.stdout.strip()}/bin:/usr/local/bin:/usr/bin:/bin"


def _ignore_builds(root: Path) -> None:
    (root / ".gitignore").write_text("target/\nCargo.lock\n")


def _judgement(root: Path) -> tuple[str, int]:
    """Whether the crate builds, and how many of its tests pass; none where one fails."""
    cargo = ["cargo"]
    check = subprocess.run([*cargo, "check", "--offline", "--all-targets"], cwd=root, capture_output=True)
    tests = subprocess.run([*cargo, "test", "--offline", "--lib"], cwd=root, capture_output=True, text=True)
    counts = _RESULT.findall(tests.stdout)
    count = sum(int(passed) for passed, _ in counts) if tests.returncode == 0 else 0
    return "fails" if check.returncode else "passes", count


def _attributes(root: Path) -> list[dict[str, Any]]:
    """Functions of the crate that have no attribute yet: those that return something must be used."""
    places = [
        Candidate(path, one.address, _attribute(source, one))
        for path, source, one in _functions(root)
        if (before := one.node.prev_named_sibling) is None or before.type != "attribute_item"
    ]
    return [one.element for one in random.Random(7).sample(places, ATTRIBUTES)]


def _attribute(source: Source, function: Addressed) -> dict[str, Any]:
    result = function.node.child_by_field_name("return_type")
    is_reference = result is not None and b"&" in source.data[result.start_byte : result.end_byte]
    decorator = "#[must_use]" if result is not None and not is_reference else "#[inline]"
    return {"operation": "add_decorator", "target": function.address, "decorator": decorator}


def _parameters(root: Path) -> Iterator[Candidate]:
    for path, _, one in _functions(root):
        yield new_parameter(path, one.address, "()", type="()")


def _functions(root: Path) -> Iterator[tuple[str, Source, Addressed]]:
    """Functions that are not tests and that no trait asks for."""
    for path, source, one in functions_of(root, "src/**/*.rs", "rust", ["function_item"]):
        around = one.node.parent.parent if one.node.parent is not None else None
        is_of_trait = around is not None and around.child_by_field_name("trait") is not None
        if not one.address.startswith("tests.") and not is_of_trait:
            yield path, source, one
