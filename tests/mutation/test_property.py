"""Any batch on any small tree: the model's result, or an error of the catalogue and the tree unchanged."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.edits import FileEdit
from codeplane.core.errors import EditError
from codeplane.core.paths import RepoPath
from codeplane.working_tree import digest_of
from tests.mutation.world import World

NAMES = ["a", "b", "d", "d/x", "d/e", "d/e/z", "n/m/o", "n/m", "A", "é", "n/.env", "d/.git/x"]
CONTENTS = st.sampled_from([b"", b"1", b"two\n", b"\xff\x00\r\n", b"x" * 5000])
Tree = dict[str, bytes]


def fitting(tree: Tree) -> Tree:
    """Without files below files, and without names that nobody may use."""
    kept: Tree = {}
    for name, data in tree.items():
        is_free = not any(f"{name}/".startswith(f"{o}/") or f"{o}/".startswith(f"{name}/") for o in kept)
        if is_free and ".git" not in name:
            kept[name] = data
    return kept


@st.composite
def edits(draw: st.DrawFn, tree: Tree) -> list[FileEdit]:
    made = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True)):
        right = digest_of(tree[name]) if name in tree else None
        before = right if draw(st.integers(0, 9)) else digest_of(draw(CONTENTS))
        after = draw(CONTENTS | st.none()) if before is not None else draw(CONTENTS)
        made.append(
            FileEdit(RepoPath(name), before, after, None, draw(st.sampled_from([None, 0o755, 0o600])))
        )
    return made


def expected(tree: Tree, made: list[FileEdit]) -> Tree | None:
    """What the tree is afterwards; None when the batch has to be refused."""
    after = dict(tree)
    for edit in made:
        if edit.before != (digest_of(tree[edit.path]) if edit.path in tree else None):
            return None
        if ".git" in edit.path or ".env" in edit.path:
            return None
        after.pop(edit.path, None)
        if edit.after is not None:
            after[edit.path] = edit.after
    return after if fitting(after) == after else None


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="property-", dir=memory) as scratch:
        yield World.new(Path(scratch) / "repo", {})


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data(), tree=st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=6).map(fitting))
def test_a_batch_does_what_the_model_does_or_nothing(world: World, data: st.DataObject, tree: Tree) -> None:
    for old in sorted(world.root.iterdir()):
        if old.name not in (".git", ".codeplane"):
            _remove(old)
    for name, content in tree.items():
        (world.root / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / name).write_bytes(content)
    made = data.draw(edits(tree))
    wanted = expected(tree, made)
    try:
        applied = world.apply(*made)
    except EditError:
        assert wanted is None
        assert world.files() == tree
        return
    assert world.files() == wanted
    assert world.directories() == {str(p) for name in wanted for p in Path(name).parents} - {"."}
    modes = {edit.path: edit.mode for edit in made if edit.after is not None and edit.mode is not None}
    assert {path: (world.root / path).stat().st_mode & 0o777 for path in modes} == modes
    world.undo(applied.changes)
    assert world.files() == tree


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink()
