"""What the engine does to files, and what it refuses."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import (
    Cancelled,
    EditConflict,
    EditFailed,
    EditInDoubt,
    EditRefused,
    EditsOverlap,
    StateUnusable,
)
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.mutation import Kind, Scope, journal
from codeplane.working_tree import digest_of
from tests.drive import git
from tests.mutation.world import World, fine

FILES = {"a.py": b"one\n", "b.py": b"two\n", "pkg/c.py": b"three\n", "pkg/deep/d.py": b"four\n"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.new(tmp_path / "repo", FILES)


def test_a_batch_creates_updates_deletes_and_moves(world: World) -> None:
    (world.root / "b.py").chmod(0o755)
    applied = world.apply(
        world.edit("a.py", b"changed\n"),
        world.edit("new/er/e.py", b"five\n"),
        world.edit("pkg/deep/d.py", None),
        world.edit("b.py", None),
        world.edit("moved.py", b"two, moved\n", moved_from="b.py"),
    )
    assert world.files() == {
        "a.py": b"changed\n",
        "new/er/e.py": b"five\n",
        "pkg/c.py": b"three\n",
        "moved.py": b"two, moved\n",
    }
    assert world.directories() == {"new", "new/er", "pkg"}
    assert (world.root / "moved.py").stat().st_mode & 0o777 == 0o755
    by_path = {change.path: change for change in applied.changes}
    assert by_path[RepoPath("a.py")].before == digest_of(b"one\n")
    assert by_path[RepoPath("moved.py")].moved_from == "b.py"
    assert by_path[RepoPath("moved.py")].mode_after == 0o755
    world.engine.close()
    assert world.litter() == []


def test_what_was_done_can_be_taken_back_by_the_reverse_batch(world: World) -> None:
    applied = world.apply(
        world.edit("a.py", b"changed\n"), world.edit("x/y/z.py", b"new\n"), world.edit("pkg/deep/d.py", None)
    )
    world.undo(applied.changes)
    assert world.files() == FILES
    assert world.directories() == {"pkg", "pkg/deep"}


def test_a_file_may_become_a_directory_and_a_directory_a_file(world: World) -> None:
    applied = world.apply(world.edit("a.py", None), world.edit("a.py/inner.py", b"in\n"))
    assert world.files() == {**{k: v for k, v in FILES.items() if k != "a.py"}, "a.py/inner.py": b"in\n"}
    world.undo(applied.changes)
    assert world.files() == FILES
    world.apply(world.edit("pkg/c.py", None), world.edit("pkg/deep/d.py", None), world.edit("pkg", b"flat\n"))
    assert world.files() == {"a.py": b"one\n", "b.py": b"two\n", "pkg": b"flat\n"}


def test_a_directory_with_more_in_it_does_not_become_a_file(world: World) -> None:
    with pytest.raises(EditRefused, match="more in it than the edits remove"):
        world.apply(world.edit("pkg/c.py", None), world.edit("pkg", b"flat\n"))
    assert world.files() == FILES


def test_preparing_writes_nothing_and_tells_what_would_happen(world: World) -> None:
    prepared = world.prepare(
        EditSet((world.edit("a.py", b"x"), world.edit("n.py", b"y"), world.edit("b.py", None)))
    )
    assert [one.kind for one in prepared.planned] == [Kind.UPDATE, Kind.CREATE, Kind.DELETE]
    assert world.files() == FILES
    assert not (world.state.path / "journal").exists()


def test_an_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    inode = (world.root / "a.py").stat().st_ino
    assert world.apply(world.edit("a.py", b"one\n")).changes == ()
    assert (world.root / "a.py").stat().st_ino == inode


def test_a_mode_alone_is_a_change(world: World) -> None:
    edit = world.edit("a.py", b"one\n")
    applied = world.apply(FileEdit(edit.path, edit.before, edit.after, None, 0o755))
    assert (world.root / "a.py").stat().st_mode & 0o777 == 0o755
    world.undo(applied.changes)
    assert (world.root / "a.py").stat().st_mode & 0o777 == applied.changes[0].mode_before
    assert world.files() == FILES


def test_a_new_file_gets_the_mode_that_any_program_would_give_it(world: World) -> None:
    before = os.umask(0o027)
    try:
        applied = world.apply(world.edit("n.py", b"n"))
    finally:
        os.umask(before)
    assert applied.changes[0].mode_after == 0o640
    assert (world.root / "n.py").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
def test_attributes_go_on(world: World) -> None:
    try:
        os.setxattr(world.root / "a.py", "user.note", b"kept")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    world.apply(world.edit("a.py", b"changed"))
    assert os.getxattr(world.root / "a.py", "user.note") == b"kept"


def test_names_that_are_not_utf8_are_edited(world: World) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    applied = world.apply(world.edit(name, b"v"))
    assert world.files()[name] == b"v"
    world.undo(applied.changes)
    assert world.files() == FILES


@pytest.mark.parametrize(
    "name", [".git/config", ".codeplane/token", "../out.py", "pkg/../a.py", ".GIT/x", "/etc/x"]
)
def test_closed_and_outside_paths_are_refused(world: World, name: str) -> None:
    with pytest.raises(EditRefused):
        world.apply(FileEdit(RepoPath(name), None, b"x"))
    assert world.files() == FILES


def test_every_refused_path_is_named_at_once(world: World) -> None:
    (world.root / ".gitignore").write_text("*.gen\n")
    with pytest.raises(EditRefused) as refused:
        world.apply(
            world.edit("a.py", b"x"),
            world.edit(".env", b"x"),
            world.edit("out.gen", b"x"),
            world.edit("node_modules/m.js", b"x"),
        )
    files = refused.value.details["files"]
    assert isinstance(files, list)
    assert [one["path"] for one in files] == [".env", "out.gen", "node_modules/m.js"]
    assert len(refused.value.hints) == 2


def test_what_git_ignores_is_edited_when_that_was_confirmed(world: World) -> None:
    (world.root / ".gitignore").write_text("*.gen\n")
    edit = world.edit("new/out.gen", b"x")
    prepared = world.prepare(EditSet((edit,)), Scope(ignored_ok=True))
    assert [flag.kind for flag in prepared.flags] == ["git-ignored"]
    world.apply(edit, scope=Scope(ignored_ok=True))
    assert world.files()["new/out.gen"] == b"x"


def test_what_cplignore_excludes_is_closed_in_new_directories_too(world: World) -> None:
    (world.root / ".cplignore").write_text("private/\n")
    with pytest.raises(EditRefused, match="private"):
        world.apply(world.edit("new/private/x.py", b"x"), scope=Scope(ignored_ok=True))


def test_a_repository_of_its_own_is_closed(world: World) -> None:
    git(world.root, "init", "-q", "inner")
    with pytest.raises(EditRefused, match="repository of its own"):
        world.apply(world.edit("inner/x.py", b"x"))


def test_paths_outside_the_working_set_are_refused(world: World) -> None:
    with pytest.raises(EditRefused, match="outside the working set"):
        world.apply(world.edit("a.py", b"x"), scope=Scope(allow=("pkg/**",)))
    world.apply(world.edit("pkg/new.py", b"x"), scope=Scope(allow=("pkg/**",)))


def test_links_are_never_written_through(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("safe")
    (world.root / "link.py").symlink_to(outside / "victim")
    (world.root / "door").symlink_to(outside)
    with pytest.raises(EditRefused, match=r"symbolic link to .*victim"):
        world.apply(FileEdit(RepoPath("link.py"), digest_of(b"safe"), b"taken"))
    with pytest.raises(EditRefused, match=r"symbolic link to .*outside"):
        world.apply(FileEdit(RepoPath("door/victim"), digest_of(b"safe"), b"taken"))
    with pytest.raises(EditRefused, match="symbolic link"):
        world.apply(FileEdit(RepoPath("door/new"), None, b"x"))
    assert (outside / "victim").read_text() == "safe" and len(list(outside.iterdir())) == 1


def test_other_kinds_are_refused(world: World) -> None:
    os.mkfifo(world.root / "pipe")
    with pytest.raises(EditRefused, match="not a regular file"):
        world.apply(FileEdit(RepoPath("pipe"), None, b"x"))
    with pytest.raises(EditRefused, match="is a directory"):
        world.apply(FileEdit(RepoPath("pkg"), None, b"x"))
    with pytest.raises(EditRefused, match=r"a\.py is a file"):
        world.apply(FileEdit(RepoPath("a.py/x"), None, b"x"))


def test_a_write_protected_file_is_refused(world: World) -> None:
    (world.root / "a.py").chmod(0o444)
    with pytest.raises(EditRefused, match="write-protected"):
        world.apply(world.edit("a.py", b"x"))


def test_a_file_with_another_name_is_flagged_and_the_other_keeps_its_content(world: World) -> None:
    os.link(world.root / "a.py", world.root / "same.py")
    edit = world.edit("a.py", b"x")
    assert [flag.kind for flag in world.prepare(EditSet((edit,))).flags] == ["hard-linked"]
    applied = world.apply(edit)
    assert (world.root / "same.py").read_bytes() == b"one\n"
    (world.root / "same.py").write_bytes(b"written through the other name\n")
    world.undo(applied.changes)
    assert (world.root / "a.py").read_bytes() == b"one\n"


def test_a_size_over_the_limit_is_refused(world: World) -> None:
    world.tree.largest = 100
    with pytest.raises(EditRefused, match="the limit is 100"):
        world.apply(world.edit("a.py", b"x" * 101))
    (world.root / "big").write_bytes(b"x" * 101)
    with pytest.raises(EditRefused, match="the limit is 100"):
        world.apply(world.edit("big", b"x"))


def test_a_file_that_is_not_what_the_edit_was_made_for_is_a_conflict(world: World) -> None:
    stale = world.edit("a.py", b"mine\n")
    (world.root / "a.py").write_bytes(b"theirs\n")
    for edit, reason in [
        (stale, "has changed"),
        (FileEdit(RepoPath("b.py"), None, b"x"), "already exists"),
        (FileEdit(RepoPath("gone.py"), digest_of(b""), b"x"), "does not exist"),
        (FileEdit(RepoPath("no/gone.py"), digest_of(b""), None), "does not exist"),
    ]:
        with pytest.raises(EditConflict, match=reason) as refused:
            world.apply(edit)
        assert refused.value.hints == ("Read it again (read_source) and resend the edit.",)


def test_one_path_named_twice_is_an_overlap(world: World) -> None:
    with pytest.raises(EditsOverlap, match="twice"):
        world.apply(world.edit("a.py", b"1"), world.edit("a.py", b"2"))
    with pytest.raises(EditsOverlap, match="a file and a directory"):
        world.apply(world.edit("n", b"1"), world.edit("n/m", b"2"))


def test_names_that_differ_by_case_are_one_where_the_system_folds_them(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", FILES)
    git(world.root, "config", "core.ignorecase", "true")
    world = World(world.root)
    with pytest.raises(EditsOverlap, match="twice"):
        world.prepare(EditSet((world.edit("N.py", b"1"), world.edit("n.py", b"2"))))
    renamed = (world.edit("a.py", None), world.edit("A.py", b"one\n", moved_from="a.py"))
    assert len(world.prepare(EditSet(renamed)).planned) == 2


def test_a_change_between_preparing_and_committing_is_a_conflict(world: World) -> None:
    prepared = world.prepare(EditSet((world.edit("a.py", b"mine\n"), world.edit("n.py", b"new\n"))))
    (world.root / "a.py").write_bytes(b"theirs\n")
    with pytest.raises(EditConflict):
        with world.engine.committed(prepared, OperationId("op"), {}, fine):
            raise AssertionError("nothing may be made")
    assert world.files() == {**FILES, "a.py": b"theirs\n"}
    world.engine.close()
    assert world.litter() == []


def test_an_exception_in_the_block_takes_everything_back(world: World) -> None:
    prepared = world.prepare(
        EditSet((world.edit("a.py", b"x"), world.edit("q/n.py", b"y"), world.edit("pkg/deep/d.py", None)))
    )
    with pytest.raises(ZeroDivisionError):
        with world.engine.committed(prepared, OperationId("op"), {}, fine):
            assert world.files()["a.py"] == b"x"
            1 / 0  # noqa: B018
    assert world.files() == FILES
    assert world.directories() == {"pkg", "pkg/deep"}
    assert World(world.root).recover() == []
    assert world.litter() == []


def test_a_withdrawn_call_leaves_nothing(world: World) -> None:
    prepared = world.prepare(EditSet((world.edit("a.py", b"x"),)))

    def withdrawn() -> None:
        raise Cancelled("The client withdrew the call.")

    with pytest.raises(Cancelled):
        with world.engine.committed(prepared, OperationId("op"), {}, withdrawn):
            raise AssertionError("nothing may be made")
    assert world.files() == FILES
    world.engine.close()
    assert world.litter() == []


def test_nothing_is_written_before_recovery_has_run(world: World) -> None:
    fresh = World(world.root)
    with pytest.raises(AssertionError, match="BUG"):
        fresh.apply(fresh.edit("a.py", b"x"))


def test_old_contents_are_kept_and_private(world: World) -> None:
    world.apply(world.edit("a.py", b"x"))
    digest = digest_of(b"one\n")
    assert world.engine.objects.read(digest) == b"one\n"
    kept = world.state.path / "objects" / digest[:2] / digest[2:]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_an_empty_file_comes_back(world: World) -> None:
    (world.root / "a.py").write_bytes(b"")
    applied = world.apply(world.edit("a.py", b"x"), world.edit("e.py", b""))
    world.undo(applied.changes)
    assert world.files() == {**FILES, "a.py": b""}


def test_the_disk_is_waited_for_no_more_often_than_needed(world: World) -> None:
    world.apply(world.edit("warm.py", b"x"))
    one = world.apply(world.edit("a.py", b"x"))
    assert one.syncs == 3  # the journal, the file, its directory
    many = world.apply(*(world.edit(f"m/{n}.py", b"x") for n in range(20)))
    assert many.syncs == 1 + 20 + 2


def test_a_planted_journal_moves_nothing(world: World) -> None:
    world.apply(world.edit("a.py", b"x"))
    log = world.state.path / "journal" / "journal.log"
    data = log.read_bytes()
    log.unlink()
    log.write_bytes(data)  # as a clone would bring it
    (world.root / "a.py").write_bytes(b"mine\n")
    assert World(world.root).recover() == []
    assert world.files()["a.py"] == b"mine\n"


Fault = Callable[[World], None]


def _other_content(world: World) -> None:
    (world.root / "a.py").write_bytes(b"theirs\n")


def _a_link(world: World) -> None:
    (world.root / "victim").write_bytes(b"one\n")
    (world.root / "a.py").unlink()
    (world.root / "a.py").symlink_to("victim")


def _a_directory(world: World) -> None:
    (world.root / "a.py").unlink()
    (world.root / "a.py").mkdir()


def _nothing(world: World) -> None:
    (world.root / "a.py").unlink()


@pytest.mark.parametrize("happens", [_other_content, _a_link, _a_directory, _nothing])
@pytest.mark.parametrize("after", [b"mine\n", None], ids=["update", "delete"])
def test_what_somebody_else_puts_there_at_the_last_moment_stays(
    tmp_path: Path, happens: Fault, after: bytes | None
) -> None:
    world = World.new(tmp_path / "repo", FILES)
    prepared = world.prepare(EditSet((world.edit("b.py", b"mine\n"), world.edit("a.py", after))))
    looks: list[None] = []

    def check() -> None:
        looks.append(None)
        if len(looks) == 2:  # the last one before the tree is touched
            happens(world)

    with pytest.raises(EditConflict):
        with world.engine.committed(prepared, OperationId("op"), {}, check):
            raise AssertionError("nothing may be made")
    place = world.root / "a.py"
    match happens.__name__:
        case "_other_content":
            assert place.read_bytes() == b"theirs\n"
        case "_a_link":
            assert place.is_symlink() and (world.root / "victim").read_bytes() == b"one\n"
        case "_a_directory":
            assert place.is_dir()
        case _:
            assert not place.exists()
    assert (world.root / "b.py").read_bytes() == b"two\n"
    world.engine.close()
    assert world.litter() == []


def test_a_directory_that_is_replaced_by_a_link_mid_way_is_not_followed(world: World, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.py").write_bytes(b"three\n")
    prepared = world.prepare(EditSet((world.edit("pkg/c.py", b"mine\n"), world.edit("a.py", b"mine\n"))))
    looks: list[None] = []

    def check() -> None:
        looks.append(None)
        if len(looks) == 2:
            (world.root / "pkg").rename(tmp_path / "away")
            (world.root / "pkg").symlink_to(outside)

    with pytest.raises((EditConflict, EditFailed)):
        with world.engine.committed(prepared, OperationId("op"), {}, check):
            raise AssertionError("nothing may be made")
    assert (outside / "c.py").read_bytes() == b"three\n"
    assert (tmp_path / "away" / "c.py").read_bytes() == b"three\n"
    assert (world.root / "a.py").read_bytes() == b"one\n"
    assert sorted(p.name for p in (tmp_path / "away").iterdir()) == ["c.py", "deep"]


def test_doubt_closes_the_files_until_the_next_start(world: World) -> None:
    class Broken(type(world.disk)):  # type: ignore[misc]
        is_broken = False

        def swap(self, *names: object) -> None:
            if self.is_broken:
                raise OSError(5, "Input/output error")
            super().swap(*names)

    broken = Broken()
    world = World(world.root, broken)
    world.recover()
    prepared = world.prepare(EditSet((world.edit("a.py", b"x"),)))
    with pytest.raises(EditInDoubt):
        with world.engine.committed(prepared, OperationId("op_doubt"), {}, fine):
            broken.is_broken = True
            1 / 0  # noqa: B018
    broken.is_broken = False
    with pytest.raises(EditInDoubt, match="after a failed or interrupted edit"):
        world.apply(world.edit("a.py", b"z"))
    world.apply(world.edit("b.py", b"z"))
    again = World(world.root)
    assert [one.outcome for one in again.recover()] == ["finished"]
    assert again.litter() == []


def test_a_file_that_somebody_writes_while_the_server_is_down_is_not_taken_for_ours(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", FILES)
    prepared = world.prepare(EditSet((world.edit("n.py", b"same\n"), world.edit("a.py", b"x"))))
    with world.engine._lock_paths(prepared, OperationId("op"), {}, fine) as batch:
        world.engine._recovery.begin(batch)
    (world.root / "n.py").write_bytes(b"same\n")
    again = World(world.root)
    assert [one.outcome for one in again.recover()] == ["undone"]
    assert again.files() == {**FILES, "n.py": b"same\n"}
    assert again.litter() == []


def test_a_link_in_the_place_of_the_journal_is_not_followed(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", FILES)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "journal.log").write_bytes(b"not ours\n")
    (world.state.path / "journal").symlink_to(elsewhere)
    with pytest.raises(StateUnusable):
        world.apply(world.edit("a.py", b"x"))
    assert (elsewhere / "journal.log").read_bytes() == b"not ours\n"
    assert world.files() == FILES


def test_a_batch_over_many_directories_needs_few_descriptors(world: World) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    in_use = len(os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (in_use + 160, limits[1]))
    try:
        world.apply(*(world.edit(f"d{n}/f.py", b"x") for n in range(300)))
        applied = world.apply(*(world.edit(f"d{n}/f.py", b"y") for n in range(300)))
        world.undo(applied.changes)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert world.files() == {**FILES, **{f"d{n}/f.py": b"x" for n in range(300)}}


def test_a_journal_that_cannot_be_read_is_kept_and_closes_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World.new(tmp_path / "repo", FILES)
    with world.engine._lock_paths(
        world.prepare(EditSet((world.edit("a.py", b"x"),))), OperationId("op"), {}, fine
    ) as b:
        world.engine._recovery.begin(b)
    log = world.state.path / "journal" / "journal.log"
    data = log.read_bytes()
    again = World(world.root)
    with monkeypatch.context() as patched:
        patched.setattr(journal, "open_plain", lambda _: None)
        with pytest.raises(StateUnusable, match="cannot be read"):
            again.recover()
    with pytest.raises(StateUnusable, match="until the next start"):
        again.apply(again.edit("b.py", b"x"))
    again.engine.close()
    assert log.read_bytes() == data
    assert [one.outcome for one in World(world.root).recover()] == ["undone"]


def test_a_recovered_edit_closes_its_files_until_it_is_written_down(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", FILES)
    prepared = world.prepare(EditSet((world.edit("a.py", b"x"),)))
    with world.engine._lock_paths(prepared, OperationId("op"), {}, fine) as batch:
        world.engine._recovery.begin(batch)
    again = World(world.root)
    (found,) = again.engine.recover(lambda _: False)
    with pytest.raises(EditInDoubt):
        again.apply(again.edit("a.py", b"y"))
    again.engine.forget(found.operation)
    again.apply(again.edit("a.py", b"y"))
