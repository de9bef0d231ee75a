"""The crash campaign of executions: a child ends at a chosen step, a start follows, everything is judged.

Run as a program, since it forks: `python -m tests.delta.crash --kills 500`. Prints one line of JSON.
"""

import argparse
import errno
import gc
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import codeplane.session.repo
from codeplane.config import Places
from codeplane.git.commit import commit as commit_module
from codeplane.git.worktree import index_writer
from codeplane.jail.names import TEMPORARY_PREFIX
from codeplane.ledger import Ledger, Tasks
from codeplane.parsing.workers import Done, Job, Workers, read_job
from codeplane.process import Programs
from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline
from codeplane.session import Checkout, RepoSession
from codeplane.session.delta import execution, lock, settlement
from codeplane.session.trust import give_trust
from codeplane.storage.database import Connection, Database
from codeplane.storage.disk import Disk
from codeplane.storage.files import unusable
from codeplane.tools import all_tools
from tests.delta.plans import PlanRepo, annotate, element, plan_of
from tests.drive import new_repo
from tests.mutation.crash import CALLS, KILLED, run

FILES = {
    "app.py": "def load(url):\n    return url + url\n\n\ndef save(url):\n    return url\n",
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "pkg/util.py": "def twice(x):\n    return 2 * x\n",
    "pkg/more.py": "from pkg.util import twice\n\n\ndef more(x):\n    return twice(x)\n",
}
THREAD_SEC = 30
TOOLCHAIN = '[validators.types]\ncommand = "checker"\n'
MODES: dict[str, dict[str, Any]] = {
    "staged": {},
    "committed": {"auto_commit": True},
    "without git": {"no_git": True},
    "tested": {"confidence": "tested"},
    "refused": {"auto_commit": True},  # a hook refuses the commit of the second phase
}


def phases(mode: str) -> list[list[dict[str, Any]]]:
    """Three phases; each but the first changes a file that an earlier one has changed."""
    rest = {"validate_with": ["types"]} if mode == "tested" else {}
    return [
        [
            element("app.py", annotate("load", "str"), **rest),
            element("store.py", annotate("Store.fetch", "int"), **rest),
        ],
        [
            element("app.py", annotate("save", "str"), **rest),
            element("pkg/util.py", annotate("twice", "int"), **rest),
        ],
        [
            element("store.py", annotate("Store.fetch", "int", parameter="key"), **rest),
            element("pkg/util.py", annotate("twice", "int", parameter="x"), **rest),
            element("pkg/more.py", annotate("more", "int"), **rest),
        ],
    ]


class InlineWorkers(Workers):
    """Extracts in this process: starting a hundred interpreters would be all that a campaign does."""

    def extract(self, jobs: Iterable[Job]) -> Iterator[list[Done]]:
        return iter([[Done(job.number, read_job(job)) for job in jobs]])

    def prepare(self, languages: Any) -> None: ...


@dataclass
class Fate:
    """Counts the steps of a process and ends it at one of them."""

    last: int = 0  # 0: never
    how: str = ""
    is_armed: bool = False
    steps: list[str] = field(default_factory=list)

    def is_reached(self, name: str) -> bool:
        """Whether the process ends at this step."""
        if not self.is_armed:
            return False
        self.steps.append(name)
        if self.how in FULL and self.last:
            if name in NO_SPACE_NEEDED:
                return False
            if len(self.steps) == self.last or (self.how == "full from here" and len(self.steps) > self.last):
                raise refusal_of(name)
            return False
        return len(self.steps) == self.last


FULL = ("full once", "full from here")


def refusal_of(name: str) -> Exception:
    """What a step meets on a full disk: the system's error, or what the store makes of SQLite's."""
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    is_of_store = name in ("state.db", "Tasks.record_event", "Ledger.append")
    return unusable(Path("/disk"), error) if is_of_store else error


FATE = Fate()


