"""The random repositories are what they are said to be, or no comparison means anything."""

from hypothesis import given, settings

from tests.git import plain
from tests.git.histories import World, made, worlds


@settings(max_examples=8)
@given(worlds())
def test_two_copies_of_a_world_are_equal_and_whole(world: World) -> None:
    with made(world, copies=2) as (one, two):
        assert plain.state_of(one) == plain.state_of(two)
        assert plain.run(one, "fsck", "--strict", "--no-dangling") == b""
        seen = plain.files_of(one)
        assert {path: data for path, (_, data) in seen.items()} == {
            path: file.data for path, file in world.working.items()
        }
        assert int(plain.text(one, "rev-list", "--count", "--all")) <= len(world.commits)


@settings(max_examples=8)
@given(worlds(clean=True))
def test_a_clean_world_has_nothing_to_tell(world: World) -> None:
    with made(world) as (root,):
        assert plain.run(root, "status", "--porcelain") == b""
