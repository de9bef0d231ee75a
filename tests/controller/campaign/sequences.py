"""Turns that are watched: what may change, which verbs are allowed, and whether what is suggested works."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal

from codeplane.controller.catalogue import ALLOWED, allowed_verbs
from codeplane.controller.contract import RunState
from codeplane.controller.runs import run_store
from codeplane.server.pipeline import Pipeline, Request
from codeplane.tools import all_tools
from tests.controller.lab import Answered, Desk
from tests.drive import git

SMALL = {
    "app.py": "def load(url):\n    return url\n\n\ndef dump(value):\n    return str(value)\n",
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "test_app.py": "from app import load\n\n\ndef test_load():\n    assert load('a') == 'a'\n",
    "README.md": "# Store\n",
    "AGENTS.md": "# Rules\n\nEvery change has a test.\n",
    "openapi.yaml": "openapi: 3.0.0\ninfo: {title: Store, version: '1'}\npaths:\n  /keys:\n"
    "    get: {operationId: listKeys, responses: {'200': {description: keys}}}\n",
}
_EXTERNAL = {".codeplane", "__pycache__", ".git"}


class Watch:
    """Sends turns to a desk and checks every one of them."""

    def __init__(self, desk: Desk, portal: BlockingPortal) -> None:
        self.desk, self._portal = desk, portal
        self._pipeline = Pipeline(desk.session, all_tools())
        self.named: dict[str, set[str]] = {}
        self.handles: dict[str, list[str]] = {}
        self.turns = self.denials = self.writes = self.plans = 0

    def send(self, call: Mapping[str, Any], work: str) -> Answered:
        """One turn of a run; a denial is followed by what it suggests, which has to be accepted."""
        answer = self._send_once(call, work)
        if not answer.codes:
            return answer
        self.denials += 1
        follow_up = self._send_once(answer.suggestion, work)
        assert follow_up.codes == [], (dict(call), answer.text, follow_up.text)
        return follow_up

    def insist(self, call: Mapping[str, Any], work: str, times: int) -> Answered:
        """The same turn again and again; what the last denial suggests has to be accepted."""
        for _ in range(times - 1):
            self._send_once(call, work)
        return self.send(call, work)

    def _send_once(self, call: Mapping[str, Any], work: str) -> Answered:
        state, files, refs = self.state_of(work), files_of(self.desk.root), refs_of(self.desk.root)
        answer = self._ask({**call, "workId": work})
        self.turns += 1
        self._note(answer, work)
        self._check_row(call, state, answer)
        self._check_bytes(call, work, files, answer)
        if refs_of(self.desk.root) != refs:
            assert call["verb"] == "execute_gated_side_effect" and not answer.codes, (call, answer.text)
        return answer

    def _ask(self, call: Mapping[str, Any]) -> Answered:
        arguments = json.loads(json.dumps(call))
        answer = self._portal.call(self._pipeline.call, Request("controller_turn", arguments, "agent"))
        return Answered(answer.body, answer.text)

    def state_of(self, work: str) -> RunState:
        run = run_store(self.desk.session).load(work)
        return run.state if run is not None else RunState.PLAN_REQUIRED

    def _note(self, answer: Answered, work: str) -> None:
        result = answer.result["result"]
        plan = result.get("planGraph")
        if not answer.codes and plan is not None:
            self.plans += 1
            paths = {node.get(key) for node in plan["nodes"] for key in ("targetFile", "moveTo")}
            self.named[work] = {path for path in paths if path}
        if isinstance(result.get("evidence"), str):
            self.handles.setdefault(work, []).append(result["evidence"])

    def _check_row(self, call: Mapping[str, Any], state: RunState, answer: Answered) -> None:
        """No verb is carried out outside its row, and the answer names the row of its state."""
        verbs = {verb.value for verb in ALLOWED[state]}
        is_refused = bool({"scope.state", "scope.verb"} & set(answer.sub_codes))
        assert is_refused is (call["verb"] not in verbs), (state, dict(call), answer.text)
        row = [verb.value for verb in allowed_verbs(RunState(answer.state))]
        assert answer.result["capabilities"] == row
        if answer.codes:
            assert answer.result["suggestedAction"]["verb"] in row, (dict(call), answer.text)
        else:
            assert answer.result.get("suggestedAction") is None

    def _check_bytes(
        self, call: Mapping[str, Any], work: str, before: Mapping[str, bytes], answer: Answered
    ) -> None:
        after = files_of(self.desk.root)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        self.writes += bool(changed)
        assert not (changed and answer.codes), (dict(call), changed, answer.text)
        assert changed <= self.named.get(work, set()), (dict(call), changed, answer.text)
        if changed:
            may_write = {"apply_code_patch", "run_automation_recipe", "submit_execution_plan"}
            assert call["verb"] in may_write, (dict(call), changed)


def files_of(root: Path) -> dict[str, bytes]:
    """Every file of the working tree with its bytes."""
    files: dict[str, bytes] = {}
    for folder, names, leaves in os.walk(root):
        names[:] = [name for name in names if name not in _EXTERNAL]
        for leaf in leaves:
            path = os.path.join(folder, leaf)
            with open(path, "rb") as file:
                files[os.path.relpath(path, root)] = file.read()
    return files


def refs_of(root: Path) -> dict[str, bytes]:
    """What HEAD and the branches are."""
    folder = root / ".git"
    branches = [file for file in (folder / "refs/heads").rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in (folder / "HEAD", *branches)}


def restore(root: Path, files: Mapping[str, bytes], refs: Mapping[str, bytes]) -> None:
    """The repository as it was: branch, commit and files."""
    if refs_of(root) != refs:
        branch = refs["HEAD"].decode().strip().rpartition("/")[2]
        git(root, "checkout", "-q", "-f", "-B", branch, refs[f"refs/heads/{branch}"].decode().strip())
        for name in refs_of(root).keys() - refs.keys():
            git(root, "update-ref", "-d", name)
    present = files_of(root)
    for path in present.keys() - files.keys():
        (root / path).unlink()
    for path, data in files.items():
        if present.get(path) != data:
            (root / path).write_bytes(data)
