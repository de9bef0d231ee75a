"""Listing, cloning, updating and adding submodules. Nothing that they name is ever run."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed, InvalidArgument, NotFound, WorkAtRisk
from codeplane.git.ops.checkout import CheckoutTarget, check_out
from codeplane.git.ops.gitmodules import (
    FILE,
    Module,
    ModuleStatus,
    check_name,
    check_place,
    file_entry,
    module_dir,
    opened_module,
    put_section,
    select_modules,
    status_of,
)
from codeplane.git.remote.fetch import apply_fetch, fetch_objects
from codeplane.git.remote.remotes import Upstream, find_remote, list_remotes, remote_for, set_tracking
from codeplane.git.remote.transfer import Connection
from codeplane.git.repo.config import config_text
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.repository import Repository, open_repository
from codeplane.git.repo.urls import resolved_url, shown_url
from codeplane.git.worktree.checkout_tree import check_out_tree
from codeplane.git.worktree.index_writer import edited_index
from codeplane.jail import shown

_ORIGIN: Final = "origin"
_DEEPEST: Final = 10


@dataclass(frozen=True)
class ModulesOutcome(Outcome):
    """The outcome of an operation on submodules, with a line for each."""

    lines: tuple[str, ...] = ()


def list_statuses(
    repository: Repository, selection: Selection, *, recursive: bool, above: str = "", depth: int = 0
) -> Iterator[tuple[str, ModuleStatus]]:
    """The status of each submodule by its path from the top; nested ones follow their parents."""
    with repository.opened() as handle:
        for module in select_modules(repository, handle, selection):
            status = status_of(repository, handle, module)
            yield f"{above}{module.path}", status
            inner = opened_module(repository, module) if recursive and depth < _DEEPEST else None
            if inner is not None:
                path = f"{above}{module.path}/"
                yield from list_statuses(inner, Selection(), recursive=True, above=path, depth=depth + 1)


def init_modules(repository: Repository, selection: Selection) -> ModulesOutcome:
    """Copies the URLs of submodules into the configuration, where the user may change them."""
    with repository.opened() as handle:
        lines = [
            f"{shown(module.path)}: {shown_url(_activate_module(repository, handle, module))}"
            for module in select_modules(repository, handle, selection)
        ]
    return ModulesOutcome(f"initialised {len(lines)} submodules", lines=tuple(lines))


def update_modules(
    connection: Connection, selection: Selection, *, recursive: bool, force: bool
) -> ModulesOutcome:
    """Checks out the commits that the index records; clones and fetches where needed."""
    lines: list[str] = []
    notes: list[str] = []
    autosave_ref = None
    for path, note in _update_each(
        connection, selection, recursive=recursive, force=force, above="", depth=0
    ):
        lines.append(f"{shown(path)}: {note.summary}")
        notes += note.notes
        autosave_ref = note.saved or autosave_ref
    return ModulesOutcome(
        f"updated {len(lines)} submodules", saved=autosave_ref, notes=tuple(notes), lines=tuple(lines)
    )


def add_module(connection: Connection, path: str, url: str, name: str | None = None) -> ModulesOutcome:
    """Clones a repository into the tree, and stages it with its entry in `.gitmodules`."""
    repository = connection.repository
    with repository.opened() as handle:
        check_place(repository, handle, path)
        _check_free(repository, handle, path)
        module = Module(check_name(name or path), path, url, None)
        git_dir = module_dir(repository, module.name)
        if git_dir.exists():
            raise InvalidArgument(f"{git_dir} already exists, from an earlier submodule.")
        address = resolved_url(url, _base_url(repository, handle))
        connection.check_address(address)
        try:
            inner = _laid_out(repository, module, address)
            commit, branch = _clone_module(replace(connection, repository=inner))
        except BaseException:
            shutil.rmtree(git_dir, ignore_errors=True)
            shutil.rmtree(repository.root / path, ignore_errors=True)
            raise
        put_section(repository.root, module.name, {"path": path, "url": url})
        with edited_index(repository, handle) as index:
            index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=commit), pygit2.enums.FileMode.COMMIT))
            index.add(file_entry(handle))
        handle.config[f"submodule.{module.name}.url"] = address
        handle.config[f"submodule.{module.name}.active"] = "true"
    summary = f"{shown(path)}: {branch or 'detached'} at {short_oid(commit)}"
    return ModulesOutcome(f"added submodule {shown(path)} from {shown_url(address)}", lines=(summary,))


def sync_modules(repository: Repository, selection: Selection, *, recursive: bool) -> ModulesOutcome:
    """Copies the URLs of `.gitmodules` to the configuration and to the submodules' remotes."""
    lines: list[str] = []
    with repository.opened() as handle:
        for module in select_modules(repository, handle, selection):
            if config_text(handle, f"submodule.{module.name}.url") is None:
                continue
            address = _activate_module(repository, handle, module, again=True)
            inner = opened_module(repository, module)
            if inner is not None:
                with inner.opened() as own:
                    own.config[f"remote.{_ORIGIN}.url"] = address
                if recursive:
                    lines += sync_modules(inner, Selection(), recursive=True).lines
            lines.append(f"{shown(module.path)}: {shown_url(address)}")
    return ModulesOutcome(f"synchronised {len(lines)} submodules", lines=tuple(lines))


