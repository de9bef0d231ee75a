"""Which code names a file that no import can name: by its name, or by that of a directory around it."""

import re
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.languages.modules import module_rules
from codeplane.names import Snapshot

_MOST_FILES: Final = 100
_FURTHEST: Final = 4  # directories around the file


def naming(snapshot: Snapshot, path: RepoPath) -> tuple[list[RepoPath], bool]:
    """The code that names a file, and whether all that may was looked at."""
    directory, _, name = path.rpartition("/")
    paths, is_whole = _holding(snapshot, path, name, rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    if len(snapshot.layout.by_name.get(name, ())) > 1:
        paths = _nearer_paths(snapshot, paths, directory) or paths
    around = directory.split("/") if directory else []
    for count in range(len(around), max(0, len(around) - _FURTHEST), -1):
        if paths:
            break
        above, last = "/".join(around[: count - 1]), around[count - 1]
        holders, whole = _holding(snapshot, path, last, rf"[\"'/]{re.escape(last)}[\"'/]")
        paths = [one for one in holders if _is_at_or_above(one, above)]
        is_whole = is_whole and whole
    return paths, is_whole


def _holding(snapshot: Snapshot, path: RepoPath, word: str, pattern: str) -> tuple[list[RepoPath], bool]:
    """The code with a text in it that matches; the word index says where to look."""
    holding = snapshot.files_with_words([word], _MOST_FILES)
    others = [one for one in holding.items if one.path != path]
    code = [one.path for one in others if one.language and module_rules(one.language)]
    mention = re.compile(pattern.encode("utf-8", "surrogateescape"))
    return [one for one in code if mention.search(snapshot.source(one))], not holding.truncated


def _nearer_paths(snapshot: Snapshot, paths: list[RepoPath], directory: str) -> list[RepoPath]:
    """The paths that can mean just this one of several files of a name."""
    last = directory.rpartition("/")[2].encode("utf-8", "surrogateescape")
    return [
        one
        for one in paths
        if one.rpartition("/")[0] == directory
        or (last and re.search(rb"[\"'/]" + re.escape(last) + rb"[\"'/]", snapshot.source(one)))
    ]


def _is_at_or_above(path: str, directory: str) -> bool:
    own = path.rpartition("/")[0]
    return not own or own == directory or directory.startswith(f"{own}/")
