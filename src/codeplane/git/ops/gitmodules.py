"""The submodules listed in `.gitmodules`, which is validated before anything uses it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pygit2

from codeplane.core.errors import CodePlaneError, GitFailed, PathRefused
from codeplane.git.repo.config import config_text
from codeplane.git.repo.objects import SUBMODULE
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.repository import Repository, open_repository
from codeplane.git.worktree.files import WorkTree
from codeplane.jail import is_closed, shown
from codeplane.storage.files import read_small, write_public

FILE: Final = ".gitmodules"
State = Literal["absent", "ok", "moved", "modified", "conflict", "not listed"]

_LARGEST: Final = 1 << 20
_HEADER = re.compile(r'^\s*\[\s*submodule\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_ANY_HEADER = re.compile(r"^\s*\[")
_VALUE = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True)
class Module:
    """One submodule. Its name is where its git directory is kept; its path is where it is checked out."""

    name: str
    path: str
    url: str | None
    recorded_commit: str | None  # in the index
    branch: str | None = None


@dataclass(frozen=True)
class ModuleStatus:
    module: Module
    state: State
    is_active: bool
    commit: str | None = None


def list_modules(repository: Repository, handle: pygit2.Repository) -> list[Module]:
    """The submodules of the index, with what `.gitmodules` says of them; a bad name or path is refused."""
    sections = {
        values.get("path", name): (name, values)
        for name, values in _parse_sections(_read_gitmodules(repository.root))
    }
    modules = []
    for entry in handle.index:
        if int(entry.mode) == SUBMODULE:
            name, values = sections.get(entry.path, (entry.path, {}))
            check_name(name)
            check_place(repository, handle, entry.path)
            url = values.get("url")
            modules.append(Module(name, entry.path, url, str(entry.id), values.get("branch")))
    return modules


def select_modules(repository: Repository, handle: pygit2.Repository, selection: Selection) -> list[Module]:
    """The selected submodules; a path that is not a submodule is refused."""
    every = list_modules(repository, handle)
    missing = selection.missing([module.path for module in every])
    if missing:
        raise PathRefused(f"Not a submodule: {', '.join(map(shown, missing))}.")
    return [module for module in every if module.path in selection]


def module_dir(repository: Repository, name: str) -> Path:
    """Where a submodule's git directory is kept; never inside another one, never behind a link."""
    base = repository.git_dir / "modules"
    place = base / check_name(name)
    for part in (base, *(base / parent for parent in reversed(Path(name).parents)), place):
        if part.is_symlink():
            raise PathRefused(f"{part} is a symbolic link: submodules there are ignored.")
        if part not in (base, place) and (part / "HEAD").exists():
            raise PathRefused(f"The submodule {name!r} would be inside another one.")
    return place


def opened_module(repository: Repository, module: Module) -> Repository | None:
    """The submodule's repository, if it is checked out and belongs to this one."""
    root = repository.root / module.path
    if not (root / ".git").is_file() and not (root / ".git").is_dir():
        return None
    try:
        return open_repository(root, trusted=repository.trusted)
    except CodePlaneError:
        return None


def status_of(repository: Repository, handle: pygit2.Repository, module: Module) -> ModuleStatus:
    is_active = config_text(handle, f"submodule.{module.name}.url") is not None
    inner = opened_module(repository, module)
    if inner is None:
        return ModuleStatus(module, "absent", is_active)
    commit = inner.head().commit
    with inner.opened() as own:
        ignore_flag = pygit2.enums.FileStatus.IGNORED
        is_dirty = any(not flags & ignore_flag for flags in own.status(untracked_files="normal").values())
    state: State = "ok"
    if is_unmerged(handle, module.path):
        state = "conflict"
    elif module.url is None:
        state = "not listed"
    elif commit != module.recorded_commit:
        state = "moved"
    elif is_dirty:
        state = "modified"
    return ModuleStatus(module, state, is_active, commit)


