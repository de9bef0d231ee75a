import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import ContentChanged, NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.working_tree import LARGEST, UNSETTLED, Delta, Known, WorkingTree, digest_of
from codeplane.working_tree import known as known_module
from tests.drive import git, new_repo

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
LONG_AGO = 1_700_000_000
# Longer than the ticks of the file system's clock, and short enough to wait for.
SHORT_NS = 10_000_000

Map = dict[RepoPath, Known]


def tree_at(root: Path, largest: int = LARGEST) -> WorkingTree:
    return WorkingTree(root, open_repository(root, trusted=False), largest=largest)


def look(tree: WorkingTree, known: Map) -> tuple[Delta, Map]:
    if known_module.RACY_NS == SHORT_NS:
        time.sleep(1.5 * SHORT_NS / 1e9)
    delta = tree.reconcile(known)
    return delta, delta.applied_to(known)


def digests(known: Map) -> dict[str, str]:
    return {path: entry.digest for path, entry in known.items()}


def contents(root: Path) -> dict[str, str]:
    """What a plain reading of every listed file gives."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True
    ).stdout
    found = {os.fsdecode(name) for name in names.split(b"\0") if name}
    plain = [n for n in found if (root / n).is_file() and not (root / n).is_symlink()]
    return {name: digest_of((root / name).read_bytes()) for name in plain}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "r", {"a.py": "one", "src/b.py": "two", "src/deep/c.py": "three"})


@pytest.fixture(params=["racy", "settled"])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is either too fresh to be trusted by its time stamps, or old enough."""
    if request.param == "settled":
        monkeypatch.setattr(known_module, "RACY_NS", SHORT_NS)


@pytest.mark.usefixtures("clock")
def test_the_first_look_adds_everything_and_the_second_nothing(root: Path) -> None:
    tree = tree_at(root)
    delta, known = look(tree, {})
    assert digests(known) == contents(root) and delta
    assert (
        known[RepoPath("a.py")].size == 3 and known[RepoPath("a.py")].mode == os.lstat(root / "a.py").st_mode
    )
    again, after = look(tree, known)
    assert not again and not again.touched and after == known


@pytest.mark.usefixtures("clock")
def test_each_kind_of_change_is_told_as_what_it_is(root: Path) -> None:
    tree = tree_at(root)
    _, known = look(tree, {})
    (root / "a.py").write_text("other")
    (root / "new").mkdir()
    (root / "src" / "deep").rename(root / "new" / "deep")
    (root / "src" / "b.py").chmod(0o755)
    delta, known = look(tree, known)
    assert delta.changed.keys() == {"a.py"} and delta.removed == {"src/deep/c.py"}
    assert delta.added.keys() == {"new/deep/c.py"} and delta.renamed == {"src/deep/c.py": "new/deep/c.py"}
    assert delta.touched.keys() == {"src/b.py"} and digests(known) == contents(root)