def mortal(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that ends the process before it acts, after it, or with half of the bytes written."""

    def step(*arguments: Any, **options: Any) -> Any:
        is_last = FATE.is_reached(name)
        if is_last and FATE.how == "before":
            os._exit(KILLED)
        if is_last and FATE.how == "half" and name == "Disk.write":
            _, fd, data = arguments
            os.write(fd, data[: len(data) // 2])
            os._exit(KILLED)
        result = call(*arguments, **options)
        if is_last:
            os._exit(KILLED)
        return result

    return step


@contextmanager
def mortal_write(self: Database) -> Iterator[Connection]:
    """A transaction of state.db that may end before it begins, before its commit, or right after."""
    is_last = self.path.name == "state.db" and FATE.is_reached("state.db")
    if is_last and FATE.how == "before":
        os._exit(KILLED)
    with WRITE(self) as connection:
        yield connection
        if is_last and FATE.how == "half":
            os._exit(KILLED)
    if is_last:
        os._exit(KILLED)


WRITE = Database.write
# Steps that a full disk does not refuse.
NO_SPACE_NEEDED = (
    "Disk.unlink Disk.remove_directory Disk.set_mode Disk.set_times Disk.set_owner Programs.run Disk.swap"
    " settlement.stage_paths execution.commit commit.make_commit index_writer._claim_lock"
).split()
STEPS: list[tuple[Any, str]] = [
    *((Disk, name) for name in CALLS),
    (Tasks, "record_event"),
    (Ledger, "append"),
    (Programs, "run"),
    (lock, "write_private"),
    (settlement, "stage_paths"),
    (execution, "commit"),
    (index_writer, "publish"),
    (index_writer, "_claim_lock"),
    (commit_module, "make_commit"),
]


def make_mortal() -> None:
    """Has every step of this process ask whether it is the last."""
    for owner, name in STEPS:
        label = f"{getattr(owner, '__name__', owner).rpartition('.')[2]}.{name}"
        setattr(owner, name, mortal(label, getattr(owner, name)))
    Database.write = mortal_write  # type: ignore[method-assign]


class CrashRepo(PlanRepo):
    """A repository whose user and whose sessions are those of the campaign."""

    def _open(self, root: Path, base: Path) -> None:
        self.root = root
        self.session = RepoSession.open(Checkout.find(root, places_of(base)))
        self.pipeline = Pipeline(self.session, all_tools())


def places_of(base: Path) -> Places:
    """The user's directories, the same in every process."""
    (base / "run").mkdir(exist_ok=True)
    variables = {"HOME": str(base / "home"), "TMPDIR": str(base / "run"), "PATH": os.environ["PATH"]}
    return Places.of_user({**variables, "GIT_CONFIG_GLOBAL": os.devnull})


@dataclass(frozen=True)
class Scene:
    """A repository with a plan, and what its files are after each phase."""

    mode: str
    template: Path
    place: Path
    plan: str
    states: list[dict[str, str]]

    @property
    def options(self) -> dict[str, Any]:
        return {"plan": self.plan, "confidence": "validated", **MODES[self.mode]}


def make_scene(scratch: Path, mode: str) -> Scene:
    """Makes a repository and its plan where every trial is, and lives once without a cut.

    All of it in this process: its children then have what was loaded.
    """
    place, template = scratch / "trial", scratch / f"template {mode}"
    root = new_repo(place / "repo", FILES)
    (place / "home").mkdir()
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    config = root / ".git" / "config"
    config.write_text(f"{config.read_text()}[user]\nname = T\nemail = t@example.org\n")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text(".venv\n")
    write_program(root / ".venv" / "bin" / "checker", "exit 0")
    if mode == "refused":
        write_program(root / ".git" / "hooks" / "pre-commit", "! git diff --cached | grep -q 'def twice'")
    CrashRepo.at(root, place).session.close()
    (root / ".codeplane" / "toolchain.toml").write_text(TOOLCHAIN)
    give_trust(root, places_of(place))
    repo = CrashRepo.at(root, place)
    plan = str(repo.session.work_plans.create(plan_of(*phases(mode))).plan.id)
    repo.result("validate_deltas", plan=plan)
    repo.session.close()
    shutil.copytree(place, template, symlinks=True)
    scene = Scene(mode, template, place, plan, [dict(FILES)])
    (root / ".git" / "hooks" / "pre-commit").unlink(missing_ok=True)
    repo = CrashRepo.at(root, place)
    for phase in repo.session.work_plans.load(plan).phases_in_order():
        repo.result("execute_deltas", **{**scene.options, "phase": str(phase.id)})
        scene.states.append(files_of(repo.root))
    repo.session.close()
    shutil.rmtree(place)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(THREAD_SEC)  # workers of the last call, which are ending
    assert threading.active_count() == 1, "a fork would lose threads"
    return scene


def write_program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def files_of(root: Path) -> dict[str, str]:
    """The files of the tree, those of git and of CodePlane left out."""
    return {
        str(file.relative_to(root)): file.read_text()
        for file in sorted(root.rglob("*"))
        if file.is_file()
        and not {".git", ".codeplane", ".venv"} & set(file.relative_to(root).parts)
        and not file.name.startswith(TEMPORARY_PREFIX)
    }


def execute(scene: Scene) -> None:
    """One server that executes the plan."""
    make_mortal()
    repo = CrashRepo.at(scene.place / "repo", scene.place)
    FATE.is_armed = True
    answer = repo.ask("execute_deltas", **scene.options)
    FATE.is_armed = False
    if FATE.how in FULL and FATE.last:
        note_refusal(scene, repo, answer)
        os._exit(KILLED)
    assert answer.is_error == (scene.mode == "refused"), answer.body
    (scene.place / "steps").write_text(json.dumps(FATE.steps))


def note_refusal(scene: Scene, repo: CrashRepo, answer: Answer) -> None:
    """Writes down what is wrong in the server that has met a full disk, and ends it in order."""
    error = answer.body["error"]["name"] if answer.is_error else ""
    faults = [f"not typed: {answer.body['error']}"] if error in ("INTERNAL_ERROR", "CALL_INTERRUPTED") else []
    if FATE.how == "full once" and error != "EDIT_IN_DOUBT":
        faults += judge_files(scene, repo)
    (scene.place / "refusal").write_text(json.dumps(faults))
    repo.session.close()


def start(scene: Scene) -> None:
    """One start, which settles what the last server has left."""
    make_mortal()
    FATE.is_armed = True
    CrashRepo.at(scene.place / "repo", scene.place)


def phase_states(root: Path) -> list[str]:
    """The states of the phases as they are stored."""
    with suppress(sqlite3.Error):
        connection = sqlite3.connect(root / ".codeplane" / "state.db")
        rows = connection.execute(
            "SELECT state FROM work_item JOIN work_link ON source = id WHERE level = 'phase'"
            " AND kind = 'parent' ORDER BY place"
        )
        states = [state for (state,) in rows]
        connection.close()
        return states
    return []


def judge(scene: Scene, *, is_first_start: bool) -> None:
    """Writes down what is wrong after the last start, and after the plan is executed again."""
    root = scene.place / "repo"
    was_executing = "executing" in phase_states(root)
    repo = CrashRepo.at(root, scene.place)
    faults = judge_files(scene, repo)
    faults += [f"left behind: {file}" for file in litter(root, scene.place)]
    notices = " ".join(repo.session.status().notices or ())
    if was_executing and is_first_start and "cut off" not in notices:
        faults.append(f"no notice: {notices!r}")
    faults += judge_end(scene, repo)
    repo.session.close()
    (scene.place / "faults").write_text(json.dumps(faults))


def judge_files(scene: Scene, repo: CrashRepo) -> list[str]:
    """What is wrong with files, ledger, plan and lock after a start."""
    session, root = repo.session, repo.root
    files = files_of(root)
    if files not in scene.states:
        return [f"the tree is half done: {[path for path in files if files[path] != FILES.get(path)]}"]
    count = scene.states.index(files)
    tree = session.work_plans.load(scene.plan)
    expected = ["completed"] * count
    states = [str(phase.state) for phase in tree.phases_in_order()]
    faults = []
    if states[:count] != expected or {"completed", "executing"} & set(states[count:]):
        faults.append(f"after {count} phases they are {states}")
    rows = [session.ledger.of_phase(phase.id) is not None for phase in tree.phases_in_order()]
    if rows != [number < count for number in range(3)]:
        faults.append(f"after {count} phases the ledger has {rows}")
    for number, phase in enumerate(tree.phases_in_order()):
        tasks = {str(task.state) for task in tree.tasks_in_order(phase.id)}
        if (tasks == {"done"}) != (number < count) or ("done" in tasks and tasks != {"done"}):
            faults.append(f"after {count} phases the tasks of phase {number + 1} are {tasks}")
    execution_lock = lock.ExecutionLock(session.state)
    if execution_lock.is_taken() or execution_lock.holder() is not None:
        faults.append("the lock is held")
    faults += session.ledger.verify()
    return faults + judge_index(root, scene.states[0 if scene.mode == "without git" else count])


def judge_index(root: Path, state: dict[str, str]) -> list[str]:
    """Git's index has of every file what the phases that count have left."""
    import pygit2

    repository = pygit2.Repository(str(root))
    contents = {path: repository[repository.index[path].id].data for path in state}  # type: ignore[attr-defined]
    return [
        f"git's index has other content of {path} than the tree"
        for path, data in contents.items()
        if data != state[path].encode()
    ]


def litter(root: Path, place: Path) -> list[str]:
    """What no start should leave."""
    patterns = (".codeplane-*", ".git/*.lock", ".git/*codeplane*", ".git/refs/**/*.lock")
    names = [name for pattern in patterns for name in root.glob(pattern)]
    return [str(name) for name in (*names, *(place / "run").rglob("*.lease"))]


def judge_end(scene: Scene, repo: CrashRepo) -> list[str]:
    """What is wrong after the plan is executed again."""
    tree = repo.session.work_plans.load(scene.plan)
    if all(str(phase.state) == "completed" for phase in tree.phases_in_order()):
        return []
    (repo.root / ".git" / "hooks" / "pre-commit").unlink(missing_ok=True)
    answer = repo.ask("execute_deltas", **scene.options)
    if answer.is_error:
        return [f"it can't be executed again: {answer.body['error']}"]
    faults = [] if files_of(repo.root) == scene.states[-1] else ["the second execution ended half done"]
    states = set(repo.states(scene.plan).values())
    return faults + ([f"the plan ended as {states}"] if states != {"completed", "done"} else [])


def trial(scene: Scene, end: tuple[int, str], *, is_start_cut: bool = False) -> tuple[int, list[str]]:
    """One execution that is cut short, a start that may be, and the judgement; returns the kills."""
    shutil.copytree(scene.template, scene.place, symlinks=True)
    try:
        FATE.last, FATE.how = end
        codes = [run(lambda: execute(scene))]
        dice = random.Random(f"{end}")
        while codes[-1] == KILLED and is_start_cut and len(codes) < 4:
            FATE.last, FATE.how = dice.randint(1, 12), dice.choice(["before", "after", "half"])
            codes.append(run(lambda: start(scene)))
        FATE.last = 0
        if codes[0] != KILLED:
            return 0, [f"exit code {code}" for code in codes if code]
        codes.append(run(lambda: judge(scene, is_first_start=len(codes) == 1)))
        faults = [f"exit code {code}" for code in codes if code not in (0, KILLED)]
        if (scene.place / "refusal").exists():
            faults += json.loads((scene.place / "refusal").read_text())
        return codes.count(KILLED), faults or json.loads((scene.place / "faults").read_text())
    finally:
        shutil.rmtree(scene.place)


def points_of(scene: Scene, *, is_disk_full: bool) -> list[tuple[int, str, str]]:
    """Every step of an uncut execution, in every way that it can be cut, or that a full disk can refuse."""
    shutil.copytree(scene.template, scene.place, symlinks=True)
    FATE.last, FATE.how = 0, ""
    assert run(lambda: execute(scene)) == 0
    steps: list[str] = json.loads((scene.place / "steps").read_text())
    shutil.rmtree(scene.place)
    ways = {"Disk.write": ("before", "half", "after"), "state.db": ("before", "half", "after")}
    return [
        (number, how, name)
        for number, name in enumerate(steps, 1)
        for how in (FULL if is_disk_full else ways.get(name, ("before", "after")))
        if not (is_disk_full and name in NO_SPACE_NEEDED)
    ]


def campaign(
    kills: int, seed: int, modes: list[str], bug: str, *, is_disk_full: bool = False
) -> dict[str, Any]:
    """As many kills as asked for, spread over modes and over the kinds of steps."""
    done, faults, names = 0, list[str](), set[str]()
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    vars(codeplane.session.repo)["Workers"] = InlineWorkers
    seed_bug(bug)
    points = 0
    with tempfile.TemporaryDirectory(prefix="deltas-", dir=memory) as scratch:
        gc.freeze()  # a fork copies what the collector touches
        scenes = [make_scene(Path(scratch), mode) for mode in modes]
        chosen = []
        for scene in scenes:
            all_points = points_of(scene, is_disk_full=is_disk_full)
            points += len(all_points)
            random.Random(f"{seed}{scene.mode}").shuffle(all_points)
            # The rare kinds first: a sample has all of them.
            count_by_name: dict[str, int] = {}
            ranked = []
            for point in all_points:
                count_by_name[point[2]] = count_by_name.get(point[2], 0) + 1
                ranked.append((count_by_name[point[2]], point))
            chosen += [(rank, scene, point) for rank, point in sorted(ranked)]
        chosen.sort(key=lambda one: one[0])
        round_number = 0
        while done < kills:
            for _, scene, (last, how, name) in chosen:
                killed, found = trial(scene, (last, how), is_start_cut=round_number > 0 and not is_disk_full)
                done += killed
                names.add(name)
                faults += [f"{scene.mode}, step {last} {name} {how}: {one}" for one in found]
                if done >= kills:
                    break
            round_number += 1
    figures = {"kills": done, "points": points, "steps": sorted(names)}
    return {**figures, "faults": faults[:20], "count": len(faults)}


def seed_bug(bug: str) -> None:
    """Puts a bug into the settlement, to show that the campaign finds it."""
    if bug == "no-settlement":
        settlement.settle_phases = lambda repo, tree: []
    elif bug == "no-staging":
        vars(settlement)["_stage_at_start"] = lambda repo, paths: ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--modes", nargs="*", default=list(MODES))
    parser.add_argument("--bug", default="")
    parser.add_argument("--full", action="store_true", help="The disk is full at a step; nobody is killed.")
    options = parser.parse_args()
    result = campaign(options.kills, options.seed, options.modes, options.bug, is_disk_full=options.full)
    json.dump(result, sys.stdout)
    print()


if __name__ == "__main__":
    main()
