"""The command line, as people and scripts use it."""

import fcntl
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from codeplane.cli.clear import clear
from codeplane.storage import StateDir
from tests.drive import Cpl, end, eventually, git, new_repo
from tests.zygote import PATIENCE


def test_init_makes_what_is_needed_and_repeats_safely(cpl: Cpl) -> None:
    first, second = cpl.json("init"), cpl.json("init")
    assert first["cplignore_written"] and not second["cplignore_written"]
    assert first["repo_id"] == second["repo_id"]
    untracked = git(cpl.repo, "ls-files", "--others", "--exclude-standard").split()
    assert untracked == [".codeplane/contexts.yaml", ".cplignore"]
    assert ".env" in (cpl.repo / ".cplignore").read_text()


def test_init_builds_the_index_and_writes_down_what_it_found(cpl: Cpl) -> None:
    for name in ("pyproject.toml", "app.py", "web/package.json", "web/index.js"):
        (cpl.repo / name).parent.mkdir(exist_ok=True)
        (cpl.repo / name).write_text("{}\n" if name.endswith("json") else "x = 1\n")
    report = cpl.json("init")["index"]
    assert report["files"] == 6 and report["contexts_written"]
    file = cpl.repo / ".codeplane" / "contexts.yaml"
    assert "root_path: web" in file.read_text()
    file.write_text("version: 1\n")
    assert not cpl.json("init")["index"]["contexts_written"] and file.read_text() == "version: 1\n"
    recorded = cpl.json("status")
    assert recorded["index_status"] == "present"
    roots = {one["family"]: one["roots"] for one in recorded["contexts"]}
    assert roots["python"] == ["."] and roots["javascript"] == ["web"]
    assert "context     javascript: web\n" in cpl.run("status").stdout
    with cpl.up():
        eventually(lambda: cpl.json("status").get("contexts") == recorded["contexts"])
        assert cpl.json("init")["index"] == {"served": True}


def test_an_interrupted_init_keeps_what_it_has_read(cpl: Cpl) -> None:
    for number in range(1500):
        (cpl.repo / f"m{number}.py").write_text(f"def f{number}(x):\n    return x + {number}\n" * 24)
    process = subprocess.Popen(
        [*cpl.program, "init"],
        cwd=cpl.repo,
        env=cpl.env,
        stderr=subprocess.PIPE,
        text=True,
        # A suite that runs in the background of a shell ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    file = cpl.repo / ".codeplane" / "index.db"
    try:
        eventually(lambda: read_files(file) > 0)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        end(process)
    assert process.returncode == 130 and "cpl init or cpl up continues from there" in told
    kept = read_files(file)
    assert 0 < kept < 1500 and f"{kept} of 1502 files" in told
    assert cpl.json("init")["index"]["files"] == read_files(file) == 1502


def read_files(index: Path) -> int:
    try:
        connection = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(connection.execute("SELECT count(blob) FROM entry").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def test_init_keeps_an_ignore_file_that_is_there(cpl: Cpl) -> None:
    (cpl.repo / ".cplignore").write_text("mine\n")
    cpl.run("init")
    assert (cpl.repo / ".cplignore").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
    ],
)
def test_a_client_is_set_up_once_and_nothing_else_is_touched(cpl: Cpl, client: str, file: str) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        (cpl.repo / name).write_text("mine\n")
    assert cpl.json("init", "--client", client)["client"]["outcome"] == "written"
    written = (cpl.repo / file).read_text()
    assert "codeplane" in written and "mcp" in written
    assert cpl.json("init", "--client", client)["client"]["outcome"] == "unchanged"
    assert (cpl.repo / file).read_text() == written
    assert {(cpl.repo / name).read_text() for name in ("AGENTS.md", "CLAUDE.md")} == {"mine\n"}


def test_the_line_that_is_printed_for_a_client_works(cpl: Cpl) -> None:
    cpl.run("init", "--client", "claude")
    entry = json.loads((cpl.repo / ".mcp.json").read_text())["mcpServers"]["codeplane"]
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        cwd=cpl.repo,
        env=cpl.env,
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "codeplane"


