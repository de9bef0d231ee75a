"""Scratch directories: gone at the end, whatever was done in them, and swept after a crash."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.verify.scratch import scratch_dir, sweep


def test_it_is_gone_at_the_end_though_permissions_were_taken_away(tmp_path: Path) -> None:
    with scratch_dir(tmp_path / "home") as made:
        (made / "deep").mkdir()
        (made / "deep" / "file").write_text("x")
        (made / "deep").chmod(0o500)
    assert list((tmp_path / "home").iterdir()) == []


def test_it_is_gone_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stop"), scratch_dir(tmp_path / "home"):
        raise ValueError("stop")
    assert list((tmp_path / "home").iterdir()) == []


def test_what_a_killed_process_has_left_is_swept_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code = (
        "import sys, time; from pathlib import Path; from codeplane.verify.scratch import scratch_dir\n"
        "with scratch_dir(Path(sys.argv[1])) as made:\n"
        "    (made / 'file').write_text('x'); print(made, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    left = Path(process.stdout.readline().strip())
    with process.stdout, scratch_dir(home) as used:
        assert sweep(home) == 0 and left.is_dir()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert sweep(home) == 1 and not left.exists() and used.is_dir()
    assert list(home.iterdir()) == []


def test_nothing_is_swept_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept.lease").write_text("")
    (tmp_path / "other" / "kept").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "other")
    assert sweep(tmp_path / "home") == 0
    assert (tmp_path / "other" / "kept").is_dir()
