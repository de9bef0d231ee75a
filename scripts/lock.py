"""Resolves the dependencies of pyproject.toml into the lock files, for every platform at once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMPILE = [
    *(sys.executable, "-m", "uv", "pip", "compile", "--universal", "--quiet"),
    *("--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate", "--upgrade"),
]
PROJECT = "pyproject.toml"


def main() -> None:
    lock([*COMPILE, PROJECT, "--group", "build"], "requirements.lock")
    lock([*COMPILE, PROJECT, "--group", "dev", "--constraints", "requirements.lock"], "requirements-dev.lock")
    lock([*COMPILE, "--group", "soak", "--constraints", "requirements-dev.lock"], "requirements-soak.lock")


def lock(command: list[str], target: str) -> None:
    subprocess.run([*command, "--output-file", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    text = (ROOT / target).read_text()
    assert "://" not in text, f"{target} names a host"


if __name__ == "__main__":
    main()
