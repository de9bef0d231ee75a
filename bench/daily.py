"""A day of git on Django, by the tools and by the commands an agent would type: calls and characters.

Both sides do the same to two copies. What is sent counts as well as what comes back; the part of an answer
that every tool has (ids and times of the call) is shown on its own.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from bench.corpora import python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

_TEXT, _QUERY, _HTTP = "django/utils/text.py", "django/db/models/query.py", "django/http/response.py"
_SLUG, _BULK = "def slugify(value, allow_unicode=False):", "    def bulk_create("
_HALF: Final = "    def _prepared(self):\n        return None\n\n"


@dataclass(frozen=True)
class Edit:
    """A text that comes before another in a file."""

    path: str
    before: str
    text: str


@dataclass(frozen=True)
class Step:
    """The same by a call and by commands."""

    tool: str
    arguments: dict[str, Any]
    commands: tuple[str, ...]


DAY: Final[tuple[Edit | Step, ...]] = (
    Step("git_status", {}, ("git status --short --branch",)),
    Edit(_TEXT, _SLUG, "SLUGS = True\n\n\n"),
    Edit(_QUERY, _BULK, _HALF),
    Step("git_status", {}, ("git status --short --branch",)),
    Step("git_diff", {}, ("git diff",)),
    Step("git_stage_and_commit", {"message": "Prepare"}, ("git add -A", "git commit -m Prepare")),
    Step("git_log", {"limit": 5}, ("git log -5",)),
    Step("git_checkout", {"ref": "topic", "create": True}, ("git checkout -b topic",)),
    Edit(_HTTP, "class HttpResponseRedirect(", "class Teapot(HttpResponse):\n    status_code = 418\n\n\n"),
    Step("git_diff", {"stat": True}, ("git diff --stat",)),
    Step("git_stage", {"paths": ["django/http"]}, ("git add django/http",)),
    Step("git_diff", {"staged": True}, ("git diff --cached",)),
    Step("git_commit", {"message": "Add a teapot"}, ("git commit -m 'Add a teapot'",)),
    Step("git_checkout", {"ref": "master"}, ("git checkout master",)),
    Edit(_TEXT, "def compress_string(", "def squeeze(s):\n    return s\n\n\n"),
    Step("git_stage_and_commit", {"message": "Squeeze", "paths": [_TEXT]},
         (f"git add {_TEXT}", "git commit -m Squeeze")),
    Step("git_merge", {"ref": "topic"}, ("git merge --no-edit topic",)),
    Step("git_log", {"limit": 5}, ("git log -5",)),
    Edit(_QUERY, _BULK, _HALF.replace("_prepared", "_put_aside")),
    Step("git_stash", {"action": "push", "message": "half"}, ("git stash push -m half",)),
    Step("git_stash", {"action": "list"}, ("git stash list",)),
    Step("git_stash", {"action": "pop"}, ("git stash pop",)),
    Step("git_diff", {}, ("git diff",)),
    Step("git_commit", {"message": "Put aside", "paths": [_QUERY]}, (f"git commit -m 'Put aside' {_QUERY}",)),
    Step("git_branch", {}, ("git branch -v",)),
    Step("git_branch", {"action": "delete", "name": "topic"}, ("git branch -d topic",)),
    Step("git_inspect", {"ref": "HEAD", "stat": True}, ("git show --stat HEAD",)),
    Step("git_status", {}, ("git status --short --branch",)),
)  # fmt: skip


@dataclass
class Spent:
    calls: int = 0
    characters: int = 0
    envelopes: int = 0
    by_tool: dict[str, int] = field(default_factory=dict)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        ours, theirs = (_copy(Path(base) / name) for name in ("ours", "theirs"))
        session = RepoSession.open(Checkout.find(ours, Places.of_user({"HOME": base, "TMPDIR": base}), []))
        try:
            session.index.refresh()
            told, said = _day(Pipeline(session, all_tools()), ours, theirs)
        finally:
            session.close()
    detail = f"{told.characters} characters in {told.calls} calls; shell {said.characters} in {said.calls}"
    yield Figure("a day of git", told.characters / said.characters, "×", None, detail)
    whole = told.characters + told.envelopes
    yield Figure("  with envelopes", whole / said.characters, "×", None, f"{whole} characters")
    for tool, size in sorted(told.by_tool.items(), key=lambda item: -item[1]):
        yield Figure(f"  {tool}", size, "ch", None, "asked and answered, all calls")


def _day(pipeline: Pipeline, ours: Path, theirs: Path) -> tuple[Spent, Spent]:
    told, said = Spent(), Spent()
    for step in DAY:
        if isinstance(step, Edit):
            for root in (ours, theirs):
                file = root / step.path
                file.write_text(file.read_text().replace(step.before, step.text + step.before, 1))
            continue
        answer = anyio.run(pipeline.call, Request(step.tool, step.arguments, "bench"))
        assert not answer.is_error, (step, answer.body["error"])
        body = json.dumps(answer.body["result"], ensure_ascii=False, separators=(",", ":"))
        size = len(json.dumps({"name": step.tool, "arguments": step.arguments})) + len(body)
        told.calls += 1
        told.characters += size
        told.envelopes += len(answer.text) - len(body)
        told.by_tool[step.tool] = told.by_tool.get(step.tool, 0) + size
        for command in step.commands:
            done = subprocess.run(["bash", "-c", command], cwd=theirs, capture_output=True, text=True)
            assert done.returncode == 0, (command, done.stderr)
            said.calls += 1
            said.characters += len(command) + len(done.stdout) + len(done.stderr)
    return told, said


def _copy(root: Path) -> Path:
    shutil.copytree(python_history("django", ("5.1", "5.2")), root, symlinks=True)
    user = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    for command in ("checkout -qf -B master", "config user.name A", "config user.email a@example.org"):
        subprocess.run(["git", *command.split()], cwd=root, check=True, env=user)
    return root
