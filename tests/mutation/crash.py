"""The crash campaign: a child process ends at a chosen call of the disk, a start follows, the tree is judged.

Run as a program, since it forks: `python -m tests.mutation.crash --kills 500`. Prints one line of JSON.
"""

import argparse
import gc
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pygit2

from codeplane.core.errors import CodePlaneError, EditInDoubt
from codeplane.git.repo.index_file import entries
from codeplane.mutation import Disk, Scope
from codeplane.mutation.journal import Journal
from codeplane.storage.disk import NoSuchRename
from codeplane.working_tree import digest_of
from tests.mutation.models import Story, story
from tests.mutation.world import World, fine

KILLED = 77
_ANYWHERE = Scope(ignored_ok=True)
CALLS = (
    "create write truncate set_mode set_owner set_attribute set_times sync sync_data make_directory "
    "remove_directory unlink link replace move swap"
).split()


class GivesUp(Exception):
    """The caller of a batch wants it taken back."""


class Mortal(Disk):
    """Ends the process at the n-th call: before it, after it, or with half of the bytes written."""

    def __init__(self, last: int, how: str, *, bare: bool = False) -> None:
        super().__init__()
        self._left = last
        self._how = how
        self._bare = bare
        self.calls = 0

    def _reached(self) -> bool:
        self.calls += 1
        self._left -= 1
        return self._left == 0


