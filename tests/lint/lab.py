"""Linters on files of a directory, without a session around them."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.config.settings import LintSettings
from codeplane.core.paths import RepoPath
from codeplane.lint import LintReport, Place, Proposed, Wanted, Watch, Where, check, fixes
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from tests.conformance.node import node, required
from tests.programs import from_pypi, needs

DEV = Path(sys.executable).parent  # has ruff and mypy
SYSTEM = "/usr/bin:/bin"


@dataclass
class Lab:
    """Files, and the programs that are found beside the system's."""

    root: Path
    files: Mapping[str, str | bytes]
    path: str = f"{DEV}:{SYSTEM}"
    settings: LintSettings = field(default_factory=LintSettings)

    def __post_init__(self) -> None:
        for name, text in self.files.items():
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def paths(self) -> Sequence[RepoPath]:
        return sorted(map(RepoPath, self.files))

    def data(self, path: RepoPath) -> bytes | None:
        return (self.root / path).read_bytes()

    def text(self, path: RepoPath) -> str | None:
        return self.data(path).decode() if path in self.files else None  # type: ignore[union-attr]

    @property
    def where(self) -> Where:
        env = {"PATH": self.path, "HOME": str(self.root.parent)}
        # Toolchains are the developer's own.
        env |= {f"{name.upper()}_HOME": str(Path.home() / f".{name}") for name in ("cargo", "rustup")}
        cache = self.root.parent / "cache"
        return Where(Place(self.root, Toolbox(Programs(env), self.root), cache), self.settings)

    def check(self, *tools: str, wanted: Wanted | None = None) -> LintReport:
        return check(self, self.where, wanted or Wanted(tools=tools), quiet())

    def fixes(self, *tools: str) -> Proposed:
        return fixes(self, self.where, Wanted(tools=tools), quiet())

    def told(self, *tools: str) -> list[str]:
        report = self.check(*tools)
        assert not report.notes, report.notes
        assert not report.missing, report.missing
        return [f"{one.path}:{one.told}" for one in report.diagnostics]

    def tree(self) -> list[str]:
        """Every file that is there, to show that nobody has written any."""
        return sorted(str(one.relative_to(self.root)) for one in self.root.rglob("*") if one.is_file())


def quiet() -> Watch:
    return Watch(lambda: None, lambda done, total, message: None)


def after(proposed: Proposed) -> dict[str, bytes | None]:
    return {edit.path: edit.after for edit in proposed.change.edits.edits}


def program(folder: Path, name: str, script: str) -> Path:
    """A program of a test's own, written for the shell or another interpreter."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def npm_tool(root: Path, command: str, package: str, version: str, entry: str) -> str:
    """Puts a program of npm into the project; returns the search path that it needs."""
    found = required(package, version) / entry
    place = root / "node_modules" / ".bin" / command
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(found)
    found.chmod(0o755)
    return f"{node().parent}:{SYSTEM}"


def installed(name: str) -> str:
    """The search path with a program that CI installs."""
    needs(name)
    return os.environ["PATH"]


def pypi_tool(name: str, version: str) -> str:
    """The search path with a program of PyPI."""
    return f"{from_pypi(name, version)}:{SYSTEM}"
