"""Real code to measure on: source distributions by name and version, fetched once into `.cache/corpora`."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.conformance import node

CACHE = Path(__file__).parent.parent / ".cache" / "corpora"


def python_package(name: str, version: str) -> Path:
    """The unpacked source distribution, as a git repository of its own."""
    target = CACHE / f"{name}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        subprocess.run([*download, "--no-binary", name, "-d", str(target), f"{name}=={version}"], check=True)
        [archive] = target.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        archive.unlink()
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def npm_package(name: str, version: str) -> Path:
    """The files of an npm package, as a git repository of its own."""
    target = CACHE / f"{name.rpartition('/')[2]}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copytree(node.package(name, version), target / "package", dirs_exist_ok=True)
        shutil.rmtree(target / "package" / "node_modules", ignore_errors=True)
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target
