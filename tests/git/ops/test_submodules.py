"""Submodules end to end, through the tools, and what a hostile `.gitmodules` may not do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drive import git, new_repo
from tests.git.servers import http_server, new_bare
from tests.tools.repo import Repo, trust

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of `part.git`, which has a submodule `../core.git` of its own, and of `app.git`."""
    base = tmp_path_factory.mktemp("sources")
    root = base / "served"
    for name in ("core", "part"):
        new_repo(base / "src" / name, {f"{name}.py": f"{name} = 1\n"})
    with http_server(root, needs_password=False) as (url, _):
        for name in ("core", "part", "app"):
            new_bare(root / f"{name}.git")
        git(base / "src/core", "push", "-q", f"{root}/core.git", "main")
        part = base / "src/part"
        git(part, "remote", "add", "origin", f"{url}/part.git")
        git(part, "submodule", "--quiet", "add", "../core.git", "core")
        git(part, "commit", "-qm", "core")
        git(part, "push", "-q", f"{root}/part.git", "main")
        yield url, base


@pytest.fixture
def repo(tmp_path: Path, sources: tuple[str, Path]) -> Iterator[Repo]:
    made = Repo(tmp_path, {"app.py": "one = 1\n"})
    git(made.root, "remote", "add", "origin", f"{sources[0]}/app.git")
    yield made
    made.session.close()


def test_added_as_git_adds_it_and_cloned_again_by_git(repo: Repo, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo.root), "theirs")
    theirs = tmp_path / "theirs"
    git(theirs, "remote", "set-url", "origin", git(repo.root, "remote", "get-url", "origin"))
    git(theirs, "submodule", "--quiet", "add", "../part.git", "libs/part")
    told = repo.result("git_submodule", action="add", path="libs/part", url="../part.git")
    assert told["submodules"][0].startswith("libs/part: main at ")
    for command in (("ls-files", "-s"), ("status", "--porcelain"), ("submodule", "status")):
        assert git(repo.root, *command) == git(theirs, *command)
    for file in (".gitmodules", "libs/part/.git", "libs/part/part.py", ".git/modules/libs/part/HEAD"):
        assert (repo.root / file).read_bytes() == (theirs / file).read_bytes()
    inner = (".git/modules/libs/part/config", "core.worktree", "remote.origin.url", "branch.main.merge")
    for key in inner[1:]:
        ours, other = (git(at, "config", "-f", inner[0], key) for at in (repo.root, theirs))
        assert ours == other
    assert git(repo.root, "config", "submodule.libs/part.url").endswith("/part.git")
    git(repo.root / "libs/part", "fsck")


def test_a_clone_gets_its_submodules_and_those_inside(repo: Repo, tmp_path: Path) -> None:
    repo.result("git_submodule", action="add", path="libs/part", url="../part.git")
    git(repo.root, "commit", "-qm", "part")
    git(tmp_path, "clone", "-q", str(repo.root), "copy")
    git(tmp_path / "copy", "remote", "set-url", "origin", git(repo.root, "remote", "get-url", "origin"))
    copy = Repo.at(tmp_path / "copy", tmp_path)
    try:
        line = copy.result("git_submodule")["submodules"][0]
        assert (line["state"], line["initialised"], line["url"]) == ("absent", False, "../part.git")
        told = copy.result("git_submodule", action="update", recursive=True)
        assert [one.split(":")[0] for one in told["submodules"]] == ["libs/part", "libs/part/core"]
        assert (copy.root / "libs/part/core/core.py").read_text() == "core = 1\n"
        found = copy.result("git_submodule", recursive=True)["submodules"]
        assert [(one["path"], one["state"]) for one in found] == [
            ("libs/part", "ok"),
            ("libs/part/core", "ok"),
        ]
        assert git(copy.root, "status", "--porcelain") == ""
        assert git(copy.root, "submodule", "status", "--recursive")[0] != "-"
    finally:
        copy.session.close()


def test_an_update_follows_the_index_and_keeps_work(repo: Repo, sources: tuple[str, Path]) -> None:
    repo.result("git_submodule", action="add", path="part", url="../part.git")
    git(repo.root, "commit", "-qm", "part")
    source = sources[1] / "src/part"
    (source / "part.py").write_text("part = 2\n")
    git(source, "commit", "-qam", "two")
    git(source, "push", "-q", str(sources[1] / "served/part.git"), "main")
    wanted = git(source, "rev-parse", "HEAD")
    git(repo.root, "update-index", "--cacheinfo", f"160000,{wanted},part")
    assert repo.result("git_submodule")["submodules"][0]["state"] == "moved"
    (repo.root / "part/part.py").write_text("mine = 1\n")
    refused = repo.error("git_submodule", action="update")
    assert refused["name"] == "WORK_AT_RISK" and "part.py" in refused["message"]
    told = repo.result("git_submodule", action="update", force=True)
    assert git(repo.root / "part", "rev-parse", "HEAD") == wanted
    assert git(repo.root / "part", "show", f"{told['saved']}:part.py") == "mine = 1"


