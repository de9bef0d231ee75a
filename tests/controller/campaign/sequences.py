"""Turns that are watched: what may change, which verbs are allowed, and whether what is suggested works."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codeplane.controller.catalogue import ALLOWED, Verb, allowed_verbs
from codeplane.controller.contract import RunState
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

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.named: dict[str, set[str]] = {}
        self.handles: dict[str, list[str]] = {}
        self.turns = self.denials = self.writes = self.plans = 0

    def send(self, call: Mapping[str, Any], work: str) -> Answered:
        """One turn of a run; a denial is followed by what it suggests, which has to be accepted."""
        answer = self._send_once(call, work)
        if answer.codes:
            self.denials += 1
            follow_up = self._send_once(answer.suggestion, work)
            assert follow_up.codes == [], (dict(call), answer.text, follow_up.text)
        return answer

    def insist(self, call: Mapping[str, Any], work: str, times: int) -> Answered:
        """The same turn again and again; what the last denial suggests has to be accepted."""
        for _ in range(times - 1):
            self._send_once(call, work)
        return self.send(call, work)

    def _send_once(self, call: Mapping[str, Any], work: str) -> Answered:
        state, files, refs = self.state_of(work), files_of(self.desk.root), refs_of(self.desk.root)
        answer = self.desk.send({**call, "workId": work})
        self.turns += 1
        self._note(answer, work)
        self._check_row(call, state, answer)
        self._check_bytes(call, work, files, answer)
        if refs_of(self.desk.root) != refs:
            assert call["verb"] == "execute_gated_side_effect" and not answer.codes, (call, answer.text)
        return answer

    def state_of(self, work: str) -> RunState:
        run = run_store_of(self.desk).load(work)
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


def run_store_of(desk: Desk) -> Any:
    from codeplane.controller.runs import run_store

    return run_store(desk.session)


def files_of(root: Path) -> dict[str, bytes]:
    """Every file of the working tree with its bytes."""
    return {
        str(path): file.read_bytes()
        for file in root.rglob("*")
        if not _EXTERNAL & set((path := file.relative_to(root)).parts) and file.is_file()
    }


def refs_of(root: Path) -> dict[str, bytes]:
    """What HEAD and the branches are."""
    refs = {str(file): file.read_bytes() for file in (root / ".git/refs/heads").rglob("*") if file.is_file()}
    return refs | {"HEAD": (root / ".git/HEAD").read_bytes()}


def restore(root: Path, files: Mapping[str, bytes], branch: str, commit: str) -> None:
    """The repository as it was: branch, commit and files."""
    if git(root, "rev-parse", "HEAD") != commit or git(root, "branch", "--show-current") != branch:
        git(root, "checkout", "-q", "-f", "-B", branch, commit)
    for path, data in files_of(root).items():
        if path not in files:
            (root / path).unlink()
        elif data != files[path]:
            (root / path).write_bytes(files[path])
    for path in files.keys() - files_of(root).keys():
        (root / path).write_bytes(files[path])


__all__ = ["SMALL", "Verb", "Watch", "files_of", "refs_of", "restore"]
