"""A copy of a working tree: all that is there now, nothing that leads back."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.paths import RepoPath
from codeplane.testrun.run import Watch
from codeplane.verify.environments import python_path
from codeplane.verify.trial import Original, trial
from codeplane.working_tree import digest_of
from tests.drive import git
from tests.tools.repo import Repo


def original(repo: Repo, home: Path) -> Original:
    repo.session.refresh()
    with repo.session.index.snapshot() as snapshot:
        paths = sorted(map(RepoPath, snapshot.lookup.paths))
    return Original(repo.session.tree, repo.session.checkout.repository, paths, home)


def change(before: Mapping[str, str], after: Mapping[str, str | None]) -> Change:
    was = {RepoPath(path): text.encode() for path, text in before.items()}
    edits = [
        FileEdit(
            RepoPath(path),
            digest_of(was[RepoPath(path)]) if path in before else None,
            text.encode() if text is not None else None,
        )
        for path, text in after.items()
    ]
    return Change(EditSet(tuple(edits)), was)


def test_it_has_what_the_tree_has_now_and_ends_with_the_block(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"a.py": "one\n", ".gitignore": "secret/\n", "run.sh": "#!/bin/sh\n"})
    (repo.root / "run.sh").chmod(0o755)
    repo.write("new.py", "untracked\n")
    repo.write("secret/x.py", "ignored\n")
    repo.write("a.py", "not committed\n")
    (repo.root / "link").symlink_to(repo.root / "a.py")
    with trial(original(repo, tmp_path / "home"), change({}, {}), Watch()) as made:
        assert (made.root / "a.py").read_text() == "not committed\n"
        assert (made.root / "new.py").read_text() == "untracked\n"
        assert not (made.root / "secret").exists()
        assert (made.root / "run.sh").stat().st_mode & 0o100
        (made.root / "link").write_text("through the link\n")
        assert (made.root / "a.py").read_text() == "through the link\n"
    assert (repo.root / "a.py").read_text() == "not committed\n"
    assert list((tmp_path / "home").iterdir()) == []


def test_edits_are_made_and_taken_back_in_the_copy_alone(tmp_path: Path) -> None:
    before = {"a.py": "one\n", "b.py": "two\n"}
    repo = Repo(tmp_path, before)
    made_of = change(before, {"a.py": "ONE\n", "b.py": None, "sub/c.py": "three\n"})
    with trial(original(repo, tmp_path / "home"), made_of, Watch()) as made:
        made.edit()
        assert (made.root / "a.py").read_text() == "ONE\n" and not (made.root / "b.py").exists()
        assert {"sub/c.py", "a.py"} <= set(made.paths()) and "b.py" not in made.paths()
        made.restore()
        assert (made.root / "b.py").read_text() == "two\n" and not (made.root / "sub/c.py").exists()
        assert "b.py" in made.paths()
    assert (repo.root / "a.py").read_text() == "one\n"


def test_its_git_reads_the_history_and_writes_its_own(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"a.py": "one\n"})
    head = git(repo.root, "rev-parse", "HEAD")
    with trial(original(repo, tmp_path / "home"), change({}, {}), Watch()) as made:
        assert git(made.root, "log", "--format=%H") == head
        assert git(made.root, "status", "--porcelain") == ""
        (made.root / "a.py").write_text("two\n")
        git(made.root, "commit", "-qam", "second")
        assert git(made.root, "rev-parse", "HEAD") != head
    assert git(repo.root, "rev-parse", "HEAD") == head
    assert subprocess.run(["git", "fsck"], cwd=repo.root, capture_output=True, check=True).returncode == 0


def test_environments_are_reached_and_packages_of_the_repository_are_those_of_the_copy(
    tmp_path: Path,
) -> None:
    repo = Repo(tmp_path, {".gitignore": ".venv\nnode_modules\n", "packages/own/index.js": "1\n"})
    repo.write(".venv/lib/python3/site-packages/own.pth", f"{repo.root}/lib\n")
    repo.write("lib/own.py", "")
    repo.write("node_modules/other/index.js", "2\n")
    (repo.root / "node_modules" / "@us").mkdir()
    (repo.root / "node_modules" / "@us" / "own").symlink_to("../../packages/own")
    with trial(original(repo, tmp_path / "home"), change({}, {}), Watch()) as made:
        assert (made.root / ".venv").resolve() == repo.root / ".venv"
        assert (made.root / "node_modules/other").resolve() == repo.root / "node_modules/other"
        assert (made.root / "node_modules/@us/own").resolve() == made.root.resolve() / "packages/own"
        assert python_path(repo.root, made.root).split(":") == [str(made.root), str(made.root / "lib")]
    assert (repo.root / "node_modules/other/index.js").read_text() == "2\n"
