"""The state of a rebase in git's own files: the steps to do and those done."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import pygit2

from codeplane.core.documents import decode_json
from codeplane.core.errors import GitUnsupported
from codeplane.git.history.commit_info import first_line, message_of
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import REBASE_HEAD, REBASE_MERGE, read_state, write_state
from codeplane.storage.files import remove_tree

DETACHED: Final = "detached HEAD"
# CodePlane's own file: the messages given for later steps.
_MESSAGES: Final = f"{REBASE_MERGE}/codeplane-messages"
# Git's notes on commits that it melds. Without them it starts from the message of HEAD, as wanted: ours has
# no comments.
_MELDING: Final = "current-fixups"
_OF_MELDING: Final = (_MELDING, "message-squash", "message-fixup")


class Verb(StrEnum):
    PICK = "pick"
    REWORD = "reword"
    EDIT = "edit"
    SQUASH = "squash"
    FIXUP = "fixup"
    DROP = "drop"

    @property
    def melds(self) -> bool:
        """Whether the commit is melded into the one before it."""
        return self in (Verb.SQUASH, Verb.FIXUP)


VERBS: Final = {verb.value[0]: verb for verb in Verb} | {verb.value: verb for verb in Verb}


@dataclass(frozen=True)
class Step:
    """One commit and what to do with it; the message is for a reword or a squash."""

    verb: Verb
    commit: str
    message: str | None = None


@dataclass
class Progress:
    """How far a rebase has got."""

    head_name: str  # full name of the branch, or `DETACHED`
    onto: str
    origin: str  # where the branch was
    todo: list[Step]
    done: list[Step] = field(default_factory=list)
    rewritten: list[tuple[str, str]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)  # melded into an unfinished commit
    stopped: str | None = None  # the commit at which it stopped
    amends: str | None = None  # the commit that `continue` amends
    is_remarked: bool = False  # git melded that commit, with comments in its message

    @property
    def total(self) -> int:
        return len(self.todo) + len(self.done)

    @property
    def is_melding(self) -> bool:
        """Whether another commit is to be melded into the last one."""
        return next((step.verb.melds for step in self.todo if step.verb is not Verb.DROP), False)

    def settle(self, at: str) -> None:
        """Records that the pending commits became `at`, unless more are melded into it."""
        if self.is_melding:
            return
        self.rewritten += [(old, at) for old in self.pending if old != at]
        self.pending.clear()


def write_progress(repository: Repository, handle: pygit2.Repository, progress: Progress) -> None:
    """Writes the files as git does, so that git can continue."""
    place = repository.git_dir / REBASE_MERGE
    if not place.is_dir():
        _create_directory(repository, progress)
    steps = [*progress.done, *progress.todo]
    files = {
        "head-name": f"{progress.head_name}\n",
        "onto": f"{progress.onto}\n",
        "orig-head": f"{progress.origin}\n",
        "interactive": "",
        "drop_redundant_commits": "",
        "no-reschedule-failed-exec": "",
        "git-rebase-todo": _format_steps(handle, progress.todo),
        "git-rebase-todo.backup": _format_steps(handle, steps),
        "done": _format_steps(handle, progress.done),
        "msgnum": f"{len(progress.done)}\n",
        "end": f"{progress.total}\n",
        "rewritten-list": "".join(f"{old} {new}\n" for old, new in progress.rewritten),
        "rewritten-pending": "".join(f"{old}\n" for old in progress.pending),
        "stopped-sha": f"{progress.stopped}\n" if progress.stopped else "",
        "amend": f"{progress.amends}\n" if progress.amends else "",
    }
    for name, content in files.items():
        if content or name in _ALWAYS:
            write_state(repository, f"{REBASE_MERGE}/{name}", content)
        else:
            (place / name).unlink(missing_ok=True)
    for name in _OF_MELDING:
        (place / name).unlink(missing_ok=True)
    messages = {step.commit: step.message for step in steps if step.message is not None}
    write_state(repository, _MESSAGES, json.dumps(messages))


_ALWAYS: Final = (
    "interactive", "drop_redundant_commits", "no-reschedule-failed-exec", "git-rebase-todo", "done",
)  # fmt: skip


def _create_directory(repository: Repository, progress: Progress) -> None:
    """Creates the directory at once with all that an abort needs."""
    directory = repository.git_dir / f"codeplane-{REBASE_MERGE}"
    directory.mkdir(exist_ok=True)
    for name, content in (
        ("head-name", progress.head_name),
        ("orig-head", progress.origin),
        ("onto", progress.onto),
    ):
        write_state(repository, f"{directory.name}/{name}", f"{content}\n")
    directory.rename(repository.git_dir / REBASE_MERGE)


def read_progress(repository: Repository, handle: pygit2.Repository) -> Progress:
    """A stopped rebase, ours or git's; one with steps that only git knows is refused."""

    def read(name: str) -> str:
        return read_state(repository, f"{REBASE_MERGE}/{name}").strip()

    messages = _read_messages(repository)
    rewritten = [line.split() for line in read("rewritten-list").splitlines()]
    return Progress(
        head_name=read("head-name"),
        onto=read("onto"),
        origin=read("orig-head"),
        todo=[_parse_step(handle, line, messages) for line in _split_steps(read("git-rebase-todo"))],
        done=[_parse_step(handle, line, messages) for line in _split_steps(read("done"))],
        rewritten=[(pair[0], pair[1]) for pair in rewritten if len(pair) == 2],
        pending=read("rewritten-pending").split(),
        stopped=read("stopped-sha") or None,
        amends=read("amend") or None,
        is_remarked=len(read(_MELDING).splitlines()) > 1,  # the last is the one at which it stopped
    )


def clear_progress(repository: Repository) -> None:
    (repository.git_dir / REBASE_HEAD).unlink(missing_ok=True)
    if (repository.git_dir / REBASE_MERGE).is_dir():
        remove_tree(repository.git_dir / REBASE_MERGE)


def _format_steps(handle: pygit2.Repository, steps: Iterable[Step]) -> str:
    return "".join(f"{step.verb} {step.commit} {_first_line(handle, step.commit)}\n" for step in steps)


def _first_line(handle: pygit2.Repository, oid: str) -> str:
    return first_line(message_of(handle[oid].peel(pygit2.Commit)))


def _split_steps(text: str) -> list[str]:
    return [
        line for line in text.splitlines() if line.strip() and not line.startswith("#") and line != "noop"
    ]


def _parse_step(handle: pygit2.Repository, line: str, messages: dict[str, str]) -> Step:
    word, *rest = line.split()
    verb = VERBS.get(word)
    if verb is None or not rest or rest[0].startswith("-"):
        raise GitUnsupported(
            f"The rebase has a step that only git knows: {word}.",
            hints=["git rebase --continue", "git rebase --abort"],
        )
    oid = str(handle.revparse_single(rest[0]).peel(pygit2.Commit).id)
    return Step(verb, oid, messages.get(oid))


def _read_messages(repository: Repository) -> dict[str, str]:
    try:
        messages = decode_json(read_state(repository, _MESSAGES) or "{}")
    except ValueError:
        return {}
    return messages if isinstance(messages, dict) else {}
