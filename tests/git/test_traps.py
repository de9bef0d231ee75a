"""One repository with every trap that its configuration and its files can hold: no git tool springs any."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.tools import all_tools
from tests.drive import git, new_repo
from tests.git.servers import http_server, new_bare
from tests.tools.repo import Repo

HOOKS = (
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg "
    "post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive "
    "post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate "
    "fsmonitor-watchman post-index-change"
).split()
COMMANDS = (
    "core.fsmonitor core.sshCommand core.askPass core.pager core.editor core.gitProxy sequence.editor "
    "core.alternateRefsCommand diff.external diff.trap.textconv diff.trap.command merge.trap.driver "
    "filter.trap.clean filter.trap.smudge filter.trap.process gpg.program gpg.ssh.program gpg.x509.program "
    "gpg.ssh.defaultKeyCommand remote.origin.uploadpack remote.origin.receivepack remote.http.uploadpack "
    "uploadpack.packObjectsHook interactive.diffFilter pager.log pager.diff pager.status mergetool.trap.cmd "
    "difftool.trap.cmd credential.helper trailer.trap.command web.browser"
).split()
SETTINGS = {
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "push.gpgSign": "true",
    "user.signingKey": "ABCDEF",
    "filter.trap.required": "true",
    "protocol.ext.allow": "always",
    "merge.default": "trap",
    "diff.guitool": "trap",
    "merge.tool": "trap",
    "rebase.autoStash": "true",
}
ATTRIBUTES = "*.dat filter=trap diff=trap merge=trap\n*.py diff=trap merge=trap\n"
# What each tool is asked, in this order; `*` marks a call that has to succeed, so that it reaches git.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("git_status*", {}),
    ("git_diff*", {}),
    ("git_diff*", {"base": "other"}),
    ("git_log*", {}),
    ("git_log", {"ref": "--output=canary"}),
    ("git_inspect*", {"ref": "HEAD"}),
    ("git_inspect*", {"action": "blame", "path": "app.py"}),
    ("git_history*", {"path": "app.py"}),
    ("git_remote*", {}),
    ("git_stage", {"paths": ["data.dat"]}),
    ("git_stage*", {"paths": ["app.py", "--output=canary"]}),
    ("git_stage*", {"action": "unstage", "paths": ["app.py"]}),
    ("git_stash*", {"action": "push", "message": "--help"}),
    ("git_stash*", {"action": "pop"}),
    ("git_stage_and_commit*", {"paths": ["app.py"], "message": "-m canary"}),
    ("git_commit*", {"message": "more", "allow_empty": True}),
    ("git_commit*", {"message": "again", "amend": True}),
    ("git_branch*", {}),
    ("git_branch*", {"action": "create", "name": "fresh"}),
    ("git_branch", {"action": "create", "name": "--upload-pack=x"}),
    ("git_branch", {"action": "delete", "name": "-D"}),
    ("git_checkout*", {"ref": "fresh"}),
    ("git_checkout", {"ref": "--orphan"}),
    ("git_checkout*", {"ref": "main"}),
    ("git_checkout*", {"ref": "other", "paths": ["text.txt"]}),
    ("git_reset*", {"ref": "HEAD", "mode": "hard", "force": True}),
    ("git_merge*", {"ref": "other"}),
    ("git_merge", {"action": "abort"}),
    ("git_reset*", {"ref": "HEAD", "mode": "hard", "force": True}),
    ("git_merge", {"action": "cherry_pick", "ref": "pick"}),
    ("git_merge", {"action": "abort"}),
    ("git_merge", {"action": "revert", "ref": "HEAD"}),
    ("git_merge", {"action": "abort"}),
    ("git_rebase*", {"action": "plan", "upstream": "pick"}),
    ("git_rebase", {"action": "start", "upstream": "pick"}),
    ("git_rebase", {"action": "abort"}),
    ("git_worktree*", {"action": "add", "path": "linked"}),
    ("git_worktree", {"action": "add", "path": "-f"}),
    ("git_worktree*", {"action": "remove", "path": "linked", "force": True}),
    ("git_submodule*", {}),
    ("git_submodule", {"action": "update"}),
    ("git_submodule", {"action": "add", "path": "x", "url": "ext::CANARY"}),
    ("git_pull", {}),
    ("git_pull", {"remote": "http"}),
    ("git_pull", {"remote": "ssh"}),
    ("git_pull*", {"remote": "bare", "branch": "main", "fetch_only": True}),
    ("git_push", {}),
    ("git_push", {"remote": "http"}),
    ("git_push*", {"remote": "bare"}),
    ("git_push", {"branch": "--receive-pack=x"}),
]


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The file that says which trap was sprung; `trap NAME` writes it."""
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/canary\ncat\nexit 1\n')
    trap.chmod(0o755)
    return tmp_path / "canary"


