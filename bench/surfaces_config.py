"""Reads of the environment that CodePlane lists against walks of its own over real applications.

Python is read with `ast`, whose walk folds what a key is where the program leaves no choice, JavaScript with
@babel/parser. Precision is judged where the walk knows the key; what CodePlane follows further is counted
apart. Arguments choose applications: `python -m bench.surfaces_config celery npm`.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.conformance import node

from bench.corpora import indexed, npm_package, python_package
from bench.environment_reads import Program, Read
from codeplane.names import Snapshot
from codeplane.surfaces.config_keys import config_surface

LEAST_PRECISION = 1.0
LEAST_RECALL = 0.95
PYTHON = (
    ("marimo", "0.9.0"),
    ("prefect", "3.1.5"),
    ("chainlit", "2.0.0"),
    ("argilla-server", "2.5.0"),
    ("litellm", "1.55.0"),
    ("celery", "5.4.0"),
    ("huggingface_hub", "0.27.0"),
    ("sentry-sdk", "2.19.2"),
    ("jupyterhub", "5.2.1"),
    ("accelerate", "1.2.1"),
    ("distributed", "2024.12.0"),
    ("dagster", "1.9.5"),
    ("mlflow", "2.19.0"),
)
NPM = (
    ("nx", "20.2.2"),
    ("pm2", "5.4.3"),
    ("react-scripts", "5.0.1"),
    ("playwright-core", "1.49.1"),
)
PARSER = ("@babel/parser", "7.26.3")
_SHOWN = 20
_SCRIPTS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
_PATTERNS = ("os.environ", "os.getenv", "in os.environ", "process.env", "in process.env")

Row = tuple[str, int, str]


class Verdict(NamedTuple):
    """What both have, what only the walk has, and what only CodePlane has where the walk knows better."""

    common: set[Row]
    missing: list[Row]
    extra: list[Row]
    further: int  # reads that only CodePlane could follow

    @property
    def precision(self) -> float:
        return 1 - len(self.extra) / max(len(self.common) + len(self.extra), 1)

    @property
    def recall(self) -> float:
        return 1 - len(self.missing) / max(len(self.common) + len(self.missing), 1)


def compare_reads(known: Iterable[Read], answer: set[Row], suffixes: tuple[str, ...]) -> Verdict:
    """Judges an answer by what a walk knows, but for reads whose key or file the walk doesn't know."""
    reads = list(known)
    answer = {row for row in answer if row[0].endswith(suffixes)}
    expected = {(read.path, read.line, read.key) for read in reads if read.key is not None}
    open_places = {(read.path, read.line) for read in reads if read.key is None}
    beyond = answer - expected
    extra = [row for row in beyond if row[:2] not in open_places]
    return Verdict(expected & answer, sorted(expected - answer), sorted(extra), len(beyond) - len(extra))


def own_rows(snapshot: Snapshot, *, wrapped: bool) -> set[Row]:
    """The reads of the environment that CodePlane lists: by the language itself, or by functions around."""
    return {
        (str(use.path), use.line, use.key)
        for use in config_surface(snapshot).uses
        if use.pattern.startswith(_PATTERNS) and (" via " in use.pattern) == wrapped and not use.is_definition
    }


def javascript_reads(root: Path) -> list[Read]:
    """Every read of `process.env` below a folder."""
    script = Path(__file__).parent / "environment_reads.cjs"
    command = [str(node.node()), str(script), str(node.package(*PARSER)), str(root)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return [Read(*row) for row in json.loads(answer.stdout)]


def report(label: str, verdict: Verdict) -> bool:
    """Prints a verdict; whether it is within the bounds."""
    keys = len({key for _, _, key in verdict.common} | {key for _, _, key in verdict.missing})
    print(
        f"{label}: {len(verdict.common) + len(verdict.missing)} reads of {keys} keys, "
        f"precision {verdict.precision:.3f}, recall {verdict.recall:.3f}, followed further {verdict.further}",
        flush=True,
    )
    for name, rows in (("missed", verdict.missing), ("wrong", verdict.extra)):
        for path, line, key in rows[:_SHOWN]:
            print(f"  {name}: {path}:{line} {key}")
    return verdict.precision >= LEAST_PRECISION and verdict.recall >= LEAST_RECALL


def main() -> int:
    wanted = sys.argv[1:]
    failures = 0
    for name, version in PYTHON:
        if wanted and name not in wanted:
            continue
        root = python_package(name, version)
        program = Program(root)
        with indexed(root) as index, index.snapshot() as snapshot:
            started = time.process_time()
            direct = compare_reads(program.direct_reads(), own_rows(snapshot, wrapped=False), (".py",))
            spent = time.process_time() - started
            wrapped = compare_reads(program.wrapped_reads(), own_rows(snapshot, wrapped=True), (".py",))
        failures += not report(f"{name} {version} ({spent:.1f} s CPU)", direct)
        failures += not report(f"{name} {version}, by functions", wrapped)
    for name, version in NPM:
        if wanted and name not in wanted and "npm" not in wanted:
            continue
        root = npm_package(name, version)
        with indexed(root) as index, index.snapshot() as snapshot:
            rows = own_rows(snapshot, wrapped=False)
        failures += not report(f"{name} {version}", compare_reads(javascript_reads(root), rows, _SCRIPTS))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
