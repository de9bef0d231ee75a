"""Listing, creating, locking and pruning linked worktrees, below the allowed directories."""

import os
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git.ops.checkout import CheckoutTarget, check_out, find_target, new_branch
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.outcome import Outcome, list_names
from codeplane.git.repo.repository import Repository, open_repository
from codeplane.jail import shown
from codeplane.process import Programs
from codeplane.storage.files import read_small, remove_tree, write_public

_LARGEST: Final = 8192
_MOST_NAMED: Final = 20
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Worktree:
    """One checkout of the repository. The primary has no name; one whose directory is gone is `gone`."""

    path: Path
    git_dir: Path
    name: str | None = None
    branch: str | None = None
    commit: str | None = None
    lock: str | None = None  # with the reason, which may be empty
    is_missing: bool = False


@dataclass(frozen=True)
class WorktreeOutcome(Outcome):
    """The outcome of a worktree operation, with the path of a new one."""

    path: str | None = None


@dataclass(frozen=True)
class Roots:
    """The directories that worktrees may be made in and removed from; the first is where a bare name goes."""

    places: tuple[Path, ...]

    @classmethod
    def of(cls, repository: Repository, settings: Sequence[str]) -> "Roots":
        base = primary_root(repository)
        usual = base.with_name(f"{base.name}.worktrees")
        directories = [base / os.path.expanduser(setting) for setting in settings]  # noqa: PTH111 - kept if it is no home
        return cls(tuple(Path(os.path.realpath(directory)) for directory in directories or [usual]))

    def enter(self, text: str) -> Path:
        """Resolves a path from outside; it must be below one of the roots."""
        if not text or not text.isprintable() or text.startswith("-") or ".." in Path(text).parts:
            raise InvalidArgument(f"{text!r} is not a valid place for a worktree.")
        place = Path(os.path.realpath(self.places[0] / text))
        if not any(place != root and place.is_relative_to(root) for root in self.places):
            raise InvalidArgument(
                f"{text} is not in a directory for worktrees.",
                hints=[f"Below {root}." for root in self.places],
            )
        return place


def primary_root(repository: Repository) -> Path:
    """The checkout that all linked ones belong to."""
    return repository.primary() or repository.root


def describe_place(repository: Repository) -> str | None:
    """One line for whoever works in a linked worktree; None in the primary checkout."""
    primary = repository.primary()
    if primary is None:
        return None
    here = f"linked worktree {shown(repository.worktree_name)} at {repository.root}"
    return f"{here}; the main checkout {primary} is out of reach"


def list_worktrees(repository: Repository) -> list[Worktree]:
    """The primary checkout first, then the linked ones by name."""
    common = repository.common_dir
    directory = common / "worktrees"
    names = (
        sorted(entry.name for entry in directory.iterdir() if entry.is_dir()) if directory.is_dir() else []
    )
    with repository.opened() as handle:
        worktrees = [_with_head(handle, Worktree(primary_root(repository), common))]
        return worktrees + [_with_head(handle, _read_worktree(directory / name)) for name in names]


def find_worktree(repository: Repository, text: str) -> Worktree:
    """A linked worktree by its name, or by its path or the end of it."""
    worktrees = [worktree for worktree in list_worktrees(repository) if worktree.name is not None]
    query = text.rstrip("/")
    for fits in (
        [
            worktree
            for worktree in worktrees
            if str(worktree.path) == os.path.realpath(query) or str(worktree.path) == query
        ],
        [worktree for worktree in worktrees if worktree.name == query],
        [worktree for worktree in worktrees if str(worktree.path).endswith(f"/{query}")],
    ):
        if len(fits) == 1:
            return fits[0]
    paths = ", ".join(shown(str(worktree.path)) for worktree in worktrees[:_MOST_NAMED])
    raise NotFound(f"There is no worktree {text!r}.", hints=[f"Worktrees: {paths}."] if paths else [])


def plan_target(repository: Repository, place: Path, ref: str | None, create: str | None) -> CheckoutTarget:
    """What a new worktree checks out: a branch, a new branch, or a commit."""
    if create is not None:
        target = new_branch(repository, create, ref)
    elif ref is not None:
        target = find_target(repository, ref)
    else:
        with repository.opened() as handle:
            has_branch = f"{BRANCHES}{place.name}" in handle.references
        target = (
            find_target(repository, place.name) if has_branch else new_branch(repository, place.name, None)
        )
    if target.commit is None:
        raise InvalidArgument("The repository has no commit yet: a worktree needs one.")
    return target


