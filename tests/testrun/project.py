"""Small repositories with tests in them, run for real."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from codeplane.config.settings import TestSettings
from codeplane.core.paths import RepoPath
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun.discover import Discovery, discover
from codeplane.testrun.results import Case, Report
from codeplane.testrun.run import Options, Watch, Where, run


class DiskTree:
    """The files of a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def paths(self) -> Sequence[RepoPath]:
        found = [path.relative_to(self._root) for path in self._root.rglob("*") if path.is_file()]
        return sorted(RepoPath(str(path)) for path in found if ".venv" not in path.parts)

    def text(self, path: RepoPath) -> str | None:
        try:
            return (self._root / path).read_text()
        except (OSError, UnicodeDecodeError):
            return None


class Project:
    """A repository in a directory, without git: runners need none."""

    def __init__(self, tmp_path: Path, files: Mapping[str, str]) -> None:
        self.root = tmp_path / "repo"
        self.scratch = tmp_path / "scratch"
        for name, text in {"README": "", **files}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    @property
    def tree(self) -> DiskTree:
        return DiskTree(self.root)

    @property
    def toolbox(self) -> Toolbox:
        return Toolbox(Programs({"PATH": search_path(), "HOME": str(self.scratch)}), self.root)

    def discover(self, **settings: object) -> Discovery:
        return discover(self.tree, TestSettings.model_validate(settings))

    def run(
        self,
        *targets: str,
        watch: Watch | None = None,
        settings: Mapping[str, object] | None = None,
        **options: object,
    ) -> Report:
        found = self.discover(**(settings or {}))
        chosen = [one for one in found.targets if not targets or one.id in targets]
        where = Where(self.root, self.toolbox, self.scratch / str(len(list(self.scratch.glob("*")))))
        made = Options(**{"workers": 2, "target_timeout_sec": 20, **options})  # type: ignore[arg-type]
        return run(chosen, where, made, watch or Watch(), found.runners)


def search_path() -> str:
    """Where programs are looked for: first in the environment that the tests run in."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def one(report: Report) -> Case:
    [case] = report.cases
    return case


def left(text: str) -> list[int]:
    """Processes that have a text in their command line and are alive."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if text in " ".join(process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]
