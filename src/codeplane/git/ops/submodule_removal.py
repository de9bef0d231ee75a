"""Removing submodules. Work that exists only in their files is refused or saved; commits stay."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument, WorkAtRisk
from codeplane.git.ops.gitmodules import FILE, Module, drop_section, file_entry, opened_module, select_modules
from codeplane.git.ops.submodules import ModulesOutcome
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import save_work
from codeplane.git.worktree.index_writer import edited_index
from codeplane.jail import shown

_MOST_NAMED: Final = 20


def deinit_modules(repository: Repository, selection: Selection, *, force: bool) -> ModulesOutcome:
    """Removes the files of submodules; their commits stay in the git directory."""
    with repository.opened() as handle:
        modules = select_modules(repository, handle, selection)
        save_notes = _empty_modules(repository, modules, force=force)
        for module in modules:
            _deactivate_module(handle, module)
    paths = tuple(shown(module.path) for module in modules)
    return ModulesOutcome(f"deinitialised {len(paths)} submodules", lines=paths, notes=save_notes)


def remove_modules(repository: Repository, selection: Selection, *, force: bool) -> ModulesOutcome:
    """Removes submodules from tree, index and `.gitmodules`; their commits stay in the git directory."""
    if not selection.paths:
        raise InvalidArgument("The action remove needs paths.")
    with repository.opened() as handle:
        modules = select_modules(repository, handle, selection)
        save_notes = _empty_modules(repository, modules, force=force)
        with edited_index(repository, handle) as index:
            for module in modules:
                _deactivate_module(handle, module)
                is_left = drop_section(repository.root, module.name)
                index.remove(module.path)
                if is_left:
                    index.add(file_entry(handle))
                else:
                    (repository.root / FILE).unlink()
                    if FILE in index:
                        index.remove(FILE)
                place = repository.root / module.path
                if place.is_dir():
                    place.rmdir()
    paths = tuple(shown(module.path) for module in modules)
    return ModulesOutcome(f"removed {len(paths)} submodules", lines=paths, notes=save_notes)


def _deactivate_module(handle: pygit2.Repository, module: Module) -> None:
    prefix = f"submodule.{module.name}."
    for key in {entry.name for entry in handle.config if entry.name.startswith(prefix)}:
        del handle.config[key]


def _empty_modules(repository: Repository, modules: Sequence[Module], *, force: bool) -> tuple[str, ...]:
    """Removes the files of all or of none; tells where work was saved."""
    notes = []
    risks: dict[str, list[str]] = {}
    for module in modules:
        risks |= _at_risk(repository, module)
    if risks and not force:
        work = "; ".join(f"{path}: {', '.join(what[:_MOST_NAMED])}" for path, what in risks.items())
        raise WorkAtRisk(
            f"Submodules have work that exists nowhere else. {work}.",
            hints=["force: true removes it; it is saved first in the submodule's own repository."],
            paths=risks,
        )
    for module in modules:
        inner = opened_module(repository, module)
        if inner is not None:
            with inner.opened() as own:
                files = _local_changes(own)
                autosave_ref = (
                    save_work(inner, own, "before the submodule was removed", files) if files else None
                )
            notes += (
                [f"{shown(module.path)}: work is kept as {autosave_ref} in {inner.git_dir}."]
                if autosave_ref
                else []
            )
        _empty_module(repository, module)
    return tuple(notes)


def _at_risk(repository: Repository, module: Module) -> dict[str, list[str]]:
    inner, place = opened_module(repository, module), repository.root / module.path
    if inner is None:
        names = sorted(entry.name for entry in place.iterdir()) if place.is_dir() else []
        if names:
            raise WorkAtRisk(f"{shown(module.path)} holds files, but is not a checkout of the submodule.")
        return {}
    if not inner.git_dir.is_relative_to(repository.git_dir):
        raise WorkAtRisk(
            f"{shown(module.path)} keeps its repository inside itself.",
            hints=["git submodule absorbgitdirs"],
        )
    with inner.opened() as own:
        work = [shown(path) for path in _local_changes(own)]
    return {shown(module.path): work} if work else {}


def _local_changes(handle: pygit2.Repository) -> list[str]:
    ignore_flag = pygit2.enums.FileStatus.IGNORED
    return sorted(
        path for path, flags in handle.status(untracked_files="all").items() if not flags & ignore_flag
    )


def _empty_module(repository: Repository, module: Module) -> None:
    place: Path = repository.root / module.path
    for entry in place.iterdir() if place.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
