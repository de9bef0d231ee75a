"""Suites of packages, run on a copy with one change in it, each change once."""

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.conformance import node

from bench.corpora import CACHE

# pytest 9 has no argument `path` of hooks any more, which the suite of boltons declares.
NEEDED = (
    "pytest==8.4.2",
    "pretend",
    "simplejson",
    "freezegun",
    "pyyaml",
    "markupsafe",
    "email_validator",
    "babel",
)
TYPESCRIPT = "5.9.3"
VITEST = "3.2.4"
BROKEN = 1_000_000
_SUITE_SEC = 300
_BUILD_SEC = 600
_RUNNER = Path(__file__).with_name("suite_runner.py")
_IGNORED = ("*.egg-info", ".git", ".codeplane", "__pycache__")


Check = Callable[[Path, int], int]
"""Counts what fails in the copy of a project, up to a number."""


class Kept:
    """Answers that take long, in a file of lines, so that a run goes on where another was cut off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text().splitlines() if file.exists() else []
        self._found: dict[str, Any] = dict(json.loads(line) for line in lines)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What is kept under a key, made when there is nothing."""
        if key not in self._found:
            self._found[key] = make()
            with self._file.open("a") as out:
                out.write(json.dumps([key, self._found[key]]) + "\n")
        return self._found[key]


class Trial:
    """A copy of a project that changes are tried in and taken out of again."""

    def __init__(self, root: Path, home: Path, check: Check, kept: Kept) -> None:
        self._root, self._home, self._check, self._kept = root, home, check, kept
        shutil.copytree(root, home, symlinks=True, ignore=shutil.ignore_patterns(*_IGNORED))
        self.before: int = kept.get("nothing", lambda: check(home, BROKEN))

    def broken(self, files: Mapping[str, bytes]) -> int:
        """How many more things fail with these contents than without."""
        digest = hashlib.sha256()
        for path, content in sorted(files.items()):
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        found: int = self._kept.get(digest.hexdigest(), lambda: self._tried(files))
        return max(0, found - self.before)

    def _tried(self, files: Mapping[str, bytes]) -> int:
        try:
            for path, content in files.items():
                (self._home / path).write_bytes(content)
            return self._check(self._home, self.before + 1)
        finally:
            for path in files:
                shutil.copyfile(self._root / path, self._home / path)


def pytest(tests: str) -> Check:
    """Counts the failures of a suite, errors included, up to a number."""

    def run(home: Path, most: int) -> int:
        source = home / "src" if (home / "src").is_dir() else home
        flags = ["-q", "-p", "no:cacheprovider", "--no-header", "-rN", "-o", "addopts=", f"--maxfail={most}"]
        flags.append("--continue-on-collection-errors")
        try:
            done = subprocess.run(
                [_python(), str(_RUNNER), str(source), *flags, tests],
                cwd=home,
                env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                timeout=_SUITE_SEC,
            )
        except subprocess.TimeoutExpired:
            return BROKEN
        last = next((line for line in reversed(done.stdout.splitlines()) if " in " in line), "")
        words = last.strip("= ").replace(",", "").split()
        counts = [(int(n), what[:5]) for n, what in itertools.pairwise(words) if n.isdecimal()]
        failed = sum(count for count, what in counts if what in ("faile", "error"))
        has_run = done.returncode in (0, 1) and any(what in ("passe", "faile", "error") for _, what in counts)
        return failed if has_run else max(failed, 1) if failed else BROKEN

    return run


def tsc(home: Path, _: int, project: str = ".") -> int:
    """Counts the errors that the TypeScript compiler reports."""
    _link_packages(home)
    compiler = node.package("typescript", TYPESCRIPT) / "bin" / "tsc"
    command = [str(node.node()), str(compiler), "-p", project]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=_BUILD_SEC)
    return done.stdout.count("error TS")


def vitest(home: Path, most: int) -> int:
    """Counts the tests and the files of tests that fail under vitest."""
    _link_packages(home)
    program = home / "node_modules" / "vitest" / "vitest.mjs"
    command = [str(node.node()), str(program), "run", "--reporter=json", f"--bail={most}"]
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=_SUITE_SEC)
        report = json.loads(done.stdout[done.stdout.index('{"numTotal') :])
    except (subprocess.TimeoutExpired, ValueError):
        return BROKEN
    files = sum(one["status"] == "failed" and not one["assertionResults"] for one in report["testResults"])
    failed: int = report["numFailedTests"] + files
    return failed if report["numPassedTests"] else BROKEN


def _link_packages(home: Path) -> None:
    """Lets the tests of a project import vitest."""
    link = home / "node_modules"
    if not link.is_symlink():
        link.symlink_to(node.package("vitest", VITEST, is_native=True).parent)


def _python() -> str:
    """An environment with what the suites need, made once."""
    return environment("suites", NEEDED)


def environment(name: str, needed: tuple[str, ...]) -> str:
    """The Python of an environment of its own that has some packages."""
    home = CACHE.parent / name
    python, mark = home / "bin" / "python", home / "needed"
    if not mark.exists() or mark.read_text() != " ".join(needed):
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", *needed], check=True)
        mark.write_text(" ".join(needed))
    return str(python)
