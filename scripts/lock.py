"""Resolves the dependencies of pyproject.toml into the two lock files, for every platform at once."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMPILE = [
    *(sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--universal", "--quiet"),
    *("--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate", "--upgrade"),
]


def main() -> None:
    lock([*COMPILE, "--group", "build"], "requirements.lock")
    lock([*COMPILE, "--group", "dev", "--constraints", "requirements.lock"], "requirements-dev.lock")


def lock(command: list[str], target: str) -> None:
    subprocess.run([*command, "--output-file", target], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    text = (ROOT / target).read_text()
    assert "://" not in text, f"{target} names a host"


if __name__ == "__main__":
    main()
