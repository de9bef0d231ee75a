"""A git directory that leads elsewhere is opened only when the repository is trusted."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.core.errors import NotTrusted, UnsupportedRepository
from codeplane.git import open_repository
from tests.drive import git, new_repo


def _git_file(root: Path, target: Path) -> None:
    os.rename(root / ".git", root / "was")
    (root / ".git").write_text(f"gitdir: {target}\n")


def _worktree_of_another(root: Path, foreign: Path) -> None:
    git(foreign, "worktree", "add", "-q", str(foreign.parent / "linked"))
    _git_file(root, foreign / ".git/worktrees/linked")


def _module_of_another(root: Path, foreign: Path) -> None:
    git(foreign, "init", "-q", "--bare", ".git/modules/sub")
    git(foreign / ".git/modules/sub", "config", "core.bare", "false")
    git(foreign / ".git/modules/sub", "config", "core.worktree", str(root))
    _git_file(root, foreign / ".git/modules/sub")


def _git_link(root: Path, foreign: Path) -> None:
    os.rename(root / ".git", root / "was")
    (root / ".git").symlink_to(foreign / ".git")


def _linked(name: str) -> Callable[[Path, Path], None]:
    def plant(root: Path, foreign: Path) -> None:
        place = root / ".git" / name
        if os.path.lexists(place):
            os.rename(place, root / "was")
        place.symlink_to(foreign / ".git" / name)

    return plant


def _config(*lines: str) -> Callable[[Path, Path], None]:
    def plant(root: Path, foreign: Path) -> None:
        with (root / ".git/config").open("a") as stream:
            stream.write("".join(f"{line}\n".replace("FOREIGN", str(foreign)) for line in lines))

    return plant


def _written(name: str, text: str) -> Callable[[Path, Path], None]:
    def plant(root: Path, foreign: Path) -> None:
        (root / ".git" / name).parent.mkdir(exist_ok=True)
        (root / ".git" / name).write_text(text.replace("FOREIGN", str(foreign)))

    return plant


def _pipe(root: Path, foreign: Path) -> None:
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")


PLANTED: dict[str, Callable[[Path, Path], None]] = {
    "a .git file that names another repository": lambda root, foreign: _git_file(root, foreign / ".git"),
    "a .git file that names the worktree of another": _worktree_of_another,
    "a .git file that names the submodule of another": _module_of_another,
    "a .git file that names nothing": lambda root, _: _git_file(root, Path("/nowhere")),
    "a .git link": _git_link,
    "commondir": _written("commondir", "FOREIGN/.git\n"),
    "alternates": _written("objects/info/alternates", "FOREIGN/.git/objects\n"),
    "core.worktree": _config("[core]", "\tworktree = FOREIGN"),
    "core.worktree on one line": _config("[core] worktree = FOREIGN"),
    "include": _config("[Include]", "\tpath = FOREIGN/.git/config"),
    "includeIf": _config('[core][includeIf "gitdir:/**"]', "\tpath = FOREIGN/.git/config"),
    "a config that is a pipe": _pipe,
    "linked objects": _linked("objects"),
    "linked refs": _linked("refs"),
    "a linked branch directory": _linked("refs/heads"),
    "a linked reflog": _linked("logs/HEAD"),
    "a linked index": _linked("index"),
}


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("templates")
    new_repo(base / "repo")
    new_repo(base / "foreign", {"secret.txt": "s\n"})
    return base


def _copies(templates: Path, base: Path) -> tuple[Path, Path]:
    for name in ("repo", "foreign"):
        shutil.copytree(templates / name, base / name)
    return base / "repo", base / "foreign"


@pytest.mark.parametrize("how", PLANTED)
def test_what_leads_elsewhere_is_refused(how: str, templates: Path, tmp_path: Path) -> None:
    root, foreign = _copies(templates, tmp_path)
    PLANTED[how](root, foreign)
    before = _seen(foreign)
    with pytest.raises(NotTrusted) as refused:
        open_repository(root, trusted=False)
    assert refused.value.hints and str(root) in refused.value.message
    assert _seen(foreign) == before


def _seen(root: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns) for path in root.rglob("*"))


@pytest.mark.parametrize("how", ["alternates", "include", "a linked branch directory"])
def test_a_trusted_repository_may_lead_elsewhere(how: str, templates: Path, tmp_path: Path) -> None:
    root, foreign = _copies(templates, tmp_path)
    PLANTED[how](root, foreign)
    assert open_repository(root, trusted=True).root == root


def test_worktrees_and_submodules_are_their_own(tmp_path: Path) -> None:
    part, root = new_repo(tmp_path / "part"), new_repo(tmp_path / "repo")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "libs/part")
    git(root, "commit", "-qm", "part")
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = tmp_path / "linked"
    git(linked, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    for place in (root, root / "libs/part", linked, linked / "libs/part"):
        assert open_repository(place, trusted=False).head().commit is not None


def test_the_environment_does_not_say_where_the_repository_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, foreign = new_repo(tmp_path / "repo"), new_repo(tmp_path / "foreign", {"other": "1\n"})
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, str(foreign / ".git"))
    found = open_repository(root, trusted=False)
    assert found.git_dir == root / ".git"
    with found.opened() as handle:
        assert [entry.path for entry in handle.index] == ["README.md"]


def test_a_commondir_that_leads_elsewhere_is_refused_even_when_trusted(tmp_path: Path) -> None:
    root, foreign = new_repo(tmp_path / "repo"), new_repo(tmp_path / "foreign")
    (root / ".git/commondir").write_text(f"{foreign}/.git\n")
    with pytest.raises(UnsupportedRepository, match="commondir leads to another git directory"):
        open_repository(root, trusted=True)


def test_a_submodule_below_a_name_of_worktrees_shares_nothing(tmp_path: Path) -> None:
    part, root = new_repo(tmp_path / "part"), new_repo(tmp_path / "repo")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "worktrees/part")
    place = root / "worktrees/part"
    found = open_repository(place, trusted=False)
    assert found.common_dir == found.git_dir == root / ".git/modules/worktrees/part"
