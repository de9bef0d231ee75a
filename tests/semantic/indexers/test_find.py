"""Where indexers are found, and in which order they are taken."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.semantic.indexer import ContextFiles, IndexTask, Tool
from codeplane.semantic.indexers import INDEXERS
from tests.semantic.indexers.lab import context, toolbox, written

TOP = RepoPath("")


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_project_s_own_program_comes_first(tmp_path: Path) -> None:
    root, users = tmp_path / "r", tmp_path / "bin"
    program(users / "ty-scip", "echo ty-scip 0.0.9")
    box = toolbox(root, f"{users}:/usr/bin:/bin")
    root.mkdir()
    assert INDEXERS["ty-scip"].find(box, TOP) == Tool(users / "ty-scip", "0.0.9")
    program(root / ".venv/bin/ty-scip", "echo ty-scip 0.1.0")
    assert INDEXERS["ty-scip"].find(box, TOP) == Tool(root / ".venv/bin/ty-scip", "0.1.0")


@pytest.mark.parametrize("script", ["echo 'unknown binary' >&2; exit 1", "true", "exec /no/such/program"])
def test_a_program_that_does_not_say_its_version_is_not_there(tmp_path: Path, script: str) -> None:
    # rustup puts a rust-analyzer on the path that only says that it is not installed.
    program(tmp_path / "bin/rust-analyzer", script)
    assert INDEXERS["rust-analyzer"].find(toolbox(tmp_path, f"{tmp_path}/bin:/usr/bin:/bin"), TOP) is None


def test_nothing_is_found_where_nothing_is_installed(tmp_path: Path) -> None:
    box = toolbox(tmp_path, "")
    assert [name for name, one in INDEXERS.items() if one.find(box, TOP)] == []


def test_ty_scip_is_preferred_for_python() -> None:
    names = [name for name, one in INDEXERS.items() if "python" in one.languages]
    assert names == ["ty-scip", "scip-python"]


def test_rust_analyzer_runs_offline_and_compiles_outside_of_the_tree(tmp_path: Path) -> None:
    rust = INDEXERS["rust-analyzer"]
    root = written(tmp_path / "r", {"core/Cargo.toml": '[package]\nname = "core-x"\n', "core/src/lib.rs": ""})
    files = context(root, "core")
    task = IndexTask(Tool(Path("/bin/rust-analyzer"), "1"), root, tmp_path / "o", files)
    [command] = rust.command(task)
    output = tmp_path / "o/index.scip"
    assert command.argv == ("/bin/rust-analyzer", "scip", str(root / "core"), "--output", str(output))
    assert (command.cwd, command.output, command.base) == (root / "core", output, "core")
    assert command.env == {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": f"{tmp_path}/o/target"}
    assert rust.prepare(root, files).own_packages == {"core-x"}
    before = rust.digests(root, files)
    written(root, {"Cargo.lock": "version = 3\n"})
    after = rust.digests(root, files)
    assert (after.configuration, after.environment != before.environment) == (before.configuration, True)


def test_a_large_lock_file_and_a_link_count_as_what_they_are(tmp_path: Path) -> None:
    root = written(tmp_path / "r", {"Cargo.toml": ""})
    (root / "Cargo.lock").symlink_to("/etc/hostname")
    rust, files = INDEXERS["rust-analyzer"], ContextFiles(TOP, ())
    linked = rust.digests(root, files)
    (root / "Cargo.lock").unlink()
    assert rust.digests(root, files) != linked