def test_taking_away_names_work_and_leaves_the_commits(repo: Repo) -> None:
    repo.result("git_submodule", action="add", path="part", url="../part.git")
    git(repo.root, "commit", "-qm", "part")
    (repo.root / "part/new.py").write_text("new = 1\n")
    assert "new.py" in repo.error("git_submodule", action="deinit")["message"]
    assert "new.py" in repo.error("git_submodule", action="remove", paths=["part"])["message"]
    (repo.root / "part/new.py").unlink()
    repo.result("git_submodule", action="deinit")
    assert list((repo.root / "part").iterdir()) == []
    assert git(repo.root, "submodule", "status").startswith("-")
    repo.result("git_submodule", action="update")
    repo.result("git_submodule", action="remove", paths=["part"])
    assert git(repo.root, "status", "--porcelain") == "D  .gitmodules\nD  part"
    assert not (repo.root / "part").exists() and (repo.root / ".git/modules/part/HEAD").exists()
    assert "submodule.part" not in git(repo.root, "config", "--local", "-l")


def test_sync_takes_over_a_new_address(repo: Repo) -> None:
    repo.result("git_submodule", action="add", path="part", url="../part.git")
    git(repo.root, "config", "-f", ".gitmodules", "submodule.part.url", "../core.git")
    repo.result("git_submodule", action="sync")
    assert git(repo.root / "part", "remote", "get-url", "origin").endswith("/core.git")
    assert git(repo.root, "config", "submodule.part.url").endswith("/core.git")


def planted(repo: Repo, name: str, path: str, url: str) -> None:
    """A submodule in index and `.gitmodules`, as a hostile commit may have it."""
    oid = git(repo.root, "rev-parse", "HEAD")
    (repo.root / ".gitmodules").write_text(f'[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n')
    git(repo.root, "update-index", "--add", "--cacheinfo", f"160000,{oid},{path}")


HOSTILE = [
    ("../../evil", "sub", "https://example.org/x"),
    ("a/../../evil", "sub", "https://example.org/x"),
    ("-u./evil", "sub", "https://example.org/x"),
    (".git/hooks", "sub", "https://example.org/x"),
    ("x/.GIT", "sub", "https://example.org/x"),
    ("ok", "link/sub", "https://example.org/x"),
    ("ok", "-sub", "https://example.org/x"),
    ("ok", "sub", "-u./payload"),
    ("ok", "sub", "ext::sh -c touch% canary"),
    ("ok", "sub", "/etc"),
    ("ok", "sub", "file:///etc"),
    ("ok", "sub", "../../../../../../../etc"),
    ("ok", "sub", "https://example.org/%0ahost=evil"),
]


def test_hostile_entries_are_refused(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"app.py": "one = 1\n"})
    (repo.root / "link").symlink_to("/tmp")
    index = (repo.root / ".git/index").read_bytes()
    git(repo.root, "remote", "add", "origin", "https://example.org/app.git")
    for name, path, url in HOSTILE:
        (repo.root / ".git/index").write_bytes(index)
        planted(repo, name, path, url)
        refused = repo.error("git_submodule", action="update")
        assert refused["name"] in ("PATH_REFUSED", "INVALID_ARGUMENT"), (name, path, url)
        assert not (repo.root / ".git/modules").exists() and not (repo.root / "sub").exists()
    repo.session.close()


def test_commands_of_the_configuration_are_not_run(repo: Repo, tmp_path: Path) -> None:
    repo.result("git_submodule", action="add", path="part", url="../part.git")
    git(repo.root, "commit", "-qm", "part")
    git(repo.root, "config", "submodule.part.update", f"!touch {tmp_path}/canary")
    git(repo.root, "config", "-f", ".gitmodules", "submodule.part.update", f"!touch {tmp_path}/canary")
    repo.result("git_submodule", action="deinit")
    git(repo.root, "config", "submodule.part.update", f"!touch {tmp_path}/canary")
    repo.result("git_submodule", action="update")
    assert (repo.root / "part/part.py").exists() and not (tmp_path / "canary").exists()


def test_directories_of_this_machine_need_trust(tmp_path: Path) -> None:
    part = new_repo(tmp_path / "part", {"part.py": "1\n"})
    root = new_repo(tmp_path / "repo")
    git(root, *ALLOW, "submodule", "--quiet", "add", str(part), "part")
    git(root, "commit", "-qm", "part")
    git(tmp_path, "clone", "-q", str(root), "copy")
    copy = Repo.at(tmp_path / "copy", tmp_path)
    assert "not trusted" in copy.error("git_submodule", action="update")["message"]
    copy.session.close()
    trust(copy.root, tmp_path)
    copy = Repo.at(tmp_path / "copy", tmp_path)
    copy.result("git_submodule", action="update")
    assert (copy.root / "part/part.py").read_text() == "1\n"
    copy.session.close()


def test_one_repository_inside_the_git_directory_of_another_is_refused(repo: Repo) -> None:
    repo.result("git_submodule", action="add", path="part", url="../part.git")
    refused = repo.error("git_submodule", action="add", path="x", url="../core.git", name="part/x")
    assert "inside another one" in refused["message"]