def is_unmerged(handle: pygit2.Repository, path: str) -> bool:
    conflicts = handle.index.conflicts
    return conflicts is not None and path in conflicts


def check_name(name: str) -> str:
    """Refuses a name that leads out of `modules` or reads as an option."""
    parts = re.split(r"[/\\]", name)
    is_bad = not name or name.startswith("-") or not name.isprintable()
    if is_bad or any(part in ("", ".", "..") or is_closed(part) for part in parts):
        raise PathRefused(f"{shown(name)!r} is not a valid name for a submodule.")
    return name


def check_place(repository: Repository, handle: pygit2.Repository, path: str) -> None:
    """Refuses a submodule whose place is behind a link or reads as an option."""
    if path.startswith("-") or any(part in ("", ".", "..") or is_closed(part) for part in path.split("/")):
        raise PathRefused(f"{shown(path)!r} is not a valid path for a submodule.")
    in_the_way = WorkTree(handle, repository.root).blocker(path)
    place = repository.root / path
    if in_the_way is not None or place.is_symlink():
        raise PathRefused(f"{shown(in_the_way or path)} is in the way of the submodule {shown(path)}.")


def put_section(root: Path, name: str, values: dict[str, str]) -> None:
    """Sets a submodule's section in `.gitmodules`."""
    others = _without_section(_read_gitmodules(root), name)
    lines = "".join(f"\t{key} = {_quote(value)}\n" for key, value in values.items())
    body = f'{others}[submodule "{_escape(name)}"]\n{lines}'
    write_public(root / FILE, body.encode("utf-8", "surrogateescape"))


def drop_section(root: Path, name: str) -> bool:
    """Removes a submodule's section from `.gitmodules`; tells whether any section is left."""
    others = _without_section(_read_gitmodules(root), name)
    write_public(root / FILE, others.encode("utf-8", "surrogateescape"))
    return bool(others.strip())


def _read_gitmodules(root: Path) -> str:
    file = root / FILE
    if not file.is_symlink() and not file.exists():
        return ""
    data = read_small(file, _LARGEST)
    if data is None:
        raise GitFailed(f"{FILE} is not a regular file, or is too large.")
    return data.decode("utf-8", "surrogateescape")


def _parse_sections(data: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The sections by name, in git's config format without includes, which git ignores here too."""
    name, values = None, dict[str, str]()
    for line in data.splitlines():
        header = _HEADER.match(line)
        if _ANY_HEADER.match(line):
            if name is not None:
                yield name, values
            name, values = (re.sub(r"\\(.)", r"\1", header[1]), {}) if header else (None, {})
            line = line[header.end() :] if header else ""
        if name is not None and (value := _VALUE.match(line)):
            values[value[1].lower()] = _unquote(value[2])
    if name is not None:
        yield name, values


def _without_section(data: str, name: str) -> str:
    others, is_in = [], False
    for line in data.splitlines(keepends=True):
        if _ANY_HEADER.match(line):
            header = _HEADER.match(line)
            is_in = header is not None and re.sub(r"\\(.)", r"\1", header[1]) == name
        if not is_in:
            others.append(line)
    text_kept = "".join(others)
    return text_kept if not text_kept or text_kept.endswith("\n") else text_kept + "\n"


def _unquote(value: str) -> str:
    if value.startswith('"'):
        inner = re.match(r'"((?:[^"\\]|\\.)*)"', value)
        return re.sub(r"\\(.)", r"\1", inner[1]) if inner else value
    return re.split(r"\s[#;]", value, maxsplit=1)[0].strip()


def _quote(value: str) -> str:
    return f'"{_escape(value)}"' if re.search(r'[#;"\\]|^\s|\s$', value) else value


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def file_entry(handle: pygit2.Repository) -> pygit2.IndexEntry:
    """The entry of git's index for `.gitmodules` as it is now."""
    return pygit2.IndexEntry(FILE, handle.create_blob_fromworkdir(FILE), pygit2.enums.FileMode.BLOB)
