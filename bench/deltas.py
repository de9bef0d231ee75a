"""What validating and executing a large plan of deltas costs: 200 tasks over 100 files of Django.

`python -m bench.deltas` prints where the time of a validation goes too.
"""

import cProfile
import importlib
import os
import pstats
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from bench.corpora import python_package
from bench.measure import Figure, timed
from codeplane.config import Places
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import Addressed, definitions_in
from codeplane.languages.query import parser_of
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

FILES = 100
RUNS = 5
_VALIDATION = 6.0  # × parsing the files
_EXECUTION = 2.0  # s
_SMALLEST = 1_000  # bytes


class Workshop:
    """A repository with the files, a plan for them, and a server's pipeline."""

    def __init__(self, base: Path) -> None:
        self.root = base / "repo"
        self.paths = _copy_files(self.root)
        self.session = RepoSession.open(Checkout.find(self.root, Places.of_user({"HOME": str(base)})))
        self.session.index.refresh()
        self._pipeline = Pipeline(self.session, all_tools())

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = anyio.run(self._pipeline.call, Request(tool, arguments, "bench"))
        assert not answer.is_error, answer.text
        result: dict[str, Any] = answer.body["result"]
        return result

    def create_plan(self) -> str:
        tasks = [
            {"title": f"{transform['operation']} {path}", "delta": _delta(path, transform)}
            for path in self.paths
            for transform in _transforms(path, (self.root / path).read_bytes())
        ]
        phases = [{"title": "All", "tasks": tasks}]
        return str(self.call("plan_create", title="Annotate", phases=phases)["plan"])

    def validate(self, plan: str) -> dict[str, Any]:
        return self.call("validate_deltas", plan=plan, level="validated")

    def execute(self, plan: str) -> dict[str, Any]:
        return self.call("execute_deltas", plan=plan, confidence="validated")

    def parse_files(self) -> None:
        for path in self.paths:
            parser_of("python").parse((self.root / path).read_bytes())


def figures() -> Iterator[Figure]:
    with workshop() as shop:
        plan = shop.create_plan()
        summary = shop.validate(plan)["summary"]
        assert summary.startswith(f"{2 * FILES} of {2 * FILES} green"), summary
        parsing = min(_cpu_of(shop.parse_files) for _ in range(RUNS))
        validation = min(_cpu_of(lambda: shop.validate(plan)) for _ in range(RUNS))
        size = sum((shop.root / path).stat().st_size for path in shop.paths)
        before = os.times()
        execution = timed(lambda: shop.execute(plan))
        after = os.times()
        _check_files(shop)
    detail = f"{validation:.2f} s of CPU; parsing {size / 1e6:.2f} MB {parsing:.2f} s"
    yield Figure("200 tasks on 100 files, validated", validation / parsing, "×", _VALIDATION, detail)
    cpu = after.user + after.system - before.user - before.system
    detail = f"200 tasks simulated again, written, staged; {cpu:.2f} s of CPU; load {os.getloadavg()[0]:.0f}"
    yield Figure("100 files, executed", execution, "s", _EXECUTION, detail)


@contextmanager
def workshop() -> Iterator[Workshop]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        shop = Workshop(Path(base))
        try:
            yield shop
        finally:
            shop.session.close()


def _cpu_of(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def _copy_files(root: Path) -> list[str]:
    """A sample of Django's files with functions to annotate, as a repository of their own."""
    source = python_package("django", "5.2")
    [package] = [folder for folder in source.iterdir() if (folder / "django").is_dir()]
    files = [path for path in sorted((package / "django").rglob("*.py")) if _is_suitable(path.read_bytes())]
    sample = sorted(random.Random(7).sample(files, FILES))
    for path in sample:
        target = root / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Django"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    return [path.relative_to(package).as_posix() for path in sample]


def _is_suitable(data: bytes) -> bool:
    return len(data) >= _SMALLEST and len(_functions(Source("python", data))) >= 2


def _functions(source: Source) -> list[Addressed]:
    """Functions without a type for their result, each the only one of its address."""
    definitions = definitions_in(source)
    return [
        one
        for one in definitions
        if one.node.type == "function_definition"
        and one.node.child_by_field_name("return_type") is None
        and f"{one.address}#2" not in {other.address for other in definitions}
        and "#" not in one.address
    ]


def _transforms(path: str, data: bytes) -> Iterator[dict[str, Any]]:
    """Two changes of a file: a type, and a decorator or an import."""
    functions = _functions(Source("python", data))
    yield {"operation": "add_type_annotation", "target": functions[-1].address, "type": "object"}
    if sum(path.encode()) % 2:
        yield {"operation": "add_decorator", "target": functions[0].address, "decorator": "traced"}
    else:
        yield {"operation": "add_import", "import": "from tracing import traced"}


def _delta(path: str, transform: dict[str, Any]) -> dict[str, Any]:
    return {"elements": [{"path": path, "transforms": [transform]}]}


def _check_files(shop: Workshop) -> None:
    for path in shop.paths:
        data = (shop.root / path).read_bytes()
        assert b"-> object" in data and b"traced" in data, path


if __name__ == "__main__":
    with workshop() as opened:
        number = opened.create_plan()
        opened.validate(number)
        profile = cProfile.Profile(time.process_time)
        # Tools run on a worker thread, which a profile of this one would not see.
        validate_deltas: Any = importlib.import_module("codeplane.tools.validate_deltas")
        original = validate_deltas.validate_plan
        validate_deltas.validate_plan = lambda *args, **rest: profile.runcall(original, *args, **rest)
        opened.validate(number)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
