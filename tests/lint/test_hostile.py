"""Linters that hang, die, flood, babble or point elsewhere: a note, and the others are not concerned."""

import json
import time
from pathlib import Path

import pytest

from codeplane.config.settings import CustomLinter, LintSettings
from codeplane.core.errors import Cancelled, InvalidArgument, InvalidSetting
from codeplane.core.paths import RepoPath
from codeplane.lint import LintReport, Wanted, Watch, check
from codeplane.lint.linters import LINTERS
from tests.lint.lab import DEV, SYSTEM, Lab, program

FILES = {"ruff.toml": '[lint]\nselect = ["F"]\n', "mypy.ini": "[mypy]\n", "a.py": "import os\n"}
OTHERS = ["a.py:1:8-10 error F401: `os` imported but unused (ruff, fixable)"]


def with_mypy(tmp_path: Path, script: str, **settings: object) -> Lab:
    """ruff works; in the place of mypy is something else."""
    own = tmp_path / "bin"
    program(own, "mypy", script)
    lint = LintSettings.model_validate(settings)
    return Lab(tmp_path / "r", FILES, path=f"{own}:{DEV}:{SYSTEM}", settings=lint)


def note_of(report: LintReport) -> str:
    """The note of the broken linter, where the other has done its work."""
    assert [f"{one.path}:{one.told}" for one in report.diagnostics] == OTHERS
    [note] = report.notes
    return note


def test_a_linter_that_hangs_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    lab = with_mypy(tmp_path, f"(setsid sh -c 'sleep 3; touch {mark}' &)\nsleep 60", timeout_sec=1)
    assert note_of(lab.check()) == "mypy did not finish in time (lint.timeout_sec)."
    time.sleep(3)
    assert not mark.exists()


def test_a_flood_costs_no_memory_and_is_told(tmp_path: Path) -> None:
    lab = with_mypy(tmp_path, "head -c 1000000000 /dev/zero | tr '\\0' x")
    assert note_of(lab.check()).startswith("mypy printed more than is read; name fewer paths: xxx")


def test_a_linter_that_dies_is_told_with_its_signal(tmp_path: Path) -> None:
    assert note_of(with_mypy(tmp_path, "kill -SEGV $$").check()) == "mypy was ended by signal 11."


@pytest.mark.parametrize("script", ["printf '\\377\\376garbage\\n' >&2; exit 3", "echo garbage; exit 3"])
def test_babble_is_told_as_far_as_it_can_be_read(tmp_path: Path, script: str) -> None:
    note = note_of(with_mypy(tmp_path, script).check())
    assert note.startswith("mypy failed with code 3: ") and "garbage" in note


def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    assert "cannot be started" in note_of(with_mypy(tmp_path, "#!/no/such/interpreter\n").check())


def test_all_linters_together_have_their_time(tmp_path: Path) -> None:
    lab = with_mypy(tmp_path, "sleep 60", run_timeout_sec=1.5)
    assert note_of(lab.check()) == "mypy did not finish in time (lint.timeout_sec)."


def test_what_is_no_file_of_the_repository_is_counted_and_dropped(tmp_path: Path) -> None:
    said = [
        {"file": name, "line": 1, "column": 0, "message": "m", "severity": "error", "code": "c"}
        for name in ("/etc/passwd", "../../etc/passwd", "nothing.py", "", "a\0.py", "./a.py", "b\n.py")
    ]
    lines = "\n".join(map(json.dumps, said))
    report = with_mypy(tmp_path, f"cat <<'END'\n{lines}\nEND\nexit 1").check("mypy")
    assert [one.path for one in report.diagnostics] == ["a.py"]
    assert report.outside == 5


def test_what_is_said_of_no_file_is_a_note(tmp_path: Path) -> None:
    said = {"file": "", "line": 0, "column": -1, "message": "The cache is gone.", "code": "c"}
    report = with_mypy(tmp_path, f"cat <<'END'\n{json.dumps(said)}\nEND\nexit 1").check()
    assert note_of(report) == "mypy: c: The cache is gone."


def test_places_beyond_a_file_are_at_its_end(tmp_path: Path) -> None:
    said = {"file": "a.py", "line": 10**9, "column": 10**9, "message": "x" * 5000 + "\n\ny", "code": "c"}
    report = with_mypy(tmp_path, f"cat <<'END'\n{json.dumps(said)}\nEND\nexit 1").check("mypy")
    [found] = report.diagnostics
    assert (found.line, found.column) == (2, 1)
    assert len(found.message) == 501


