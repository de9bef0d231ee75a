"""The configured remotes, and which of them a branch uses."""

from dataclasses import dataclass
from typing import Final, Literal

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git.remote.refspecs import Refspec, text_names
from codeplane.git.repo.config import config_flag
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.ref_names import remote_name
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.urls import checked_url, shown_url

Tags = Literal["auto", "all", "none"]

_HEADS: Final = "refs/heads/"
_TAG_OPTIONS: Final[dict[str, Tags]] = {"--tags": "all", "--no-tags": "none"}
_USUAL: Final = "origin"


@dataclass(frozen=True)
class Remote:
    """A configured remote. URLs may hold passwords: `shown_url` hides them."""

    name: str
    url: str
    push_url: str
    specs: tuple[Refspec, ...]
    tags: Tags = "auto"
    prune: bool = False


@dataclass(frozen=True)
class Upstream:
    """What a branch tracks: a reference of a remote; `.` is the repository itself."""

    remote: str
    ref: str

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(_HEADS)


def list_remotes(handle: pygit2.Repository) -> list[Remote]:
    """Every remote that has a URL."""
    names = sorted(name for name in handle.remotes.names() if name)
    return [remote for name in names if (remote := _read_remote(handle, name)) is not None]


def find_remote(handle: pygit2.Repository, name: str) -> Remote:
    remote = _read_remote(handle, remote_name(name))
    if remote is None:
        names = [remote.name for remote in list_remotes(handle)]
        raise NotFound(
            f"There is no remote {shown_url(name)!r}.",
            hints=[f"Remotes: {', '.join(map(shown_url, names))}." if names else Remedy(Fix.ADD_REMOTE)],
        )
    return remote


def upstream_of(handle: pygit2.Repository, branch: str | None) -> Upstream | None:
    """What a branch tracks, by the configuration."""
    if branch is None:
        return None
    remote = _setting(handle, f"branch.{branch}.remote")
    ref = _setting(handle, f"branch.{branch}.merge")
    return Upstream(remote, ref) if remote and ref else None


def remote_for(handle: pygit2.Repository, branch: str | None, *, pushes: bool = False) -> Remote:
    """The remote of a branch: its own, else the only one, else `origin`."""
    keys = [f"branch.{branch}.pushRemote", "remote.pushDefault"] if pushes else []
    for key in (*keys, f"branch.{branch}.remote"):
        name = _setting(handle, key) if branch is not None or "branch." not in key else None
        if name and name != "." and (remote := _read_remote(handle, name)) is not None:
            return remote
    remotes = list_remotes(handle)
    if len(remotes) == 1:
        return remotes[0]
    return find_remote(handle, _USUAL)


def set_tracking(handle: pygit2.Repository, branch: str, upstream: Upstream) -> None:
    """Makes a branch track a reference of a remote."""
    handle.config[f"branch.{branch}.remote"] = upstream.remote
    handle.config[f"branch.{branch}.merge"] = upstream.ref


def add_remote(repository: Repository, name: str, url: str) -> Outcome:
    remote_name(name), checked_url(url)
    with repository.opened() as handle:
        if _read_remote(handle, name) is not None:
            raise InvalidArgument(f"Remote {name!r} already exists.", hints=[Remedy(Fix.SET_URL)])
        handle.remotes.create(name, url)
    return Outcome(f"added remote {name}: {shown_url(url)}")


def remove_remote(repository: Repository, name: str) -> Outcome:
    """Removes a remote, its tracking branches, and the upstream settings that name it."""
    with repository.opened() as handle:
        find_remote(handle, name)
        refs = [ref for ref in text_names(handle) if ref.startswith(f"refs/remotes/{name}/")]
        handle.remotes.delete(name)
        for ref in refs:
            if handle.references.get(ref) is not None:
                handle.references.delete(ref)
    return Outcome(f"removed remote {name} and {len(refs)} tracking references")


def rename_remote(repository: Repository, name: str, new_name: str) -> Outcome:
    """Renames a remote, its tracking branches, and the upstream settings that name it."""
    with repository.opened() as handle:
        find_remote(handle, name)
        if _read_remote(handle, remote_name(new_name)) is not None:
            raise InvalidArgument(f"Remote {new_name!r} already exists.")
        problems = handle.remotes.rename(name, new_name)
    notes = tuple(f"The refspec {problem} was not changed." for problem in problems)
    return Outcome(f"renamed remote {name} to {new_name}", notes=notes)


def set_remote_url(repository: Repository, name: str, url: str, *, pushes: bool = False) -> Outcome:
    checked_url(url)
    with repository.opened() as handle:
        find_remote(handle, name)
        (handle.remotes.set_push_url if pushes else handle.remotes.set_url)(name, url)
    return Outcome(f"remote {name} is now {shown_url(url)}{' for pushing' if pushes else ''}")


def _read_remote(handle: pygit2.Repository, name: str) -> Remote | None:
    # Not libgit2's own remote, whose URL is already rewritten by the repository's `url.*.insteadOf`.
    url = _setting(handle, f"remote.{name}.url")
    if not url:
        return None
    texts = handle.config.get_multivar(f"remote.{name}.fetch")
    specs = tuple(spec for text in texts if (spec := Refspec.parse(str(text))) is not None)
    push_url = _setting(handle, f"remote.{name}.pushurl") or url
    tags = _TAG_OPTIONS.get(_setting(handle, f"remote.{name}.tagOpt") or "", "auto")
    prune = config_flag(handle, f"remote.{name}.prune", default=config_flag(handle, "fetch.prune"))
    return Remote(name, url, push_url, specs, tags, prune)


def _setting(handle: pygit2.Repository, key: str) -> str | None:
    try:
        return str(handle.config[key])
    except (KeyError, ValueError):
        return None