@pytest.fixture
def repo(tmp_path: Path, canary: Path) -> Iterator[Repo]:
    root = new_repo(tmp_path / "repo", {"app.py": "one = 1\n", "text.txt": "a\n", "--output=canary": "x\n"})
    head = git(root, "rev-parse", "HEAD")
    for branch in ("other", "pick"):
        git(root, "switch", "-qc", branch, head)
        (root / "app.py").write_text(f"{branch} = 2\n")
        (root / f"{branch}.txt").write_text("new\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", branch)
    git(root, "switch", "-q", "main")
    _set(tmp_path, root)
    made = Repo.at(root, tmp_path)
    yield made
    made.session.close()


def _set(base: Path, root: Path) -> None:
    """All of it, written without git, which would fall for it."""
    head = git(root, "rev-parse", "HEAD")
    new_bare(base / "served" / "app.git")
    git(root, "push", "-q", str(base / "served/app.git"), "main")
    (root / ".gitattributes").write_text(ATTRIBUTES)
    (root / "data.dat").write_text("data\n")
    (root / "app.py").write_text("one = 3\n")
    (root / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ext::sh\n')
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    for name in ("-D", "--upload-pack=x"):
        (root / ".git/refs/heads" / name).write_text(f"{head}\n")
        (root / ".git/refs/tags" / name).write_text(f"{head}\n")
    hooks = base / "hooks"
    for directory in (hooks, root / ".git/hooks"):
        directory.mkdir(exist_ok=True)
        for hook in HOOKS:
            (directory / hook).write_bytes((base / "trap").read_bytes())
            (directory / hook).chmod(0o755)
    settings = {
        **{name: f"{base}/trap {name}" for name in COMMANDS},
        **SETTINGS,
        "core.hooksPath": str(hooks),
        "alias.status": f"!{base}/trap alias",
        "submodule.sub.url": f"ext::{base}/trap sub",
        "remote.origin.url": f"ext::{base}/trap ext",
        "remote.http.url": "HTTP",
        "remote.ssh.url": "ssh://127.0.0.1:1/x",
        "remote.bare.url": f"file://{base}/served/app.git",
        "remote.origin.vcs": "trap",
        "branch.main.remote": "origin",
        "branch.main.merge": "refs/heads/main",
        f"url.ext::{base}/trap .insteadOf": "file:",
    }
    with (root / ".git/config").open("a") as stream:
        for name, value in settings.items():
            section, _, rest = name.partition(".")
            inner, _, key = rest.rpartition(".")
            head_line = f'[{section} "{inner}"]' if inner else f"[{section}]"
            stream.write(f'{head_line}\n\t{key} = "{value}"\n')


def _outside(base: Path) -> dict[str, bytes]:
    """Everything around the repository, but for what is meant to be written."""
    ours = ("repo", "repo.worktrees", "home", "served")
    return {
        str(path): path.read_bytes()
        for top in sorted(base.iterdir())
        if top.name not in ours
        for path in (top.rglob("*") if top.is_dir() else [top])
        if path.is_file()
    }


def test_nothing_runs_and_nothing_outside_changes(repo: Repo, tmp_path: Path, canary: Path) -> None:
    config = repo.root / ".git/config"
    with http_server(tmp_path / "served") as (url, _):
        config.write_text(config.read_text().replace('"HTTP"', f'"{url}/app.git"'))
        before = _outside(tmp_path)
        for name, arguments in CALLS:
            tool, must = name.rstrip("*"), name.endswith("*")
            answer = repo.ask(tool, **arguments)
            assert not canary.exists(), (tool, arguments, canary.read_text())
            assert answer.body.get("error", {}).get("name") != "INTERNAL_ERROR", (tool, answer.body)
            assert not (must and answer.is_error), (tool, arguments, answer.body)
        assert _outside(tmp_path) == before
    assert not (repo.root / "canary").exists()


def test_every_git_tool_is_asked() -> None:
    tools = {tool.name for tool in all_tools().values() if tool.category == "git"}
    assert {name.rstrip("*") for name, _ in CALLS if name.endswith("*")} >= tools


@pytest.mark.parametrize("command", [("status",), ("diff",), ("commit", "-qam", "x")])
def test_the_traps_are_real(repo: Repo, canary: Path, command: tuple[str, ...]) -> None:
    """The git program, asked without care, springs them; so a canary that stays away means something."""
    subprocess.run(["git", *command], cwd=repo.root, capture_output=True, check=False, timeout=20)
    assert canary.exists()