def test_a_call_that_is_cancelled_ends_at_once(tmp_path: Path) -> None:
    lab = with_mypy(tmp_path, "sleep 60")
    began = time.monotonic()

    def check_it() -> None:
        if time.monotonic() - began > 1:
            raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        check(lab, lab.where, Wanted(), Watch(check_it, lambda done, total, message: None))
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("script", ["exit 0", "cat; exit 2", "kill -9 $$; sleep 9"])
def test_a_formatter_that_fails_on_the_way_leaves_the_file_as_it_was(tmp_path: Path, script: str) -> None:
    """`ruff format` says what differs, and fails when it is to format."""
    real = DEV / "ruff"
    own = f'case "$*" in "format "*--diff*) ;; "format "*) {script};; esac; exec {real} "$@"'
    program(tmp_path / "bin", "ruff", own)
    files = {"ruff.toml": "[format]\n", "a.py": "x  =  1\n"}
    lab = Lab(tmp_path / "r", files, path=f"{tmp_path / 'bin'}:{SYSTEM}")
    proposed = lab.fixes()
    assert proposed.change.edits.edits == ()
    assert proposed.report.notes[0].startswith("a.py is not fixed: ruff-format ")


@pytest.mark.parametrize("name", LINTERS)
@pytest.mark.parametrize(
    "said", [b"", b"[]", b"{}", b'{"a": [1]}', b"[[1], null]", b"\xff\xfe{", b"[" * 10**5]
)
def test_no_output_is_taken_amiss(tmp_path: Path, name: str, said: bytes) -> None:
    """Whatever is printed, with whatever code: findings or a note, never a failure of ours."""
    linter = LINTERS[name]
    files = {"a.py": "x = 1\n", "a.c": "", "a.js": "", "a.ts": "", "a.go": "", "a.rs": "", "a.sh": ""}
    (tmp_path / "said").write_bytes(said)
    for own in (linter.program, "cargo-clippy"):
        program(tmp_path / "bin", own, f"cat {tmp_path}/said; cat {tmp_path}/said >&2; exit 1")
    lab = Lab(tmp_path / "r", files, path=f"{tmp_path / 'bin'}:{SYSTEM}")
    report = lab.check(name)
    assert report.ran in ((name,), ())
    assert report.notes or report.diagnostics or report.outside


def test_a_name_that_looks_like_an_option_is_a_file(tmp_path: Path) -> None:
    lab = Lab(
        tmp_path / "r", {"ruff.toml": "[lint]\n", "--help.py": "import os\n", "-x/@a.py": "import os\n"}
    )
    assert {one.path for one in lab.check("ruff").diagnostics} == {"--help.py", "-x/@a.py"}
    assert len(lab.fixes("ruff").change.edits.edits) == 2


def test_a_repository_behind_a_link_has_its_own_paths(tmp_path: Path) -> None:
    Lab(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    lab = Lab(tmp_path / "link", FILES)
    assert [one.path for one in lab.check("ruff").diagnostics] == ["a.py"]


def test_settings_that_name_no_linter_are_refused(tmp_path: Path) -> None:
    wrong = LintSettings(tools={"ruf": False})
    with pytest.raises(InvalidSetting, match="did you mean ruff"):
        Lab(tmp_path / "r", FILES, settings=wrong).check()
    taken = LintSettings(custom=(CustomLinter(name="ruff", cmd=("x",)),))
    with pytest.raises(InvalidSetting, match="taken"):
        Lab(tmp_path / "r", FILES, settings=taken).check()
    with pytest.raises(InvalidArgument, match="There is no linter"):
        Lab(tmp_path / "r", FILES).check("nothing")


def test_many_files_are_checked_in_several_runs(tmp_path: Path) -> None:
    files = {f"a/{number:04}.py": "import os\n" for number in range(1200)}
    lab = Lab(tmp_path / "r", {"ruff.toml": '[lint]\nselect = ["F"]\n', **files})
    report = lab.check()
    assert len(report.diagnostics) == 1200
    some = lab.check(wanted=Wanted([RepoPath("a/0001.py")]))
    assert [one.path for one in some.diagnostics] == ["a/0001.py"]
