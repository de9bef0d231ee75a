"""A project's own programs come first, and its code sees what it needs and no more."""

import base64
import hashlib
import os
from pathlib import Path

import pytest

from codeplane.core.errors import ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def toolbox(root: Path, **env: str) -> Toolbox:
    return Toolbox(Programs({"PATH": "/usr/bin:/bin", **env}), root)


def test_the_nearest_environment_of_the_project_has_the_program(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    outer, inner = program(root / ".venv/bin/tool"), program(root / "web/node_modules/.bin/tool")
    program(tmp_path / ".venv/bin/tool")
    found = toolbox(root)
    assert found.find("tool") == outer
    assert found.find("tool", RepoPath("web/app")) == inner
    assert found.find("tool", RepoPath("other")) == outer


def test_nothing_outside_of_the_repository_is_taken_but_what_the_user_has_installed(tmp_path: Path) -> None:
    program(tmp_path / ".venv/bin/tool")
    (tmp_path / "repo").mkdir()
    with pytest.raises(ProgramMissing):
        toolbox(tmp_path / "repo").find("tool")
    assert toolbox(tmp_path / "repo").find("sh").is_file()


def test_a_file_that_cannot_be_started_is_no_program(tmp_path: Path) -> None:
    program(tmp_path / ".venv/bin/tool").chmod(0o644)
    with pytest.raises(ProgramMissing):
        toolbox(tmp_path).find("tool")


def test_an_interpreter_may_be_named_without_its_version(tmp_path: Path) -> None:
    made = program(tmp_path / ".venv/bin/python")
    assert Toolbox(Programs({"PATH": "/nowhere"}), tmp_path).python() == made
    assert toolbox(tmp_path).has_own_python()


def test_the_code_of_a_repository_sees_no_agents_and_no_colours(tmp_path: Path) -> None:
    program(tmp_path / "venv/bin/tool")
    env = toolbox(tmp_path, HOME="/home/u", SSH_AUTH_SOCK="/agent", LANG="de_DE.UTF-8").env()
    assert env["PATH"] == f"{tmp_path}/venv/bin:/usr/bin:/bin"
    assert (env["HOME"], env["LANG"], env["NO_COLOR"]) == ("/home/u", "de_DE.UTF-8", "1")
    assert "SSH_AUTH_SOCK" not in env


def test_an_environment_that_poetry_keeps_elsewhere_is_the_project_s_own(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "poetry.lock").write_text("")
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).digest()
    name = base64.urlsafe_b64encode(digest).decode()[:8]
    made = program(tmp_path / f"home/.cache/pypoetry/virtualenvs/shop-{name}-py3.12/bin/python3")
    program(tmp_path / "home/.cache/pypoetry/virtualenvs/other-AAAAAAAA-py3.12/bin/tool")
    found = toolbox(root, HOME=str(tmp_path / "home"))
    assert found.python() == made
    with pytest.raises(ProgramMissing):
        found.find("tool")
