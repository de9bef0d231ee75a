"""Fetching in two steps: the exchange, which changes nothing here, then taking over its result."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pygit2

from codeplane.git.remote.refspecs import RefPair, Refspec, map_refs, text_names
from codeplane.git.remote.remotes import Remote, Tags, Upstream
from codeplane.git.remote.transfer import Connection, Exchange, keep_objects, scratch_of
from codeplane.git.repo.heads import branches_elsewhere
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.urls import shown_url
from codeplane.storage.files import write_public

Move = Literal["new", "updated", "forced", "pruned", "rejected"]

_TAGS: Final = "refs/tags/"
_HEADS: Final = "refs/heads/"
_PEELED: Final = "^{}"


@dataclass(frozen=True)
class RefUpdate:
    """A reference that a fetch or push moved, or refused to move."""

    ref: str
    move: Move
    before: str | None = None
    after: str | None = None
    why: str | None = None


@dataclass(frozen=True)
class FetchResult:
    """What an exchange fetched, before it is taken over."""

    remote: Remote
    exchange: Exchange
    scratch: Path
    specs: tuple[Refspec, ...]
    tags: Tags


@contextmanager
def fetch_objects(
    connection: Connection, remote: Remote, *, branch: str | None = None, tags: Tags | None = None
) -> Iterator[FetchResult]:
    """Runs the exchange. Its result lives as long as the block; `apply_fetch` keeps it."""
    tags = remote.tags if tags is None else tags
    specs = (*_narrow_specs(remote, branch), *((Refspec(f"{_TAGS}*", f"{_TAGS}*"),) if tags == "all" else ()))
    request = {"act": "fetch", "specs": [_spec_text(spec) for spec in specs], "tags": tags}
    with scratch_of(connection.repository) as scratch:
        yield FetchResult(remote, connection.exchange(scratch, remote.url, request), scratch, specs, tags)


def apply_fetch(
    repository: Repository, fetch: FetchResult, *, prune: bool, merges: Sequence[Upstream]
) -> list[RefUpdate]:
    """Keeps the objects, moves the references, writes FETCH_HEAD. `merges` is what the branch tracks."""
    keep_objects(repository, fetch.scratch)
    heads = {name: oid for name, oid in fetch.exchange.heads.items() if not name.endswith(_PEELED)}
    with repository.opened() as handle:
        pairs = map_refs(fetch.specs, heads)
        targets = {pair.target for pair in pairs}
        updates = _prune_refs(handle, fetch, targets) if prune else []
        tags = _reachable_tags(handle, fetch) if fetch.tags == "auto" else []
        pairs += [RefPair(name, name, force=False) for name in tags]
        busy = _checked_out(repository, handle)
        for pair in pairs:
            update = _move_ref(handle, pair, heads[pair.source], fetch.remote.name, busy)
            updates += [update] if update is not None else []
    names = [name for name in heads if any(spec.matches(name) for spec in fetch.specs if not spec.excludes)]
    _write_fetch_head(repository, fetch, [*names, *tags], merges)
    return updates


def _narrow_specs(remote: Remote, branch: str | None) -> tuple[Refspec, ...]:
    """The refspecs to fetch; with a branch, only that and its tracking reference."""
    if branch is None:
        return remote.specs or (Refspec("HEAD", None),)
    name = f"{_HEADS}{branch}"
    pairs = map_refs(remote.specs, [name])
    return tuple(Refspec(name, pair.target, pair.force) for pair in pairs) or (Refspec(name, None),)


def _spec_text(spec: Refspec) -> str:
    sign = "^" if spec.excludes else "+" if spec.force else ""
    return f"{sign}{spec.source}" + (f":{spec.target}" if spec.target else "")


def _prune_refs(handle: pygit2.Repository, fetch: FetchResult, targets: set[str]) -> list[RefUpdate]:
    updates = []
    for name in text_names(handle):
        is_followed = any(spec.source_name(name) for spec in fetch.remote.specs)
        if is_followed and name not in targets and not name.endswith("/HEAD") and not name.startswith(_HEADS):
            before = handle.references[name]
            updates.append(RefUpdate(name, "pruned", before=str(before.target)))
            before.delete()
    return updates


def _reachable_tags(handle: pygit2.Repository, fetch: FetchResult) -> list[str]:
    """Fetched tags whose commits are here."""
    heads = fetch.exchange.heads
    return [
        name
        for name in heads
        if name.startswith(_TAGS)
        and not name.endswith(_PEELED)
        and handle.references.get(name) is None
        and heads[name] in handle
        and heads.get(name + _PEELED, heads[name]) in handle
    ]


def _move_ref(
    handle: pygit2.Repository, pair: RefPair, oid: str, remote: str, busy: Mapping[str, str]
) -> RefUpdate | None:
    try:
        here = handle.references.get(pair.target)
        before = str(here.resolve().target) if here is not None else None
        if before == oid:
            return None
        if pair.target in busy:
            return RefUpdate(
                pair.target, "rejected", before, oid, f"it is checked out in {busy[pair.target]}"
            )
        if here is None:
            handle.create_reference(pair.target, oid, message=f"fetch {remote}: storing head")
            return RefUpdate(pair.target, "new", after=oid)
        is_forward = _is_forward(handle, pair.target, oid, before)
        if not is_forward and not pair.force:
            why = "it would replace a tag" if pair.target.startswith(_TAGS) else "not a fast-forward"
            return RefUpdate(pair.target, "rejected", before, oid, why)
        kind = "fast-forward" if is_forward else "forced-update"
        handle.create_reference(pair.target, oid, force=True, message=f"fetch {remote}: {kind}")
        return RefUpdate(pair.target, "updated" if is_forward else "forced", before, oid)
    except (pygit2.GitError, KeyError, ValueError) as error:
        return RefUpdate(pair.target, "rejected", after=oid, why=str(error))


def _is_forward(handle: pygit2.Repository, target: str, oid: str, before: str | None) -> bool:
    if target.startswith(_TAGS) or before is None or before not in handle:
        return False
    return bool(handle.descendant_of(oid, before))


def _checked_out(repository: Repository, handle: pygit2.Repository) -> dict[str, str]:
    """Branches that some worktree has checked out; a fetch must not move them."""
    branches, head = branches_elsewhere(repository), handle.references.get("HEAD")
    if head is not None and isinstance(head.target, str):
        branches[head.target] = str(repository.root)
    return branches


def _write_fetch_head(
    repository: Repository, fetch: FetchResult, names: Sequence[str], merges: Sequence[Upstream]
) -> None:
    heads, merge_refs = (
        fetch.exchange.heads,
        {upstream.ref for upstream in merges if upstream.remote == fetch.remote.name},
    )
    address = shown_url(fetch.remote.url).rstrip("/").removesuffix(".git")
    first = [name for name in names if name in merge_refs or name == "HEAD"]
    lines = [f"{heads[name]}\t\t{_describe_ref(name)}{address}\n" for name in first]
    rest = [name for name in dict.fromkeys(names) if name not in first]
    lines += [f"{heads[name]}\tnot-for-merge\t{_describe_ref(name)}{address}\n" for name in rest]
    write_public(repository.git_dir / "FETCH_HEAD", "".join(lines).encode("utf-8", "surrogateescape"))


def _describe_ref(name: str) -> str:
    if name == "HEAD":
        return ""
    kind = (
        "branch" if name.startswith(_HEADS) else "tag" if name.startswith(_TAGS) else "remote-tracking branch"
    )
    short = name.removeprefix(_HEADS).removeprefix(_TAGS)
    return f"{kind} '{short}' of "
