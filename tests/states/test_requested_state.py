"""How a call says which state of the files it reads, and what it is told where that can't be."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.server.pipeline import Request
from codeplane.server.profiles import profiles
from codeplane.tools import Effect, all_tools
from tests.drive import git
from tests.states.test_states import commit
from tests.tools.repo import Repo, trust

FILES = {
    "app.py": "def run():\n    return 1\n",
    "lib/use.py": "from app import run\n\n\ndef go():\n    return run()\n",
}
NEW = "def run():\n    return 2\n\n\ndef extra():\n    return run()\n"


@pytest.fixture
def repo(tmp_path: Path) -> Any:
    made = Repo(tmp_path, FILES)
    made.write("app.py", NEW)
    yield made
    made.session.close()


def names(repo: Repo, **state: object) -> str:
    return repo.ask("symbols_search", query="", kinds=["function"], **state).text


@pytest.mark.parametrize(
    "files",
    [
        [{"path": "new.py", "content": "def more(): pass\n"}],
        [{"filePath": "new.py", "contents": "def more(): pass\n"}],
        [{"file_path": "./new.py", "text": "def more(): pass\n"}],
        {"file": "new.py", "content": "def more(): pass\n"},
        {"new.py": "def more(): pass\n"},
        '[{"path": "new.py", "content": "def more(): pass\\n"}]',
    ],
)
def test_virtual_files_are_taken_in_the_usual_spellings(repo: Repo, files: object) -> None:
    assert "more" in names(repo, virtualFiles=files) and "extra" in names(repo, virtual_files=files)
    assert "more" not in names(repo) and not (repo.root / "new.py").exists()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ("{", "not JSON"),
        ([3], "no object"),
        ([{"content": "x"}], "no path"),
        ([{"path": "a.py"}], "needs content"),
        ([{"path": "a.py", "content": "x", "deleted": True}], "needs content"),
        ([{"path": "a.py", "content": "\ud800"}], "not Unicode"),
        ([{"path": "a.py", "content": "x", "mode": 7}], "'mode'"),
        ([{"path": "a.py", "content": ""}, {"path": "./a.py", "content": ""}], "twice"),
        ([{"path": "lib", "content": ""}], "lib is a directory"),
        ([{"path": "app.py/x.py", "content": ""}], "app.py is a file"),
        ([{"path": "a.py", "content": ""}] * 201, "the most is 200"),
        ([{"path": "a.py", "content": "x" * 5_000_000}], "the most is"),
    ],
)
def test_what_no_virtual_file_can_be_is_explained(repo: Repo, files: object, says: str) -> None:
    error = repo.error("search", query="x", virtual_files=files)
    assert error["name"] == "INVALID_ARGUMENT" and says in error["message"]


@pytest.mark.parametrize(
    "path", ["../x.py", ".git/config", ".codeplane/config.yaml", "/etc/passwd", "way/x.py"]
)
def test_a_virtual_file_stays_in_the_repository(repo: Repo, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir()
    (repo.root / "way").symlink_to(tmp_path / "outside")
    error = repo.error("search", query="x", virtual_files={path: "x = 1\n"})
    assert error["name"] == "PATH_REFUSED"


def test_a_virtual_file_that_would_not_be_indexed_is_left_out_and_told(repo: Repo) -> None:
    repo.write(".gitignore", "out/\n")
    repo.write("out/x", "")
    answer = repo.ask("search", query="more", virtual_files={"out/a.py": "more = 1\n", ".env": "more=1\n"})
    assert not answer.body["result"]["files"]
    assert len(answer.body["meta"]["warnings"]) == 2


def test_a_commit_has_several_names(repo: Repo) -> None:
    head = git(repo.root, "rev-parse", "HEAD")
    for name, value in (("commit", "HEAD"), ("baselineCommitSha", head), ("commit_sha", head[:10])):
        assert "extra" not in names(repo, **{name: value})
    assert "extra" not in names(repo, consistency="Committed")
    assert repo.error("search", query="x", commit="nowhere")["name"] == "REVISION_NOT_FOUND"
    assert repo.error("search", query="x", commit="a b")["name"] == "INVALID_ARGUMENT"


def test_a_commit_of_much_that_was_never_read_is_indexed_by_a_call_of_its_own(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeplane.session.requested_state.MOST_UNREAD", 0)
    error = repo.error("search", query="run", commit="HEAD")
    assert error["name"] == "INDEX_NOT_AVAILABLE" and error["retryable"]
    assert "index_ensure_baseline" in error["hints"][0]
    repo.result("index_ensure_baseline", commit="HEAD")
    assert repo.result("search", query="run", commit="HEAD")["files"]


def test_consistency_is_that_of_the_protocol(repo: Repo) -> None:
    for mode in ("Workspace", "ephemeral"):
        assert repo.error("search", query="x", consistency=mode)["name"] == "WORKSPACE_REQUIRED"
    error = repo.error("search", query="x", consistency="committed", virtual_files={"a.py": ""})
    assert error["name"] == "INVALID_ARGUMENT" and "ephemeral" in error["hints"][0]
    assert repo.error("search", query="x", consistency="later")["name"] == "INVALID_ARGUMENT"


def test_only_tools_that_are_about_files_and_code_take_a_state(repo: Repo) -> None:
    """The tools that refuse are named here, so that a new one is thought of."""
    refusing = {
        name for name, tool in all_tools().items() if tool.effect is Effect.READ and not tool.reads_state
    }
    assert refusing == {
        "delta_try",
        "describe",
        "git_diff",
        "git_history",
        "git_inspect",
        "git_log",
        "git_status",
        "index_ensure_baseline",
        "index_refresh_overlay",
        "lint_tools",
        "plan_show",
        "refactor_inspect",
        "repo_status",
        "reset_budget",
        "semantic_status",
        "task_status",
        "workspace_list",
    }
    taking = {
        name for name, tool in all_tools().items() if tool.effect is not Effect.READ and tool.reads_state
    }
    assert taking == {"batch", "lint_check"}
    edits = [{"path": "app.py", "new_content": "x = 1\n"}]
    for tool, arguments in (("git_status", {}), ("write_source", {"edits": edits}), ("describe", {})):
        error = repo.error(tool, **arguments, virtual_files={"a.py": ""})
        assert error["name"] == "STATE_UNSUPPORTED" and error["hints"]
    assert (repo.root / "app.py").read_text() == NEW


def test_a_cursor_goes_on_in_the_state_that_it_was_made_in(repo: Repo) -> None:
    many = {f"m{number:02}.py": f"needle = {number}\n" for number in range(12)}
    first = repo.result("search", query="needle", limit=5, virtual_files=many)
    second = repo.result("search", cursor=first["next_cursor"], query="needle", limit=5)
    shown = [file["path"] for page in (first, second) for file in page["files"]]
    assert len(set(shown)) == len(shown) >= 10 and not second.get("changed")
    error = repo.error("search", query="needle", cursor=first["next_cursor"], commit="HEAD")
    assert error["name"] == "INVALID_ARGUMENT" and "state" in error["message"]


def test_from_the_shell_virtual_files_are_sent_with_the_cursor_again(repo: Repo) -> None:
    many = {f"m{number:02}.py": f"needle = {number}\n" for number in range(12)}

    def ask(**arguments: object) -> Any:
        request = Request("search", {"query": "needle", "limit": 5, **arguments}, "shell", is_single=True)
        return anyio.run(repo.pipeline.call, request)

    cursor = ask(virtual_files=many).body["result"]["next_cursor"]
    assert "Send the same" in ask(cursor=cursor).body["error"]["hints"][0]
    assert len(ask(cursor=cursor, virtual_files=many).body["result"]["files"]) >= 5
    assert b"needle" not in (repo.root / ".codeplane/state.db").read_bytes()
    for path, text in many.items():
        repo.write(path, text)
    commit(repo.root)
    cursor = ask(commit="HEAD").body["result"]["next_cursor"]
    for path in many:
        repo.write(path, "")
    assert len(ask(cursor=cursor).body["result"]["files"]) >= 5


def test_what_was_shown_of_another_state_permits_no_edit_by_lines(repo: Repo) -> None:
    repo.result("read_source", targets=["lib/use.py"], virtual_files={"lib/use.py": "a = 1\nb = 2\nc = 3\n"})
    assert repo.session.sessions.enter("a client").shown_digests.get("lib/use.py") is None  # type: ignore[arg-type]


def test_the_calls_of_a_batch_read_its_state_or_their_own(repo: Repo) -> None:
    search = {"tool": "search", "args": {"query": "extra"}}
    own = {"tool": "search", "args": {"query": "extra", "virtual_files": {"k.py": "extra = 1\n"}}}
    write = {
        "tool": "write_source",
        "args": {"edits": [{"path": "z.py", "action": "create", "new_content": ""}]},
    }
    answers = repo.result("batch", commit="HEAD", calls=[search, own, write])["answers"]
    assert not answers[0]["body"]["result"]["files"]
    assert [file["path"] for file in answers[1]["body"]["result"]["files"]] == ["k.py"]
    assert answers[2]["body"]["error"]["name"] == "STATE_UNSUPPORTED" and not (repo.root / "z.py").exists()


def test_an_offered_call_stays_in_the_state_or_is_not_made(repo: Repo) -> None:
    long = "".join(f"line {number}\n" for number in range(1000))
    git(repo.root, "add", "-A")
    repo.write("long.txt", long)
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "long")
    [offer] = repo.ask("read_source", targets=["long.txt"], commit="HEAD").body["meta"]["next_actions"]
    assert "@HEAD" in offer
    virtual = repo.ask("read_source", targets=["v.txt"], virtual_files={"v.txt": long})
    assert virtual.body["result"]["files"][0]["spans"][0]["more"] and not virtual.body["meta"].get(
        "next_actions"
    )


def test_lists_say_it_where_there_is_room(repo: Repo) -> None:
    offered = profiles(all_tools())
    search = all_tools()["search"]
    for name in ("full", "read"):
        assert {"workspace", "commit", "virtual_files"} <= offered[name].schema_of(search)[
            "properties"
        ].keys()
    assert "commit" not in offered["standard"].schema_of(search)["properties"]
    assert "virtual_files" not in offered["full"].schema_of(all_tools()["git_status"])["properties"]


def test_linters_check_a_state_in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")  # has ruff
    config = "[tool.ruff.lint]\nselect = ['F401']\n"
    made = Repo(tmp_path, {"a.py": "import os\n", "b.py": "b = 1\n", "pyproject.toml": config})
    made.session.close()
    trust(made.root, tmp_path)
    repo = Repo.at(made.root, tmp_path)
    virtual = {"a.py": "a = 1\n", "b.py": "import sys\n"}
    report = repo.result("lint_check", tools=["ruff"], virtual_files=virtual)
    assert [file["path"] for file in report["files"]] == ["b.py"], report
    changed = repo.result(
        "lint_check", tools=["ruff"], changed_lines=True, virtual_files={"b.py": "import sys\n"}
    )
    assert [file["path"] for file in changed["files"]] == ["b.py"]
    assert repo.error("lint_check", fix=True, virtual_files=virtual)["name"] == "STATE_UNSUPPORTED"
    repo.result("workspace_create", workspace="m", kind="memory")
    edit = {"path": "b.py", "expected_content": "b = 1", "new_content": "import json"}
    repo.result("write_source", edits=[edit], workspace="m")
    report = repo.result("lint_check", tools=["ruff"], workspace="m")
    assert [file["path"] for file in report["files"]] == ["a.py", "b.py"]
    lines = repo.result("lint_check", tools=["ruff"], workspace="m", changed_lines=True)
    assert [file["path"] for file in lines["files"]] == ["b.py"]
    assert (repo.root / "b.py").read_text() == "b = 1\n"
    repo.session.close()
