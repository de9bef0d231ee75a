"""A command line of a program that knows the repository: what to start, where, with what besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A program by its absolute path, with its arguments."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)  # added to the environment of the toolbox
