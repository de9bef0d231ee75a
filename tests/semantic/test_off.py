"""A tier that is off, or that nobody has ever used, does nothing: no row, no program, no code."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.documents import decode_json
from tests.drive import new_repo, user_env
from tests.tools.repo import trust

FILES = {
    "pyproject.toml": "",
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "app.py": "from store import Store\n\n\ndef run(it):\n    it.fetch(1)\n    return Store().fetch(2)\n",
}
QUEUE = ["codeplane.semantic", "codeplane.semantic.jobs", "codeplane.semantic.scope"]
ROOT = Path(__file__).parents[2]

Traces = dict[str, dict[str, list[str]]]


def traced_calls(base: Path, config: str) -> Traces:
    root = new_repo(base / "repo", FILES)
    trust(root, base)
    place = base / "home" / ".config" / "codeplane" / "config.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(config)
    command = [sys.executable, "-m", "tests.semantic.traced_calls", str(root), str(base)]
    done = subprocess.run(
        command, cwd=ROOT, env=user_env(base / "home"), check=True, capture_output=True, text=True
    )
    traces: Any = decode_json(done.stdout)
    assert isinstance(traces, dict)
    return traces


@pytest.fixture(scope="module")
def unused(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """A repository as it comes: the tier is on, and no indexer has ever run."""
    return traced_calls(tmp_path_factory.mktemp("unused"), "")


@pytest.fixture(scope="module")
def disabled(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    config = "semantic: {enabled: false, refresh_on_idle: true}\n"
    return traced_calls(tmp_path_factory.mktemp("disabled"), config)


def about_tier(statements: list[str]) -> list[str]:
    """Statements that read or write something of the tier; its empty tables are made with all others."""
    return [one for one in statements if ("semantic_" in one or "refresh_job" in one) and "CREATE" not in one]


def of_tier(modules: list[str]) -> list[str]:
    return [one for one in modules if one.startswith(("codeplane.semantic", "codeplane.session.semantic"))]


def test_calls_are_on_record(unused: Traces) -> None:
    """What the other tests look for would be seen."""
    assert any("INSERT INTO" in one for one in unused["opened"]["statements"])
    assert any("FROM definition" in one for one in unused["asked"]["statements"])
    assert "codeplane.tools.refactor_rename" in unused["asked"]["modules"]
    assert any("--version" in one for one in unused["opened"]["programs"])


def test_a_tier_that_was_never_used_is_looked_for_and_not_read(unused: Traces) -> None:
    [look] = about_tier(unused["asked"]["statements"])
    assert look == "SELECT seq FROM sqlite_sequence WHERE name = 'semantic_run'"
    assert all(one.startswith("SELECT") for one in about_tier(unused["opened"]["statements"]))


def test_a_tier_that_is_off_is_not_even_looked_for(disabled: Traces) -> None:
    assert about_tier(disabled["asked"]["statements"]) == []
    assert about_tier(disabled["opened"]["statements"]) == []


def test_no_code_of_jobs_and_indexers_is_loaded(unused: Traces, disabled: Traces) -> None:
    assert of_tier(disabled["asked"]["modules"]) == []
    assert of_tier(unused["asked"]["modules"]) == of_tier(unused["opened"]["modules"]) == QUEUE


def test_no_program_is_started_and_no_thread_waits(unused: Traces, disabled: Traces) -> None:
    for traces in (unused, disabled):
        assert traces["asked"]["programs"] == []
        assert "semantic" not in traces["asked"]["threads"]
