"""Validators of toolchain.toml run in a copy, within their contract, and only as the user has seen them."""

import sys
from pathlib import Path

import pytest

from codeplane.core.errors import ToolchainInvalid
from codeplane.delta.toolchain import read_toolchain
from tests.delta.plans import FILES, PlanRepo, annotate, element
from tests.tools.repo import trust


def trusted(base: Path, toolchain: str, scripts: dict[str, str] | None = None) -> PlanRepo:
    """A trusted repository with a toolchain and programs of its own."""
    repo = PlanRepo(base)
    repo.write(".codeplane/toolchain.toml", toolchain)
    for name, text in (scripts or {}).items():
        repo.write(f".venv/bin/{name}", text)
        (repo.root / ".venv" / "bin" / name).chmod(0o755)
    repo.write(".git/info/exclude", ".venv\n")
    repo.session.close()
    trust(repo.root, base)
    return PlanRepo.at(repo.root, base)


def load_task(*validators: str) -> dict[str, object]:
    return element("app.py", annotate("load", "str"), validate_with=list(validators))


def test_a_task_whose_validators_pass_is_tested(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f"#!/bin/sh\ncat app.py > {seen}\n"
    repo = trusted(tmp_path, '[validators.types]\ncommand = "checker"\n', {"checker": script})
    plan = repo.create([load_task("types")])
    answer = repo.ask("validate_deltas", plan=plan)
    assert "1 of 1 green (1 tested)" in answer.text
    assert "types: passed" in answer.text
    assert "-> str" in seen.read_text()
    assert repo.read("app.py") == FILES["app.py"]
    repo.result("execute_deltas", plan=plan)
    assert "-> str" in repo.read("app.py")


def test_validators_are_not_run_again_while_nothing_has_changed(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = f"#!/bin/sh\necho x >> {count}\n"
    repo = trusted(tmp_path, '[validators.types]\ncommand = "checker"\n', {"checker": script})
    plan = repo.create(
        [load_task("types")], [element("store.py", annotate("Store.fetch", "int"), validate_with=["types"])]
    )
    repo.result("validate_deltas", plan=plan)
    assert count.read_text().count("x") == 2
    repo.result("execute_deltas", plan=plan)
    assert count.read_text().count("x") == 2


def test_a_validator_that_fails_makes_its_task_red_with_its_diagnostics(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho 'app.py:5:1: error: bad type [misc]'\nexit 1\n"
    repo = trusted(tmp_path, '[validators.types]\ncommand = "checker"\n', {"checker": script})
    plan = repo.create([load_task("types"), element("store.py", annotate("Store.fetch", "int"))])
    answer = repo.ask("validate_deltas", plan=plan)
    assert "app.py:5:1 error misc: bad type (types)" in answer.text
    assert repo.statuses(plan) == {"Task 1.1": "red", "Task 1.2": "green"}
    assert repo.error("execute_deltas", plan=plan)["name"] == "DELTA_NOT_READY"
    assert repo.read("app.py") == FILES["app.py"]


@pytest.mark.parametrize(
    ("fields", "script", "expected"),
    [
        ("required = false\n", "exit 1", "green"),
        ("success_exit_codes = [0, 3]\n", "exit 3", "green"),
        ("timeout_seconds = 1\n", "sleep 60", "red"),
        ("", "kill -9 $$", "red"),
        ("", "head -c 200000000 /dev/zero; exit 1", "red"),
        ("timeout_seconds = 1\n", "(trap '' TERM; sleep 60) & sleep 60", "red"),
        ("", "kill -TERM 0", "red"),
        ("", "rm -rf ./* .git; exit 0", "green"),
    ],
    ids=["advisory", "codes", "hangs", "killed", "floods", "children", "group", "deletes"],
)
def test_a_validator_is_held_to_its_contract(tmp_path: Path, fields: str, script: str, expected: str) -> None:
    toolchain = f'[validators.types]\ncommand = "checker"\n{fields}'
    repo = trusted(tmp_path, toolchain, {"checker": f"#!/bin/sh\n{script}\n"})
    plan = repo.create([load_task("types")])
    repo.ask("validate_deltas", plan=plan)
    assert repo.statuses(plan) == {"Task 1.1": expected}


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the highest use of memory")
@pytest.mark.parametrize("stream", ["", " >&2"], ids=["stdout", "stderr"])
def test_a_gigabyte_of_output_is_neither_kept_nor_stored(tmp_path: Path, stream: str) -> None:
    script = f"#!/bin/sh\nhead -c 1000000000 /dev/zero{stream}\necho last words{stream}\nexit 3\n"
    repo = trusted(tmp_path, '[validators.types]\ncommand = "checker"\n', {"checker": script})
    plan = repo.create([load_task("types")])
    Path("/proc/self/clear_refs").write_text("5")
    before = highest_memory()
    answer = repo.ask("validate_deltas", plan=plan)
    assert highest_memory() - before < 200_000_000
    assert repo.statuses(plan) == {"Task 1.1": "red"}
    assert "exit code 3" in answer.text and len(answer.text) < 10_000
    assert (repo.session.state.path / "state.db").stat().st_size < 1_000_000


def highest_memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_what_a_validator_changes_in_its_copy_the_next_does_not_see(tmp_path: Path) -> None:
    spoils = "#!/bin/sh\necho broken > app.py\nrm store.py\nln -s {root}/store.py store.py\n"
    checks = "#!/bin/sh\ngrep -q 'def load' app.py && grep -q 'def fetch' store.py && [ ! -L store.py ]\n"
    toolchain = '[validators.a]\ncommand = "spoils"\n[validators.b]\ncommand = "checks"\n'
    scripts = {"spoils": spoils.format(root=tmp_path / "repo"), "checks": checks}
    repo = trusted(tmp_path, toolchain, scripts)
    fetch = element("store.py", annotate("Store.fetch", "int"), validate_with=["a", "b"])
    plan = repo.create([load_task("a", "b")], [fetch])
    assert "2 of 2 green (2 tested)" in repo.ask("validate_deltas", plan=plan).text
    assert repo.read("store.py") == FILES["store.py"] and repo.read("app.py") == FILES["app.py"]
    task = next(item for item in repo.session.work_plans.load(plan).items.values() if item.delta)
    runs = task.derived["delta_detail"]["validators"]
    assert [run.get("changed") for run in runs] == [["app.py", "store.py"], None]


@pytest.mark.parametrize(("field", "expected"), [("true", "red"), ("false", "green")])
def test_a_missing_validator_fails_unless_it_may_be_missing(
    tmp_path: Path, field: str, expected: str
) -> None:
    toolchain = f'[validators.types]\ncommand = "no-such-program"\nfail_if_missing = {field}\n'
    repo = trusted(tmp_path, toolchain)
    plan = repo.create([load_task("types")])
    answer = repo.ask("validate_deltas", plan=plan)
    assert repo.statuses(plan) == {"Task 1.1": expected}
    assert "tested" not in answer.text


def test_a_validator_of_scope_file_runs_once_for_each_file(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = f'#!/bin/sh\necho "$1 $SECRET $NAME" >> {seen}\n'
    toolchain = (
        '[validators.one]\ncommand = "checker"\nargs = ["{file}"]\nscope = "file"\nenv_allowlist = ["NAME"]\n'
    )
    repo = trusted(tmp_path, toolchain, {"checker": script})
    same = element("app.py", annotate("load", "str", parameter="url"), validate_with=["one"])
    fetch = element("store.py", annotate("Store.fetch", "int"), validate_with=["one"])
    plan = repo.create([load_task("one"), same, fetch])
    repo.result("validate_deltas", plan=plan)
    assert sorted(line.split()[0] for line in seen.read_text().splitlines()) == ["./app.py", "./store.py"]


def test_commands_run_only_as_the_user_has_trusted_them(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    repo = trusted(tmp_path, '[validators.types]\ncommand = "true"\n')
    repo.write(".codeplane/toolchain.toml", f'[validators.types]\ncommand = "touch"\nargs = ["{mark}"]\n')
    plan = repo.create([load_task("types")])
    answer = repo.ask("validate_deltas", plan=plan)
    assert "The user has not trusted .codeplane/toolchain.toml as it is now" in answer.text
    assert not mark.exists()
    assert "1 of 1 green (1 validated)" in answer.text


def test_an_unknown_validator_is_red_with_the_nearest_name(tmp_path: Path) -> None:
    repo = trusted(tmp_path, '[validators.types]\ncommand = "true"\n')
    plan = repo.create([load_task("typse")])
    assert "did you mean types?" in repo.ask("validate_deltas", plan=plan).text


A = "[validators.a]\ncommand = 'x'\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{A}scop = 'file'\n", ":3: unknown field `scop`; did you mean `scope`?"),
        ("[validators.a]\ncommand = '/bin/x'\n", ":2: `command` is the name of a program"),
        (f"\n{A}args = ['{{file}}']\n", ":4: `{file}` needs scope `file`"),
        (f"{A}scope = 'package'\n", ":3: scope `package` is not supported"),
        (f"{A}scope = 'file'\nargs = ['--in={{file}}']\n", ":4: `{file}` is an argument of its own"),
        (f"{A}timeout_seconds = 0\n", ":3: `timeout_seconds` is a number"),
        ("[validators.a]\nargs = []\n", ":1: `command` is missing"),
        ("[other]\n", ":1: unknown table or key `other`"),
        ("[validators.a\n", ": "),
    ],
)
def test_a_toolchain_with_an_error_is_refused_with_the_line(text: str, problem: str) -> None:
    with pytest.raises(ToolchainInvalid) as refusal:
        read_toolchain(text.encode())
    assert f"toolchain.toml{problem}" in refusal.value.message


def test_python_itself_can_be_a_validator(tmp_path: Path) -> None:
    name = Path(sys.executable).name
    toolchain = f'[validators.compiles]\ncommand = "{name}"\nargs = ["-m", "py_compile", "app.py"]\n'
    repo = trusted(tmp_path, toolchain)
    plan = repo.create([load_task("compiles")])
    assert "1 of 1 green (1 tested)" in repo.ask("validate_deltas", plan=plan).text