@pytest.mark.usefixtures("clock")
def test_a_rename_prefers_the_same_file_name_and_needs_bytes(root: Path) -> None:
    for name in ("x/one.txt", "x/two.txt", "x/empty"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("" if name == "x/empty" else "same")
    tree = tree_at(root)
    _, known = look(tree, {})
    (root / "x").rename(root / "y")
    delta, _ = look(tree, known)
    assert delta.renamed == {"x/one.txt": "y/one.txt", "x/two.txt": "y/two.txt"}


def test_an_edit_of_the_same_size_in_the_same_tick_is_seen(root: Path) -> None:
    tree = tree_at(root)
    _, known = look(tree, {})
    for number in range(300):
        text = f"{number:03}"
        (root / "a.py").write_text(text)
        delta, known = look(tree, known)
        assert delta.changed.keys() == {"a.py"} and known[RepoPath("a.py")].digest == digest_of(text.encode())


def test_what_was_read_too_soon_stays_unsettled_over_a_restart(root: Path) -> None:
    _, known = look(tree_at(root), {})
    assert {entry.ctime_ns for entry in known.values()} == {UNSETTLED}
    # The same size, inode and time of change of the content: only reading tells.
    stamp = os.stat(root / "a.py")
    (root / "a.py").write_text("eno")
    os.utime(root / "a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert tree_at(root).reconcile(known).changed.keys() == {"a.py"}


def test_a_settled_file_is_not_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_module, "RACY_NS", 0)
    tree = tree_at(root)
    _, known = look(tree, {})
    assert UNSETTLED not in {entry.ctime_ns for entry in known.values()}
    monkeypatch.setattr(WorkingTree, "_read_entry", lambda *_: pytest.fail("read a file that did not change"))
    monkeypatch.setattr("os.scandir", lambda *_: pytest.fail("listed a directory that did not change"))
    assert not tree.reconcile(known)


def test_a_new_time_alone_is_a_touch(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_module, "RACY_NS", 0)
    tree = tree_at(root)
    _, known = look(tree, {})
    os.utime(root / "a.py", (LONG_AGO, LONG_AGO))
    delta, known = look(tree, known)
    assert not delta and delta.touched.keys() == {"a.py"} and not look(tree, known)[0].touched


@pytest.mark.usefixtures("clock")
def test_a_delta_that_was_not_applied_is_told_again(root: Path) -> None:
    tree = tree_at(root)
    _, known = look(tree, {})
    (root / "new.py").write_text("new")
    (root / "a.py").unlink()
    first, second = tree.reconcile(known), tree.reconcile(known)
    assert first.added.keys() == second.added.keys() == {"new.py"}
    assert first.removed == second.removed == {"a.py"}


RULE_CHANGES: dict[str, Callable[[Path], object]] = {
    "root": lambda root: (root / ".gitignore").write_text("src/deep\n"),
    "nested": lambda root: (root / "src" / ".gitignore").write_text("deep\n"),
    "exclude": lambda root: (root / ".git" / "info" / "exclude").write_text("deep\n"),
    "cplignore": lambda root: (root / ".cplignore").write_text("deep\n"),
}


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("where", RULE_CHANGES)
def test_a_changed_rule_is_obeyed_at_once_and_its_removal_too(root: Path, where: str) -> None:
    git(root, "rm", "-q", "--cached", "src/deep/c.py")
    tree = tree_at(root)
    _, known = look(tree, {})
    RULE_CHANGES[where](root)
    delta, known = look(tree, known)
    assert delta.removed == {"src/deep/c.py"}
    for name in (".gitignore", "src/.gitignore", ".git/info/exclude", ".cplignore"):
        (root / name).unlink(missing_ok=True)
    assert "src/deep/c.py" in look(tree, known)[1]


@pytest.mark.usefixtures("clock")
def test_adding_an_ignored_file_to_git_lists_it(root: Path) -> None:
    (root / ".gitignore").write_text("*.out\n")
    (root / "x.out").write_text("")
    tree = tree_at(root)
    _, known = look(tree, {})
    assert "x.out" not in known
    git(root, "add", "-f", "x.out")
    _, known = look(tree, known)
    assert "x.out" in known
    git(root, "rm", "-q", "--cached", "x.out")
    assert look(tree, known)[0].removed == {"x.out"}


@pytest.mark.usefixtures("clock")
def test_switching_branches_is_followed(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    git(root, "rm", "-q", "-r", "src")
    git(root, "commit", "-qm", "less")
    tree = tree_at(root)
    _, known = look(tree, {})
    for branch in ("main", "other", "main"):
        git(root, "checkout", "-q", branch)
        _, known = look(tree, known)
        assert digests(known) == contents(root)


STEPS = [
    "write",
    "same",
    "delete",
    "rename",
    "directory",
    "replace",
    "link",
    "ignore",
    "stage",
    "unstage",
    "chmod",
]
SPOTS = ["a", "b", "d/a", "d/b", "d/e/a", "d/e/f", "ig/a", "ig/b.x", "t"]


def step(root: Path, kind: str, spot: str, other: str, number: int) -> None:
    place, aim = root / spot, root / other
    if kind in ("write", "link", "ignore", "directory", "same"):
        for parent in [*place.parents][::-1]:
            if parent.is_relative_to(root) and (parent.is_symlink() or parent.is_file()):
                parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "write" | "same" if not place.is_dir() and not place.is_symlink():
            place.write_text("same" if kind == "same" else f"{number % 7}")
        case "delete" if place.exists():
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
        case "rename" if place.exists() and aim.parent.is_dir() and not aim.exists():
            if not aim.is_relative_to(place):
                place.rename(aim)
        case "directory" if not place.exists() and not place.is_symlink():
            place.mkdir()
        case "replace" if place.is_file():
            place.unlink()
            place.mkdir()
        case "link" if not place.exists() and not place.is_symlink():
            place.symlink_to("a")
        case "ignore":
            (place.parent / ".gitignore").write_text(["ig/\n", "*.x\n", "a\n", "", "d/*\n!d/e\n"][number % 5])
        case "stage" if place.is_file() and not place.is_symlink():
            git(root, "add", "-f", spot)
        case "unstage":
            git(root, "rm", "-rq", "--cached", "--ignore-unmatch", spot)
        case "chmod" if place.is_file():
            place.chmod(0o755 if number % 2 else 0o644)


@pytest.mark.usefixtures("clock")
@settings(max_examples=14, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(4, 16))
def test_delta_after_delta_equals_a_fresh_look(chance: random.Random, length: int) -> None:
    with tempfile.TemporaryDirectory() as base:
        root = new_repo(Path(base) / "r", {"a": "0", "d/a": "1", "ig/a": "2"})
        tree, known = tree_at(root), Map()
        for number in range(length):
            for _ in range(chance.randint(0, 3)):
                step(root, chance.choice(STEPS), chance.choice(SPOTS), chance.choice(SPOTS), number)
            delta, known = look(tree, known)
            fresh = tree_at(root).reconcile({})
            assert digests(known) == digests(dict(fresh.added)) == contents(root)
            assert (delta.refused, delta.links) == (fresh.refused, fresh.links)


def test_special_files_are_told_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "src" / "fifo")
    delta = tree_at(root).reconcile({})
    assert delta.refused == {"src/fifo": "It is a FIFO."}


def test_links_are_listed_by_target_and_those_that_lead_out_are_refused(root: Path) -> None:
    for name, target in {
        "in": "src/b.py",
        "dir": "src",
        "up": "..",
        "out": "/etc/passwd",
        "loop": "loop",
    }.items():
        (root / name).symlink_to(target)
    (root / "src" / "back").symlink_to("..")
    (root / "nothing").symlink_to("nowhere")
    (root / "config").symlink_to(".git/config")
    (root / ".env").write_text("key")
    (root / "public").symlink_to(".env")
    delta = tree_at(root).reconcile({})
    assert delta.added.keys() == {"a.py", "src/b.py", "src/deep/c.py"}
    assert delta.links == {"in": "src/b.py", "dir": "src", "src/back": ""}
    assert delta.refused.keys() == {"up", "out", "loop", "nothing", "config", "public"}


def test_names_of_any_bytes_and_either_case_survive(root: Path) -> None:
    raw = [b"\xff\xfe.py", b"new\nline", "é".encode(), b"CASE", b"case", b"back\\slash", b" "]
    for name in raw:
        (root / os.fsdecode(name)).write_bytes(name)
    _, known = look(tree_at(root), {})
    assert {os.fsencode(path) for path in known} >= set(raw)
    assert tree_at(root).read(RepoPath(os.fsdecode(raw[0]))) == raw[0]


def _without_root_rights() -> None:
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


LOOK = """
import json, sys
from pathlib import Path
from codeplane.git import open_repository
from codeplane.working_tree import WorkingTree
root = Path(sys.argv[1])
tree = WorkingTree(root, open_repository(root, trusted=True))
delta = tree.reconcile({})
again = tree.reconcile(delta.applied_to({}))
print(json.dumps([sorted(delta.added), dict(delta.refused), bool(again)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="permissions of root are taken away with prctl")
def test_what_may_not_be_read_is_told_and_the_rest_is_seen(root: Path) -> None:
    (root / "a.py").chmod(0)
    (root / "src" / "deep").chmod(0)
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(root)],
        preexec_fn=_without_root_rights,
        capture_output=True,
        text=True,
    )
    (root / "src" / "deep").chmod(0o755)
    added, refused, is_changed = json.loads(done.stdout)
    assert added == ["src/b.py"] and not is_changed and refused.keys() == {"a.py", "src/deep"}
    assert all("permission denied" in reason for reason in refused.values())


def test_a_file_that_became_something_else_is_not_read(root: Path) -> None:
    tree = tree_at(root)
    _, known = look(tree, {})
    path = RepoPath("a.py")
    (root / "a.py").unlink()
    with pytest.raises(NotFound):
        tree.read(path)
    (root / "a.py").mkdir()
    with pytest.raises(PathRefused):
        tree.read(path)
    assert look(tree, known)[0].removed == {"a.py"}
    (root / "a.py").rmdir()
    (root / "a.py").symlink_to("src/b.py")
    with pytest.raises(PathRefused):
        tree.read(path)
    assert tree.read(path, follow=True) == b"two"


def test_a_read_checks_digest_size_and_secrets(root: Path) -> None:
    tree = tree_at(root, largest=4)
    path = RepoPath("a.py")
    assert tree.read(path, expected=digest_of(b"one")) == b"one"
    with pytest.raises(ContentChanged):
        tree.read(path, expected=digest_of(b"two"))
    with pytest.raises(PathRefused, match="5 bytes"):
        tree.read(RepoPath("src/deep/c.py"))
    (root / ".env").write_text("")
    with pytest.raises(PathRefused, match="secret"):
        tree.read(RepoPath(".env"))
    assert tree.reconcile({}).refused.keys() == {"src/deep/c.py"}


def test_why_a_path_is_absent_is_told(root: Path) -> None:
    (root / ".gitignore").write_text("out/\n")
    (root / ".cplignore").write_text("*.gen\n")
    (root / "out" / "x").mkdir(parents=True)
    tree = tree_at(root)
    why = {
        name: tree.why_absent(RepoPath(name)) or "" for name in ("a.py", "out/x/y", "q.gen", ".env", ".git/x")
    }
    assert why["a.py"] == "" and "out is ignored by git" in why["out/x/y"] and ".cplignore" in why["q.gen"]
    assert "secret" in why[".env"] and "private" in why[".git/x"]


@pytest.mark.usefixtures("clock")
def test_why_a_path_is_absent_is_asked_of_any_path(root: Path) -> None:
    tree = tree_at(root)
    assert tree.why_absent(RepoPath("/".join(["d" * 200] * 21))) is None
    (root / "closed").mkdir()
    (root / "closed" / "a.py").touch()
    (root / "closed").chmod(0)
    tree.reconcile({})
    if os.geteuid() != 0:
        assert "permission denied" in (tree.why_absent(RepoPath("closed/a.py")) or "")
    (root / "closed").chmod(0o700)


def test_a_nested_repository_is_listed_by_its_head_and_not_entered(root: Path) -> None:
    inner = new_repo(root / "lib", {"x.py": "x"})
    tree = tree_at(root)
    delta, known = look(tree, {})
    assert delta.submodules == {"lib": git(inner, "rev-parse", "HEAD")} and "lib/x.py" not in known
    before = tree.version()
    git(inner, "commit", "-q", "--allow-empty", "-m", "more")
    assert tree.moved_since(before) and not tree.moved_since(tree.version())
    shutil.rmtree(inner / ".git")
    assert look(tree, known)[0].added.keys() == {"lib/x.py"}


@pytest.mark.usefixtures("clock")
def test_a_directory_that_becomes_a_repository_takes_all_below_it_along(root: Path) -> None:
    for name in ("lib/x.py", "lib/deep/y.py", "lib/deep/deeper/z.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(name)
    tree = tree_at(root)
    _, known = look(tree, {})
    git(root / "lib", "init", "-q")
    delta, known = look(tree, known)
    assert delta.removed == {"lib/x.py", "lib/deep/y.py", "lib/deep/deeper/z.py"}
    assert delta.submodules == {"lib": None}


def test_a_git_file_does_not_hide_what_is_tracked_beside_it(root: Path) -> None:
    (root / "src" / ".git").write_text("gitdir: nowhere\n")
    delta = tree_at(root).reconcile({})
    assert delta.added.keys() == {"a.py", "src/b.py", "src/deep/c.py"} and not delta.submodules


def test_a_submodule_is_followed_through_its_git_file(root: Path, tmp_path: Path) -> None:
    other = new_repo(tmp_path / "other", {"x.py": "x"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    git(root / "sub", "pack-refs", "--all")
    assert tree_at(root).reconcile({}).submodules == {"sub": git(other, "rev-parse", "HEAD")}
    (root / "sub" / ".git").write_text(f"gitdir: {other}/.git\n")
    assert tree_at(root).reconcile({}).submodules == {"sub": None}


def test_the_tripwire_tells_commits_and_staging(root: Path) -> None:
    tree = tree_at(root)
    before = tree.version()
    assert before.head == git(root, "rev-parse", "HEAD") and not tree.moved_since(before)
    (root / "n").write_text("")
    git(root, "add", "n")
    staged = tree.version()
    assert tree.moved_since(before) and staged.head == before.head
    git(root, "commit", "-qm", "n")
    assert tree.version().head != staged.head


def test_a_repository_without_commit_or_index_has_a_version(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert tree_at(tmp_path).version().head is None and tree_at(tmp_path).version().index_size == 0


def test_a_linked_worktree_obeys_the_shared_exclude(root: Path, tmp_path: Path) -> None:
    (root / ".git" / "info" / "exclude").write_text("*.tmp\n")
    git(root, "worktree", "add", "-q", str(tmp_path / "w"))
    (tmp_path / "w" / "x.tmp").write_text("")
    assert tree_at(tmp_path / "w").reconcile({}).added.keys() == {"a.py", "src/b.py", "src/deep/c.py"}


def test_ten_thousand_files_and_a_deep_chain_are_listed(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for number in range(100):
        (tmp_path / f"d{number}").mkdir()
        for inner in range(100):
            os.close(os.open(tmp_path / f"d{number}" / f"{inner}", os.O_CREAT | os.O_WRONLY))
    deep = tmp_path.joinpath(*["x" * 20] * 150)
    deep.mkdir(parents=True)
    (deep / "end").write_text("")
    tree = tree_at(tmp_path)
    _, known = look(tree, {})
    assert len(known) == 10_001
    (tmp_path / "d7" / "7").write_text("7")
    assert look(tree, known)[0].changed.keys() == {"d7/7"}


def test_a_tree_that_changes_during_the_look_breaks_nothing(root: Path) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (root / "src").rename(root / "kept")
            (root / "src").symlink_to("/etc")
            (root / "src").unlink()
            (root / "kept").rename(root / "src")

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(60):
            tree = tree_at(root)
            _, known = look(tree, {})
            look(tree, known)
            assert all(path.split("/")[-1] in ("a.py", "b.py", "c.py") for path in known)
    finally:
        stop.set()
        thread.join()
    assert digests(look(tree, known)[1]) == contents(root)