def add_worktree(
    repository: Repository, programs: Programs, place: Path, target: CheckoutTarget
) -> WorktreeOutcome:
    """Creates a worktree; if that fails, nothing is left behind."""
    if os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
        raise InvalidArgument(f"{place} already exists and is not empty.")
    directory = repository.common_dir / "worktrees"
    admin = directory / _free_name(directory, place.name)
    was_there = place.is_dir()
    place.mkdir(parents=True, exist_ok=True)
    try:
        _lay_out(admin, place)
        checkout = open_repository(place, trusted=repository.trusted)
        result = check_out(checkout, programs, target, is_empty=True)
    except BaseException:
        shutil.rmtree(admin, ignore_errors=True)
        for entry in place.iterdir() if was_there else ():
            shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink()
        if not was_there:
            shutil.rmtree(place, ignore_errors=True)
        raise
    return WorktreeOutcome(f"created worktree {place}: {result.summary}", notes=result.notes, path=str(place))


def lock_worktree(worktree: Worktree, reason: str) -> WorktreeOutcome:
    """Keeps a worktree from being removed or pruned."""
    if worktree.lock is not None:
        raise InvalidArgument(f"{worktree.path} is already locked{lock_reason(worktree)}.")
    write_public(worktree.git_dir / "locked", reason.encode("utf-8", "surrogateescape"))
    return WorktreeOutcome(f"locked worktree {worktree.path}")


def unlock_worktree(worktree: Worktree) -> WorktreeOutcome:
    if worktree.lock is None:
        raise InvalidArgument(f"{worktree.path} is not locked.")
    (worktree.git_dir / "locked").unlink()
    return WorktreeOutcome(f"unlocked worktree {worktree.path}")


def prune_worktrees(repository: Repository) -> WorktreeOutcome:
    """Forgets worktrees whose directories are gone, except locked ones."""
    stale = [
        worktree for worktree in list_worktrees(repository) if worktree.is_missing and worktree.lock is None
    ]
    for worktree in stale:
        remove_tree(worktree.git_dir)
    names = f": {list_names(str(one.path) for one in stale)}" if stale else ""
    return WorktreeOutcome(f"pruned {len(stale)} worktrees{names}")


def _read_worktree(git_dir: Path) -> Worktree:
    link_text = os.fsdecode((read_small(git_dir / "gitdir", _LARGEST) or b"").strip())
    link = Path(os.path.normpath(git_dir / link_text)) if link_text else git_dir / "nowhere"
    back = os.fsdecode((read_small(link, _LARGEST) or b"").strip()).removeprefix("gitdir:").strip()
    is_own = bool(back) and os.path.realpath(link.parent / back) == os.path.realpath(git_dir)
    lock = read_small(git_dir / "locked", _LARGEST)
    reason = lock.decode("utf-8", "replace").strip() if lock is not None else None
    return Worktree(link.parent, git_dir, git_dir.name, lock=reason, is_missing=not is_own)


def _with_head(handle: pygit2.Repository, worktree: Worktree) -> Worktree:
    text = (read_small(worktree.git_dir / "HEAD", _LARGEST) or b"").decode("utf-8", "surrogateescape").strip()
    branch = text.removeprefix("ref: ") if text.startswith("ref: ") else None
    target = handle.references.get(branch) if branch else None
    commit = text if branch is None else str(target.target) if target is not None else None
    short = branch.removeprefix(BRANCHES) if branch else None
    return Worktree(
        worktree.path,
        worktree.git_dir,
        worktree.name,
        short,
        commit or None,
        worktree.lock,
        worktree.is_missing,
    )


def _free_name(directory: Path, basis: str) -> str:
    name = _UNFIT.sub("-", basis).strip(".-") or "worktree"
    return next(
        candidate
        for candidate in (name, *(f"{name}{n}" for n in range(1, 10_000)))
        if not os.path.lexists(directory / candidate)
    )


def _lay_out(admin: Path, place: Path) -> None:
    """Creates an unborn worktree for the checkout to fill."""
    admin.mkdir(parents=True)
    (admin / "HEAD").write_text(f"ref: {BRANCHES}codeplane/unborn-{secrets.token_hex(4)}\n", encoding="utf-8")
    (admin / "commondir").write_text("../..\n", encoding="utf-8")
    (admin / "gitdir").write_bytes(os.fsencode(place / ".git") + b"\n")
    (place / ".git").write_bytes(b"gitdir: " + os.fsencode(admin) + b"\n")


def lock_reason(worktree: Worktree) -> str:
    """The reason of a lock, in brackets."""
    return f" ({shown(worktree.lock)})" if worktree.lock else ""