def _update_each(
    connection: Connection, selection: Selection, *, recursive: bool, force: bool, above: str, depth: int
) -> Iterator[tuple[str, Outcome]]:
    repository = connection.repository
    with repository.opened() as handle:
        modules = select_modules(repository, handle, selection)
    for module in modules:
        with repository.opened() as handle:
            if config_text(handle, f"submodule.{module.name}.update") == "none":
                yield f"{above}{module.path}", Outcome("left alone: submodule.update is none")
                continue
            address = _activate_module(repository, handle, module)
        inner = opened_module(repository, module) or _restore_module(connection, module, address)
        yield (
            f"{above}{module.path}",
            _update_module(replace(connection, repository=inner), module, force=force),
        )
        if recursive and depth < _DEEPEST:
            down = replace(connection, repository=inner)
            path = f"{above}{module.path}/"
            yield from _update_each(
                down, Selection(), recursive=True, force=force, above=path, depth=depth + 1
            )


def _update_module(connection: Connection, module: Module, *, force: bool) -> Outcome:
    """Checks out the recorded commit in a submodule."""
    inner, commit = connection.repository, module.recorded_commit or ""
    with inner.opened() as own:
        is_there = commit in own
        remote = find_remote(own, _ORIGIN)
        here = None if own.head_is_unborn else str(own.head.target)
    if here == commit:
        return Outcome(f"at {short_oid(commit)}")
    if not is_there:
        with fetch_objects(connection, remote) as fetch:
            apply_fetch(inner, fetch, prune=False, merges=[])
        with inner.opened() as own:
            if commit not in own:
                raise NotFound(
                    f"{shown_url(remote.url)} has no commit {commit} for the submodule {shown(module.path)}.",
                    hints=["It was not pushed, or the address has changed (action sync)."],
                )
    result = check_out(inner, connection.programs, CheckoutTarget(commit), force=force)
    return Outcome(f"now at {short_oid(commit)}", notes=result.notes, saved=result.saved)


def _clone_module(connection: Connection) -> tuple[str, str | None]:
    """Fetches everything and checks out the remote's HEAD."""
    inner = connection.repository
    with inner.opened() as own:
        remote = find_remote(own, _ORIGIN)
    with fetch_objects(connection, remote) as fetch:
        apply_fetch(inner, fetch, prune=False, merges=[])
        exchange = fetch.exchange
    commit = exchange.heads.get("HEAD")
    if commit is None:
        raise GitFailed(f"{shown_url(remote.url)} has no commit to check out.")
    branch = exchange.head if exchange.head and exchange.head.startswith(BRANCHES) else None
    check_out(inner, connection.programs, CheckoutTarget(commit, branch, is_new=branch is not None))
    if branch is not None:
        with inner.opened() as own:
            set_tracking(own, branch.removeprefix(BRANCHES), Upstream(_ORIGIN, branch))
    return commit, branch.removeprefix(BRANCHES) if branch else None


def _laid_out(repository: Repository, module: Module, address: str) -> Repository:
    """Creates the submodule's git directory, if it has none, and links its working tree."""
    git_dir, root = module_dir(repository, module.name), repository.root / module.path
    if root.exists() and any(root.iterdir()):
        raise WorkAtRisk(f"{shown(module.path)} is not empty and not a checkout of the submodule.")
    if not (git_dir / "HEAD").exists():
        pygit2.init_repository(str(git_dir), bare=True, initial_head="main")
    root.mkdir(parents=True, exist_ok=True)
    config = pygit2.Config(str(git_dir / "config"))
    config["core.bare"] = "false"
    config["core.worktree"] = os.path.relpath(root, git_dir)
    config[f"remote.{_ORIGIN}.url"] = address
    config[f"remote.{_ORIGIN}.fetch"] = f"+refs/heads/*:refs/remotes/{_ORIGIN}/*"
    (root / ".git").write_bytes(b"gitdir: " + os.fsencode(os.path.relpath(git_dir, root)) + b"\n")
    (git_dir / "index").unlink(missing_ok=True)  # it describes files that are gone
    return open_repository(root, trusted=repository.trusted)


def _restore_module(connection: Connection, module: Module, address: str) -> Repository:
    """Opens a submodule that was not checked out, creating it where needed."""
    connection.check_address(address)
    inner = _laid_out(connection.repository, module, address)
    with inner.opened() as own:
        if not own.head_is_unborn:
            check_out_tree(inner, connection.programs, own, str(own.head.peel(pygit2.Tree).id), whole=True)
    return inner


def _activate_module(
    repository: Repository, handle: pygit2.Repository, module: Module, *, again: bool = False
) -> str:
    configured_url = config_text(handle, f"submodule.{module.name}.url")
    if configured_url is not None and not again:
        return resolved_url(configured_url, _base_url(repository, handle))
    if module.url is None:
        raise NotFound(f"{FILE} has no address for the submodule {shown(module.path)}.")
    address = resolved_url(module.url, _base_url(repository, handle))
    handle.config[f"submodule.{module.name}.active"] = "true"
    handle.config[f"submodule.{module.name}.url"] = address
    return address


def _base_url(repository: Repository, handle: pygit2.Repository) -> str | None:
    """The base of relative URLs: the branch's remote, else the repository itself."""
    if not list_remotes(handle):
        return str(repository.root)
    return remote_for(handle, repository.head().branch).url


def _check_free(repository: Repository, handle: pygit2.Repository, path: str) -> None:
    place = repository.root / path
    if path in handle.index or any(entry.path.startswith(f"{path}/") for entry in handle.index):
        raise InvalidArgument(f"{shown(path)} is already in the index.")
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidArgument(f"{shown(path)} already exists and is not empty.")