def _mortal(name: str) -> Callable[..., Any]:
    def call(self: Mortal, *arguments: Any) -> Any:
        is_last = self._reached()
        if is_last and self._how == "before":
            os._exit(KILLED)
        if is_last and self._how == "half" and name == "write":
            fd, data = arguments
            os.write(fd, data[: len(data) // 2])
            os._exit(KILLED)
        if self._bare and name in ("swap", "move"):
            raise NoSuchRename
        done = getattr(Disk, name)(self, *arguments)
        if is_last:
            os._exit(KILLED)
        return done

    return call


for _name in CALLS:
    setattr(Mortal, _name, _mortal(_name))


def template(path: Path) -> Path:
    """An empty repository to copy."""
    World.new(path, {})
    shutil.rmtree(path / ".codeplane")
    shutil.rmtree(path / ".git" / "hooks", ignore_errors=True)
    return path


def fill(root: Path, told: Story) -> None:
    for path, (data, mode) in told.states[0].items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
        (root / path).chmod(mode)
    repository = pygit2.Repository(str(root))
    repository.index.add_all()
    repository.index.write()


def staged(root: Path) -> list[str]:
    """The names in git's index."""
    return [os.fsdecode(name) for name, _ in entries((root / ".git" / "index").read_bytes())]


def live(root: Path, told: Story, disk: Disk, names: list[list[str]] | None = None) -> None:
    """The life of one server: a start, all operations, an orderly end. A file has what it has answered."""
    world = World(root, disk)
    world.recover()
    acknowledged = os.open(root.parent / "acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for operation in told.operations:
        try:
            prepared = world.engine.prepare(operation.edits, _ANYWHERE)
            with world.engine.committed(prepared, operation.id, {"n": 1}, fine):
                if operation.gives_up:
                    raise GivesUp
                world.write_row(operation.id)
        except EditInDoubt:
            break
        except (GivesUp, CodePlaneError, OSError):
            _answer(acknowledged, f"-{operation.id}\n")
            break
        _answer(acknowledged, f"{operation.id}\n")
        if names is not None:
            names.append(staged(root))
    world.engine.close()


def _answer(acknowledged: int, text: str) -> None:
    """An answer that nobody hears is none."""
    with suppress(OSError):
        os.write(acknowledged, text.encode())


def lived(place: Path, seed: int) -> tuple[int, int]:
    """Has a child live a story; its process id and its exit code."""
    told = story(seed)
    return child(lambda: live(place / str(seed) / "repo", told, Disk()))


def start(root: Path, disk: Disk) -> None:
    World(root, disk).recover()


def run(work: Callable[[], None]) -> int:
    """Runs it in a child and returns its exit code."""
    return child(work)[1]


def child(work: Callable[[], None]) -> tuple[int, int]:
    """Runs it in a child; its process id and its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the parent judges by the code
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def judge(root: Path, told: Story, names: list[list[str]] | None = None) -> list[str]:
    """What is wrong with the tree after the last start; `names` has git's index after each operation."""
    world = World(root)
    again = world.recover()
    rows = world.rows()
    planned = [operation.id for operation in told.operations]
    answers = (
        (root.parent / "acknowledged").read_text().split() if (root.parent / "acknowledged").exists() else []
    )
    faults = [f"a second start found {one}" for one in again]
    if rows != planned[: len(rows)]:
        faults.append(f"rows are {rows}")
        return faults
    faults += [f"{one} was acknowledged and is lost" for one in answers if one[0] != "-" and one not in rows]
    faults += [f"{one} was taken back and is there" for one in answers if one[0] == "-" and one[1:] in rows]
    expected = told.states[len(rows)]
    files = world.files()
    if files != {path: data for path, (data, _) in expected.items()}:
        faults.append(f"after {len(rows)} rows: {sorted(files)}, not {sorted(expected)}")
    modes = {path: (root / path).stat().st_mode & 0o777 for path in files}
    faults += [f"{p} has mode {m:o}" for p, m in modes.items() if p in expected and expected[p][1] != m]
    above = {str(parent) for path in expected for parent in Path(path).parents} - {"."}
    if world.directories() != above:
        faults.append(f"directories {sorted(world.directories() ^ above)}")
    faults += [f"left behind: {one}" for one in world.litter()]
    if names is not None and len(rows) < len(names) and staged(root) != names[len(rows)]:
        faults.append(f"git has {staged(root)}, not {names[len(rows)]}")
    for n in range(len(rows)):
        for data, _ in told.states[n].values():
            is_kept = any(data == one for one, _ in told.states[n + 1].values())
            if not is_kept and world.engine.objects.read(digest_of(data)) != data:
                faults.append(f"the old content of operation {n} is lost")
    return faults


def campaign(kills: int, first: int, bare: bool, bug: str) -> dict[str, Any]:
    """As many kills as asked for; every call of the first stories, in every way that a call can be cut."""
    done, seed, faults, lives = 0, first, list[str](), 0
    # What a kill leaves does not depend on the disk; memory has it sooner.
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="crash-", dir=memory) as scratch:
        empty = template(Path(scratch) / "template")
        gc.freeze()  # a fork copies what the collector touches
        names: list[list[str]]
        while done < kills:
            names = reference(Path(scratch), empty, story(seed))
            told, last, stride = story(seed), 0, random.Random(seed)
            is_over = False
            while not is_over and done < kills:
                # Every call of the first story, some of the others.
                last += 1 if seed == first else stride.randint(1, 30)
                for how in ("before", "half"):
                    killed, found = trial(Path(scratch), empty, (told, names), (last, how), bare, bug)
                    is_over = killed == 0
                    done, lives = done + killed, lives + 1
                    faults += [f"seed {seed} call {last} {how}: {one}" for one in found]
                    if is_over:
                        break
            seed += 1
    return {
        "kills": done,
        "stories": seed - first,
        "lives": lives,
        "faults": faults[:20],
        "count": len(faults),
    }


def reference(scratch: Path, empty: Path, told: Story) -> list[list[str]]:
    """The names in git's index before the first operation and after each, in a whole life."""
    root = scratch / "whole" / "repo"
    shutil.copytree(empty, root, symlinks=True)
    fill(root, told)
    names = [staged(root)]
    live(root, told, Disk(), names)
    shutil.rmtree(root.parent)
    return names


def trial(
    scratch: Path,
    empty: Path,
    tale: tuple[Story, list[list[str]]],
    end: tuple[int, str],
    bare: bool,
    bug: str,
) -> tuple[int, list[str]]:
    """One life that is cut short, starts of which some are, and the judgement; returns the kills."""
    told, names = tale
    place = scratch / "trial"
    shutil.copytree(empty, place / "repo", symlinks=True)
    try:
        fill(place / "repo", told)
        dice = random.Random(f"{end}{told.operations[0].id}")
        codes = [run(lambda: live(place / "repo", told, seeded(Mortal(*end, bare=bare), bug)))]
        while codes[-1] == KILLED and dice.random() < 0.6:
            again = Mortal(dice.randint(1, 8), dice.choice(["before", "after", "half"]), bare=bare)
            codes.append(run(lambda again=again: start(place / "repo", seeded(again, bug))))  # type: ignore[misc]
        if codes[-1] == KILLED:
            codes.append(run(lambda: start(place / "repo", seeded(Mortal(0, "", bare=bare), bug))))
        found = [f"exit code {code}" for code in codes if code not in (0, KILLED)]
        return codes.count(KILLED), found or judge(place / "repo", told, names)
    finally:
        shutil.rmtree(place)


def seeded(disk: Mortal, bug: str) -> Mortal:
    """With a bug in the engine, to show that the campaign finds it."""
    if bug == "no-journal":
        Journal.begin = lambda self, batch: None  # type: ignore[method-assign]
    return disk


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--bug", default="")
    parser.add_argument("--live", type=Path, help="Lives one story after the other in DIR/SEED/repo, uncut.")
    parser.add_argument("--seeds", type=int, nargs="*", default=[])
    told = parser.parse_args()
    if told.live:
        ends = {seed: lived(told.live, seed) for seed in told.seeds}
        # By another call than those that are traced.
        os.writev(sys.stdout.fileno(), [json.dumps(ends).encode()])
        return
    json.dump(campaign(told.kills, told.seed, told.bare, told.bug), sys.stdout)
    print()


if __name__ == "__main__":
    main()
