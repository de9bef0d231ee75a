import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rules import nothing_reaches_through_a_snapshot

ROOT = Path(__file__).parent.parent.parent
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", str(ROOT / "src"), str(ROOT / "pyproject.toml"), str(tmp_path)], check=True)
    return tmp_path


def test_layers_point_down() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_import_upwards_is_seen(copy: Path) -> None:
    low = copy / "src" / "codeplane" / "core" / "ids.py"
    low.write_text("import codeplane.server.transport.guard\n" + low.read_text())
    done = lint(copy)
    assert done.returncode != 0
    assert "codeplane.core is not allowed to import codeplane.server" in done.stdout


def test_a_package_outside_the_layers_is_seen(copy: Path) -> None:
    (copy / "src" / "codeplane" / "stray").mkdir()
    (copy / "src" / "codeplane" / "stray" / "__init__.py").write_text("")
    assert lint(copy).returncode != 0


def test_nothing_above_names_reaches_through_a_snapshot() -> None:
    assert list(nothing_reaches_through_a_snapshot(ROOT / "src" / "codeplane")) == []


def test_a_reach_through_a_snapshot_is_seen(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "new.py").write_text("facts = snapshot.linker.sources.facts(path)\n")
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "own.py").write_text("facts = self.linker.sources.facts(path)\n")
    assert list(nothing_reaches_through_a_snapshot(tmp_path)) == [
        "graph/new.py:1: snapshot.linker.sources",
        "graph/new.py:1: snapshot.linker",
    ]


def test_an_import_of_the_resolver_is_seen(copy: Path) -> None:
    above = copy / "src" / "codeplane" / "graph" / "calls.py"
    above.write_text("import codeplane.names.resolve\n" + above.read_text())
    done = lint(copy)
    assert done.returncode != 0
    assert "codeplane.graph is not allowed to import codeplane.names.resolve" in done.stdout