def test_other_entries_of_a_clients_file_stay(cpl: Cpl) -> None:
    file = cpl.repo / ".mcp.json"
    file.write_text('{"mcpServers": {"other": {"command": "x"}}, "more": [1]}')
    cpl.run("init", "--client", "claude")
    tree = json.loads(file.read_text())
    assert tree["more"] == [1] and set(tree["mcpServers"]) == {"other", "codeplane"}


@pytest.mark.parametrize("text", ['{\n  // a comment\n  "servers": {}\n}', "[]", '{"servers": 3}'])
def test_a_file_that_cannot_be_merged_is_left_alone(cpl: Cpl, text: str) -> None:
    file = cpl.repo / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(text)
    done = cpl.run("init", "--client", "vscode")
    assert done.returncode == 6 and '"codeplane"' in done.stderr
    assert file.read_text() == text


def test_a_linked_clients_file_is_not_written_through(cpl: Cpl, tmp_path: Path) -> None:
    victim = tmp_path / "victim.json"
    victim.write_text("{}")
    (cpl.repo / ".mcp.json").symlink_to(victim)
    assert cpl.run("init", "--client", "claude").returncode == 6
    assert victim.read_text() == "{}"


def test_print_writes_nothing(cpl: Cpl) -> None:
    assert "mcp_servers.codeplane" in cpl.run("init", "--client", "codex", "--print").stdout
    assert git(cpl.repo, "status", "--porcelain") == "" and not (cpl.repo / ".codeplane").exists()


@pytest.mark.parametrize("running", [True, False])
def test_call_answers_with_and_without_a_server(cpl: Cpl, running: bool) -> None:
    if running:
        with cpl.up():
            body = cpl.json("call", "describe")
    else:
        body = cpl.json("call", "describe")
    assert body["result"]["branch"] == "main" and body["meta"]["task_state"] == "OPEN"
    assert ": main at " in cpl.run("call", "describe").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["describ"], 1, "did you mean 'describe'?"),
        (["describe", '{"nam": "x"}'], 1, "did you mean 'name'?"),
        (["describe", "{oops"], 2, "not JSON"),
        (["describe", '{"nmae": "\\ud800"}'], 1, "did you mean 'name'?"),
        (["describe", "[1]"], 1, "takes a JSON object"),
    ],
)
def test_a_wrong_call_is_explained(cpl: Cpl, arguments: list[str], code: int, text: str) -> None:
    for as_json in ([], ["--json"]):
        done = cpl.run("call", *arguments, *as_json)
        assert done.returncode == code and text in done.stdout + done.stderr


def test_arguments_may_come_from_standard_input(cpl: Cpl) -> None:
    done = cpl.run("call", "describe", "-", stdin='{"name": "describe"}')
    assert "describe (introspection" in done.stdout


@pytest.mark.parametrize("text", ["[" * 200_000, "\udcff"])
def test_standard_input_that_cannot_be_read_is_explained(cpl: Cpl, text: str) -> None:
    done = cpl.run("call", "describe", "-", stdin=text, errors="surrogateescape")
    assert done.returncode == 2 and "not JSON" in done.stderr and "Traceback" not in done.stderr


def test_status_tells_whether_a_server_runs(cpl: Cpl) -> None:
    before = cpl.run("status")
    assert before.returncode == 3 and "not running" in before.stdout
    with cpl.up() as server:
        running = cpl.run("status", "--verbose")
        assert running.returncode == 0 and server.url in running.stdout
        assert "server started" in running.stdout


def test_status_follows_the_log(cpl: Cpl) -> None:
    with cpl.up():
        follow = subprocess.Popen(
            [*cpl.program, "status", "--follow"], cwd=cpl.repo, env=cpl.env, stdout=subprocess.PIPE, text=True
        )
        try:
            assert follow.stdout is not None
            assert "server started" in follow.stdout.readline()
            cpl.run("call", "nothing")
            assert any("UNKNOWN_TOOL" in follow.stdout.readline() for _ in range(3))
        finally:
            end(follow)


def test_a_stopped_server_is_not_said_to_be_gone(cpl: Cpl) -> None:
    with cpl.up() as server:
        server.process.send_signal(signal.SIGSTOP)
        try:
            with ThreadPoolExecutor() as pool:  # each gives the server its time
                status, doctor = pool.map(cpl.run, ["status", "doctor"])
        finally:
            server.process.send_signal(signal.SIGCONT)
        said = f"pid {server.process.pid} holds the lock but does not answer"
        assert status.returncode == 3 and said in status.stdout
        assert doctor.returncode == 1 and said in doctor.stdout and "stale" not in doctor.stdout
        assert cpl.run("status").returncode == 0


