"""How C and C++ sources are compiled: the commands that a build has recorded, or what the includes tell."""

import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from codeplane.core.documents import Malformed, decode_json
from codeplane.core.paths import RepoPath
from codeplane.semantic.indexer import ContextFiles, content

COMMANDS: Final = "compile_commands.json"
# Nothing else passes: no plugins, no files of further options, nothing that writes.
_PATHS: Final = ("-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot", "-I")
_VALUES: Final = ("-D", "-U")
_PLAIN: Final = frozenset(("-nostdinc", "-nostdinc++", "-pthread", "-ansi"))
_LANGUAGES: Final = frozenset(("c", "c++", "c-header", "c++-header"))
# What follows one of these is for another program, or no option.
_CARRIERS: Final = frozenset(
    ("-Xclang", "-Xpreprocessor", "-Xassembler", "-Xlinker", "-mllvm", "-o", "-MF", "-MT", "-MQ", "-load")
)
_INCLUDE: Final = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]')
_USUAL_ROOTS: Final = ("include", "src", "")
_HEADERS: Final = (".h", ".hpp", ".hh", ".hxx", ".ipp", ".tpp", ".inl")
_LARGEST: Final = 8 << 20


@dataclass(frozen=True)
class Unit:
    """One file and the options that it is compiled with."""

    path: RepoPath
    arguments: tuple[str, ...]
    is_guess: bool = False  # the options are not those of a build


@dataclass(frozen=True)
class Trees:
    """The copy that is compiled, and the tree that it is a copy of, which may have what git ignores."""

    scratch: Path
    original: Path | None = None


def is_header(path: str) -> bool:
    """Whether a file is one that others include."""
    return path.endswith(_HEADERS)


def recorded_units(trees: Trees, context: ContextFiles) -> list[Unit]:
    """The units of the compilation database of a build; none where there is no such file."""
    entries = _read_entries(trees, context)
    roots = Counter(root for one in entries if (root := _root_of(one, context.files)))
    root = roots.most_common(1)[0][0] if roots else str(trees.original or trees.scratch)
    files = set(context.files)
    units = [
        Unit(path, tuple(safe_options(one.arguments, partial(_moved_path, one, root, trees))))
        for one in entries
        if (path := RepoPath(_absolute(one.file, one.directory).removeprefix(f"{root}/"))) in files
    ]
    return list(dict.fromkeys(units))


def guessed_units(trees: Trees, context: ContextFiles, paths: Iterable[RepoPath]) -> list[Unit]:
    """Units of files that no build has recorded, with the directories that their includes lead to."""
    near, far = _include_roots(trees.scratch, context)
    options = [option for one in near for option in ("-iquote", str(trees.scratch / one))]
    options += [option for one in far for option in ("-idirafter", str(trees.scratch / one))]
    return [Unit(path, tuple(options), is_guess=True) for path in paths]


def safe_options(arguments: Sequence[str], resolve: Callable[[str], str]) -> Iterator[str]:
    """The options of a command that say how a file is read, with paths as `resolve` gives them."""
    rest = iter(arguments)
    for one in rest:
        if one in _CARRIERS:
            next(rest, None)
        elif one in _PLAIN or one.startswith("-std="):
            yield one
        elif one == "-x" or (one.startswith("-x") and one[2:] in _LANGUAGES):
            language = next(rest, "") if one == "-x" else one[2:]
            if language in _LANGUAGES:
                yield from ("-x", language)
        elif option := next((name for name in _VALUES if one.startswith(name)), ""):
            value = one[len(option) :] or next(rest, "")
            if value:
                yield option + value
        elif one.startswith("--sysroot="):
            yield "--sysroot=" + resolve(one.partition("=")[2])
        else:
            option = next((name for name in _PATHS if one.startswith(name)), "")
            if option and (path := one[len(option) :] or next(rest, "")):
                yield from (option, resolve(path))


@dataclass(frozen=True)
class _Entry:
    directory: str
    file: str
    arguments: tuple[str, ...]


def _read_entries(trees: Trees, context: ContextFiles) -> list[_Entry]:
    for path in _databases(trees, context):
        try:
            records = decode_json(content(path).decode("utf-8", "replace"))
        except Malformed:
            continue
        if isinstance(records, list):
            return [entry for one in records if isinstance(one, Mapping) and (entry := _entry(one))]
    return []


def _databases(trees: Trees, context: ContextFiles) -> Iterator[Path]:
    """Where a build leaves its compilation database: in the root, or in a directory for what is built."""
    for tree in (trees.scratch, trees.original):
        if tree is not None:
            home = tree / context.root
            yield from (
                one for one in (home / COMMANDS, *sorted(home.glob(f"*/{COMMANDS}"))) if one.is_file()
            )


def _entry(record: Mapping[str, object]) -> _Entry | None:
    directory, file = record.get("directory"), record.get("file")
    words, command = record.get("arguments"), record.get("command")
    if not isinstance(directory, str) or not isinstance(file, str):
        return None
    if isinstance(words, list):
        return _Entry(directory, file, tuple(str(one) for one in words[1:]))
    try:
        return _Entry(directory, file, tuple(shlex.split(command)[1:])) if isinstance(command, str) else None
    except ValueError:
        return None


def _absolute(path: str, directory: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def _root_of(entry: _Entry, files: Sequence[RepoPath]) -> str:
    """The directory that the repository had where the command was recorded."""
    full = _absolute(entry.file, entry.directory)
    endings = [path for path in files if full.endswith(f"/{path}")]
    return full.removesuffix(f"/{max(endings, key=len)}") if endings else ""


def _moved_path(entry: _Entry, root: str, trees: Trees, path: str) -> str:
    """A path of the recorded tree in the copy, or where only the original has it, there."""
    full = _absolute(path, entry.directory)
    if full != root and not full.startswith(f"{root}/"):
        return full
    below = full.removeprefix(root).removeprefix("/")
    if trees.original is None or (trees.scratch / below).exists():
        return str(trees.scratch / below)
    return str(trees.original / below)


def _include_roots(scratch: Path, context: ContextFiles) -> tuple[list[str], list[str]]:
    """Directories that `#include "…"` and `#include <…>` are relative to, where only one file fits."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in context.files:
        by_name[posixpath.basename(path)].append(path)
    roots: dict[bytes, Counter[str]] = {b'"': Counter(), b"<": Counter()}
    for path in context.files:
        data = content(scratch / path)
        for mark, name in set(_INCLUDE.findall(data if len(data) <= _LARGEST else b"")):
            if (root := _root_for(name.decode("utf-8", "replace"), path, by_name)) is not None:
                roots[mark][root] += 1
    usual = [one for one in _USUAL_ROOTS if (scratch / context.root / one).is_dir()]
    usual = [posixpath.join(context.root, one) if context.root else one for one in usual]
    return [*dict.fromkeys([*usual, *sorted(roots[b'"'])])], [*dict.fromkeys([*usual, *sorted(roots[b"<"])])]


def _root_for(name: str, path: str, by_name: Mapping[str, Sequence[str]]) -> str | None:
    """The directory that an include is relative to; None where it is beside the file, missing or unclear."""
    text = posixpath.normpath(name)
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    names = by_name.get(posixpath.basename(text), ())
    if text.startswith("../") or beside in names:
        return None
    fitting = [one for one in names if one == text or one.endswith(f"/{text}")]
    return fitting[0].removesuffix(text).rstrip("/") if len(fitting) == 1 else None
