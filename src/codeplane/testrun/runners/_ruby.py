"""What runners of Ruby have in common."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.runner import MEDIUM, Place, Project
from codeplane.testrun.runners._tree import directory, named, program

_GEMS: Final = ("Gemfile", "gems.rb")
_LOCKS: Final = {"Gemfile": "Gemfile.lock", "gems.rb": "gems.locked"}


def projects(tree: Tree, runner: str, gem: str) -> Iterator[Project]:
    """The directories whose list of gems, or whose gem itself, names a runner."""
    pattern = re.compile(rf"""["']{gem}["'-]""")
    for path in [*named(tree, *_GEMS), *(one for one in tree.paths() if one.endswith(".gemspec"))]:
        if pattern.search(tree.text(path) or ""):
            yield Project(runner, directory(path), f"{path}: {gem}", MEDIUM)


def starting(place: Place, root: RepoPath, name: str, hint: str) -> list[str]:
    """How a program of a project is started: through Bundler where the versions are written down."""
    here = place.root / root
    if any((here / gems).is_file() and (here / lock).is_file() for gems, lock in _LOCKS.items()):
        return [program(place, "bundle", root, "gem install bundler"), "exec", name]
    return [program(place, name, root, hint)]