def test_a_process_that_holds_the_repository_without_serving_is_told(cpl: Cpl) -> None:
    cpl.run("init")
    with (cpl.repo / ".codeplane" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another process holds the lock" in cpl.json("status")["holder"]
        done = cpl.run("doctor")
        assert done.returncode == 0 and "another process holds the lock" in done.stdout
    assert "holder" not in cpl.json("status")


@pytest.mark.parametrize("name", ["server.json", "token"])
def test_an_endless_file_in_the_state_directory_holds_nobody_up(cpl: Cpl, name: str) -> None:
    cpl.run("init")
    (cpl.repo / ".codeplane" / name).symlink_to("/dev/zero")
    assert cpl.run("status").returncode == 3


def test_a_shipped_log_does_not_steer_the_terminal(cpl: Cpl) -> None:
    cpl.run("init")
    entry = {"ts": 5, "level": None, "event": "a\x1b]0;x\x07b\x9bc\u2028d", "more": "\ud800"}
    lines = ["{bad}", "null", "[1]", "{" * 5000, '{"x":' + "[" * 400 + "]" * 400 + "}", json.dumps(entry)]
    entry["event"] = "raw \x9b \u2028"
    lines.append(json.dumps({**entry, "more": 1}, ensure_ascii=False))
    (cpl.repo / ".codeplane/logs/codeplane.jsonl").write_text("\n".join(lines) + "\n")
    for arguments in (["status", "-v"], ["status", "-v", "--json"]):
        done = cpl.run(*arguments)
        assert done.returncode == 3 and "raw " in done.stdout
        assert not any(c in done.stdout for c in "\x1b\x07\x9b")
    assert [e["event"] for e in cpl.json("status", "-v")["log"]] == [
        "a\x1b]0;x\x07b\x9bc\u2028d",
        "raw \x9b \u2028",
    ]


@pytest.mark.parametrize("link", ["", "logs", "logs/codeplane.jsonl", "logs/codeplane.jsonl.1"])
def test_a_linked_log_stays_out_of_the_bundle(cpl: Cpl, tmp_path: Path, link: str) -> None:
    secret = tmp_path / "secret"
    (secret / "logs").mkdir(parents=True)
    for name in ("codeplane.jsonl", "codeplane.jsonl.1", "logs/codeplane.jsonl"):
        (secret / name).write_text('{"event": "secret"}\n')
    planted = cpl.repo / ".codeplane" / link
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.symlink_to(secret / Path(link).name if link.startswith("logs/") else secret)
    done = cpl.run("doctor", "--logs", "--output", str(tmp_path / "b.zip"))
    assert "Traceback" not in done.stderr
    with zipfile.ZipFile(tmp_path / "b.zip") as bundle:
        assert bundle.read("log.jsonl") == b""
    assert "secret" not in cpl.run("status", "-v").stdout.replace(str(secret), "")


def test_trust_is_kept_outside_the_repository(cpl: Cpl, home: Path) -> None:
    state = cpl.repo / ".codeplane"
    cpl.run("init")
    (state / "config.yaml").write_text("server: {call_timeout_sec: -1}\n")
    ignored = cpl.run("status")
    assert "is ignored: this repository is not trusted" in ignored.stdout
    assert cpl.json("trust")["trusted"] is True
    assert "call_timeout_sec is -1" in cpl.run("status").stderr
    assert (home / ".local/state/codeplane/trust.json").stat().st_mode & 0o077 == 0
    assert cpl.json("trust", "--revoke")["trusted"] is False


def test_a_shipped_state_directory_is_not_trusted_again(cpl: Cpl) -> None:
    cpl.run("trust")
    shipped = {file.name: file.read_bytes() for file in (cpl.repo / ".codeplane").iterdir() if file.is_file()}
    cpl.run("clear", "--yes")
    (cpl.repo / ".codeplane").mkdir()
    for name, content in shipped.items():
        (cpl.repo / ".codeplane" / name).write_bytes(content)
    cpl.run("trust")
    (cpl.repo / ".codeplane" / "trust").write_bytes(shipped["trust"])
    assert cpl.json("trust", "--show")["trusted"] is False


@pytest.mark.parametrize("link", ["logs", "logs/codeplane.jsonl"])
def test_a_shipped_link_is_not_logged_through(cpl: Cpl, tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    victim.mkdir() if link == "logs" else victim.write_text("mine\n")
    planted = cpl.repo / ".codeplane" / link
    planted.parent.mkdir(parents=True)
    planted.symlink_to(victim)
    done = cpl.run("call", "describe")
    assert done.returncode == 6 and "Traceback" not in done.stderr
    assert (list(victim.iterdir()) == []) if link == "logs" else victim.read_text() == "mine\n"


def test_doctor_finds_nothing_wrong_and_then_something(cpl: Cpl) -> None:
    assert cpl.run("doctor").returncode == 0
    with cpl.up():
        assert cpl.run("doctor").returncode == 0
        (cpl.repo / ".codeplane" / "token").chmod(0o644)
        done = cpl.run("doctor")
        assert done.returncode == 1 and "not 600" in done.stdout


def test_the_bundle_has_the_log_but_no_token(cpl: Cpl, tmp_path: Path) -> None:
    with cpl.up() as server:
        with (cpl.repo / ".codeplane/logs/codeplane.jsonl").open("a") as log:
            log.write(f'{{"x": "{server.token}"}}\n')
        done = cpl.json("doctor", "--logs", "--output", str(tmp_path / "b.zip"))
        with zipfile.ZipFile(done["bundle"]) as bundle:
            contents = {name: bundle.read(name).decode() for name in bundle.namelist()}
    assert set(contents) == {"report.json", "log.jsonl"} and "server started" in contents["log.jsonl"]
    assert all(server.token not in text for text in contents.values())


def test_clear_asks_first_and_repeats_safely(cpl: Cpl) -> None:
    cpl.run("init")
    refused = cpl.run("clear")
    assert refused.returncode == 2 and (cpl.repo / ".codeplane").exists()
    done = cpl.run("clear", "--yes")
    assert "Removed" in done.stdout and "Kept what you share: contexts.yaml." in done.stdout
    answer = cpl.json("clear", "--yes")
    assert answer["removed"] is False and answer["kept"] == ["contexts.yaml"]
    assert [file.name for file in (cpl.repo / ".codeplane").iterdir()] == ["contexts.yaml"]


def test_clears_that_race_all_end_well(cpl: Cpl) -> None:
    for _ in range(3):
        cpl.run("init")
        clears = [
            subprocess.Popen(
                [*cpl.program, "clear", "--yes", "--json"], cwd=cpl.repo, env=cpl.env, stdout=subprocess.PIPE
            )
            for _ in range(3)
        ]
        answers = [json.loads(process.communicate(timeout=PATIENCE)[0]) for process in clears]
        assert [answer["removed"] for answer in answers].count(True) == 1
        assert [file.name for file in cpl.repo.glob(".codeplane*")] == [".codeplane"]
        assert [file.name for file in (cpl.repo / ".codeplane").iterdir()] == ["contexts.yaml"]


def test_a_clear_that_waited_for_another_removes_nothing(cpl: Cpl) -> None:
    cpl.run("init")
    state = StateDir.at(cpl.repo)
    lock = state.lock()
    assert lock.acquire()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(CliRunner().invoke, clear, ["--root", str(cpl.repo), "--yes", "--json"])
        time.sleep(0.15)
        state.remove()
        lock.release()
        assert json.loads(late.result().stdout)["removed"] is False
    assert [file.name for file in state.path.iterdir()] == ["contexts.yaml"]


def test_clear_removes_the_socket_of_a_killed_server_and_no_other(cpl: Cpl) -> None:
    with cpl.up() as server:
        file = cpl.repo / ".codeplane" / "server.json"
        published = json.loads(file.read_text())
        server.process.kill()
        server.process.wait()
    dead = Path(published["socket"])
    other = dead.with_name("0123456789abcdef.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(other))
        file.write_text(json.dumps({**published, "socket": str(other)}))
        assert dead.exists() and cpl.json("clear", "--yes")["removed"] is True
        assert not dead.exists() and other.exists()


def test_clear_does_not_follow_a_link(cpl: Cpl, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("mine")
    (cpl.repo / ".codeplane").symlink_to(victim)
    assert cpl.run("clear", "--yes").returncode == 6
    assert (victim / "file").read_text() == "mine"


def test_index_rebuild_drops_the_index_only(cpl: Cpl) -> None:
    cpl.run("init")
    (cpl.repo / ".codeplane/index.db").write_bytes(b"x" * 100)
    first, second = cpl.json("debug", "index-rebuild"), cpl.json("debug", "index-rebuild")
    assert first["dropped_bytes"] == 100 and first["files"] == second["files"] > 0
    assert (cpl.repo / ".codeplane/uuid").exists()


@pytest.mark.parametrize("command", ["up", "status", "call describe", "clear --yes", "trust", "init"])
def test_errors_are_json_when_json_is_asked_for(cpl: Cpl, elsewhere: Path, command: str) -> None:
    done = cpl.run(*command.split(), "--json", cwd=elsewhere)
    assert json.loads(done.stdout)["error"]["name"] == "NO_REPOSITORY"
    assert done.returncode == 4


def test_a_misspelt_command_is_told_the_nearest(cpl: Cpl) -> None:
    done = cpl.run("statsu")
    assert done.returncode == 2 and "did you mean 'status'?" in done.stderr


def test_the_root_may_be_any_directory_inside(cpl: Cpl, elsewhere: Path) -> None:
    (cpl.repo / "deep" / "er").mkdir(parents=True)
    done = cpl.run("call", "describe", "--json", "--root", str(cpl.repo / "deep" / "er"), cwd=elsewhere)
    assert json.loads(done.stdout)["result"]["repo_root"] == str(cpl.repo)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_someone_else_needs_trust(cpl: Cpl) -> None:
    for path in (cpl.repo, *cpl.repo.rglob("*")):
        os.chown(path, 4242, 4242)
    refused = cpl.run("status")
    assert refused.returncode == 4 and "belongs to another user" in refused.stderr
    assert not (cpl.repo / ".codeplane").exists()
    assert cpl.json("trust")["trusted"] is True
    assert cpl.json("call", "describe")["result"]["trusted"] is True


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_path_that_is_not_text_is_refused_before_anything_is_made(
    cpl: Cpl, tmp_path: Path, as_json: list[str]
) -> None:
    repo = new_repo(tmp_path / os.fsdecode(b"caf\xe9"))
    for command in ("init", "up", "status", "trust"):
        done = cpl.run(command, *as_json, cwd=repo)
        assert done.returncode == 4 and "is not UTF-8" in done.stdout + done.stderr
        assert "locale" in done.stdout + done.stderr and "move the directory" in done.stdout + done.stderr
    assert not (repo / ".codeplane").exists()


def test_what_the_user_added_to_an_entry_stays(cpl: Cpl) -> None:
    file = cpl.repo / ".mcp.json"
    file.write_text('{"mcpServers": {"codeplane": {"command": "old", "env": {"A": "1"}}}}')
    cpl.run("init", "--client", "claude")
    entry = json.loads(file.read_text())["mcpServers"]["codeplane"]
    assert entry["env"] == {"A": "1"} and entry["command"] != "old"


def test_files_that_cannot_be_used_are_one_message(cpl: Cpl, tmp_path: Path) -> None:
    (cpl.repo / ".mcp.json").mkdir()
    (cpl.repo / ".cursor").write_text("")
    (cpl.repo / ".vscode").mkdir()
    (cpl.repo / ".vscode" / "mcp.json").write_bytes(b"\xff\xfe")
    for client in ("claude", "cursor", "vscode"):
        done = cpl.run("init", "--client", client)
        assert done.returncode == 6 and "Traceback" not in done.stderr
    done = cpl.run("doctor", "--logs", "--output", str(tmp_path / "none" / "b.zip"))
    assert done.returncode == 6 and "no such file" in done.stderr


def test_print_without_a_client_is_refused(cpl: Cpl) -> None:
    assert cpl.run("init", "--print").returncode == 2
    assert not (cpl.repo / ".codeplane").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_call_but_not_in_the_middle_of_a_write(
    toy_cpl: Cpl, number: signal.Signals, code: int
) -> None:
    file = toy_cpl.repo / ".codeplane" / "w"
    arguments = ["call", "toy_write", '{"name": "w", "seconds": 0.5}']
    with subprocess.Popen([*toy_cpl.program, *arguments], cwd=toy_cpl.repo, env=toy_cpl.env) as process:
        eventually(lambda: file.exists() and file.read_text() == "begun\n")
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
    assert file.read_text() == "begun\ndone\n"


def test_set_without_effect_says_so(cpl: Cpl) -> None:
    with cpl.up():
        assert "--set has no effect" in cpl.run("call", "describe", "--set", "server.workers=2").stderr


@pytest.mark.parametrize("is_served", [False, True])
def test_calls_from_the_shell_page_on_and_end_their_tasks(cpl: Cpl, is_served: bool) -> None:
    for number in range(3):
        (cpl.repo / f"f{number}.txt").write_text("")
    with cpl.up() if is_served else nullcontext():
        first = cpl.json("call", "list_files", '{"limit": 2}')["result"]
        asked = json.dumps({"limit": 2, "cursor": first["next_cursor"]})
        assert cpl.json("call", "list_files", asked)["result"] != first
        edit = {"path": "new.txt", "action": "create", "content": "x"}
        cpl.run("call", "write_source", json.dumps({"edits": [edit]}))
        assert "CLOSED_SUCCESS" in cpl.run("log").stdout
    assert "CLOSED_INTERRUPTED" not in cpl.run("log").stdout


def test_status_and_doctor_tell_how_the_index_stands(cpl: Cpl) -> None:
    (cpl.repo / "test_a.py").write_text("def test_a():\n    pass\n")
    (cpl.repo / "pytest.ini").write_text("[pytest]\n")
    git(cpl.repo, "add", "-A")
    git(cpl.repo, "commit", "-qm", "a test")
    cpl.run("init")
    recorded = cpl.json("status")["index"]
    assert recorded["behind"] == 0 and recorded["path"].endswith(".codeplane/index.db")
    assert recorded["size_bytes"] > 0 and recorded["reconciled_at"] and recorded["version"]
    text = cpl.run("status").stdout
    assert f"fingerprint {recorded['fingerprint'][:12]}" in text and recorded["path"] in text
    checks = {check["check"]: check for check in cpl.json("doctor")["checks"]}
    assert "pytest is used" in checks["tests"]["detail"], "no program is started before trust"
    assert checks["index and HEAD"]["outcome"] == "ok"
    (cpl.repo / "test_a.py").write_text("")
    assert cpl.json("status")["index"]["behind"] == 1
    assert "made: 1" in {c["check"]: c for c in cpl.json("doctor")["checks"]}["index and HEAD"]["detail"]
    with cpl.up():
        cpl.json("call", "list_files")
        served = cpl.json("status")["index"]
    assert served["fingerprint"] != recorded["fingerprint"] and "behind" not in served
    assert cpl.json("status")["index"]["fingerprint"] == served["fingerprint"]


def test_a_shipped_announcement_of_a_server_delays_nothing(cpl: Cpl, tmp_path: Path) -> None:
    """It names a socket that takes connections and never answers."""
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(tmp_path / "s"))
    silent.listen(8)
    web = socket.create_server(("127.0.0.1", 0))
    state = cpl.repo / ".codeplane"
    state.mkdir()
    announced = {"pid": os.getpid(), "port": web.getsockname()[1], "socket": str(tmp_path / "s")}
    (state / "server.json").write_text(json.dumps({**announced, "started_ms": 1, "command": "cpl up"}))
    git(cpl.repo, "add", "-f", ".codeplane/server.json")
    assert cpl.json("call", "list_files")["result"]
    assert cpl.run("status").returncode == 3
    for listener in (silent, web):
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
        listener.close()


def test_a_full_disk_is_told(cpl: Cpl, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=False).returncode:
        pytest.skip("needs the right to mount")
    try:
        full = Cpl(new_repo(disk / "repo"), cpl.env)
        full.run("init")
        with (disk / "fill").open("wb", buffering=0) as fill, pytest.raises(OSError, match="No space"):
            while True:
                fill.write(b"x" * 4096)
        for command in ("status", "log", "doctor"):
            assert "is full" in full.run(command).stdout, command
        for refused in (["up"], ["call", "list_files"]):
            done = full.run(*refused)
            assert done.returncode == 6 and "no space left" in done.stderr and "Free some" in done.stderr
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
