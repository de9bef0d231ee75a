"""Pushing: the remote's refs are read and updated in one exchange."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound, RemoteRefused
from codeplane.git.remote.fetch import RefUpdate
from codeplane.git.remote.refspecs import text_names, tracking_ref
from codeplane.git.remote.remotes import Remote, Upstream, find_remote, remote_for, set_tracking, upstream_of
from codeplane.git.remote.transfer import Connection, Exchange, ignored_settings, scratch_of
from codeplane.git.repo.hooks import has_hook, run_hook
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.urls import shown_url

Force = Literal["with_lease"] | bool

_HEADS: Final = "refs/heads/"
_TAGS: Final = "refs/tags/"
_ALL: Final = "*"
_NONE: Final = "0" * 40


@dataclass(frozen=True)
class PushRequest:
    """What to push; names are validated already."""

    remote: str | None = None
    branch: str | None = None
    to: str | None = None
    tags: Sequence[str] = ()  # `*` is every tag
    with_branch: bool = True
    force: Force = False
    delete: bool = False
    follow: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Update:
    """One reference of the remote to update; without an id, to delete."""

    source: str
    target: str
    oid: str
    force: bool = False
    lease: str | None = None  # what the remote must have; empty for nothing


@dataclass(frozen=True)
class PushPlan:
    remote: Remote
    updates: tuple[Update, ...]
    branch: str | None


@dataclass(frozen=True)
class PushOutcome(Outcome):
    """The outcome of a push, with the references that changed on the remote."""

    remote: str = ""
    updates: tuple[RefUpdate, ...] = ()
    output: str = ""


def plan_push(repository: Repository, request: PushRequest) -> PushPlan:
    """Plans a push from what is known locally."""
    with repository.opened() as handle:
        branch = request.branch if request.branch is not None else repository.head().branch
        remote = (
            find_remote(handle, request.remote)
            if request.remote is not None
            else remote_for(handle, branch, pushes=True)
        )
        updates = []
        if request.with_branch:
            updates.append(_branch_update(handle, request, remote, branch))
        updates += [_tag_update(handle, request, name) for name in _tag_names(handle, request)]
    return PushPlan(remote, tuple(updates), branch)


def push_all(connection: Connection, plan: PushPlan, request: PushRequest) -> PushOutcome:
    """Runs the pre-push hook, pushes, and updates the tracking references."""
    notes: tuple[str, ...] = ()
    if not request.dry_run:
        heads = (
            _run_push(connection, plan, dry_run=True).heads
            if has_hook(connection.repository, "pre-push")
            else {}
        )
        hook_input = "".join(_for_hook(update, heads) for update in plan.updates).encode()
        args = (plan.remote.name, plan.remote.push_url)
        notes = run_hook(
            connection.repository,
            connection.programs,
            "pre-push",
            args,
            stdin=hook_input,
            check=connection.check,
        )
    exchange = _run_push(connection, plan, dry_run=request.dry_run)
    return _record_push(connection.repository, plan, exchange, request, notes)


def _for_hook(update: Update, heads: Mapping[str, str]) -> str:
    source, oid = update.source or "(delete)", update.oid or _NONE
    return f"{source} {oid} {update.target} {heads.get(update.target, _NONE)}\n"


def _run_push(connection: Connection, plan: PushPlan, *, dry_run: bool) -> Exchange:
    """Pushes the whole plan or nothing; the remote may still refuse single references."""
    updates = [
        {
            "oid": update.oid,
            "target": update.target,
            "force": update.force,
            "lease": update.lease,
            "dry": dry_run,
        }
        for update in plan.updates
    ]
    with scratch_of(connection.repository) as scratch:
        exchange = connection.exchange(scratch, plan.remote.push_url, {"act": "push", "updates": updates})
    if exchange.refusals:
        raise _refusal_error(connection.repository, plan, exchange)
    return exchange


def _record_push(
    repository: Repository, plan: PushPlan, exchange: Exchange, request: PushRequest, notes: tuple[str, ...]
) -> PushOutcome:
    """Updates the tracking references, and sets the branch's upstream if asked."""
    updates = [_ref_update(update, exchange.heads.get(update.target)) for update in plan.updates]
    moves = tuple(update for update in updates if update is not None)
    if not request.dry_run:
        with repository.opened() as handle:
            for update in plan.updates:
                _update_tracking(handle, plan.remote, update)
            if request.follow and request.with_branch and plan.branch is not None and not request.delete:
                set_tracking(handle, plan.branch, Upstream(plan.remote.name, plan.updates[0].target))
    verb = "would push" if request.dry_run else "pushed"
    names = ", ".join(
        f"{update.ref.removeprefix(_HEADS).removeprefix(_TAGS)} ({update.move})" for update in moves[:10]
    )
    summary = (
        f"{verb} {names} to {plan.remote.name}" if moves else f"{plan.remote.name} is already up to date"
    )
    return PushOutcome(
        summary,
        notes=(*notes, *ignored_settings(repository)),
        remote=plan.remote.name,
        updates=moves,
        output=exchange.output.strip(),
    )


def _branch_update(
    handle: pygit2.Repository, request: PushRequest, remote: Remote, branch: str | None
) -> Update:
    if branch is None:
        raise InvalidArgument("HEAD is detached: name the branch to push.")
    source = f"{_HEADS}{branch}"
    target = (
        f"{_HEADS}{request.to}" if request.to is not None else _target_ref(handle, request, remote, branch)
    )
    tracking_name = tracking_ref(remote.specs, target)
    tracking_branch = handle.references.get(tracking_name) if tracking_name else None
    lease = (
        (str(tracking_branch.resolve().target) if tracking_branch is not None else "")
        if request.force == "with_lease"
        else None
    )
    if request.delete:
        return Update("", target, "", force=True, lease=lease)
    reference = handle.references.get(source)
    if reference is None:
        raise NotFound(f"There is no branch {branch!r} here, or it has no commit.")
    return Update(source, target, str(reference.resolve().target), force=bool(request.force), lease=lease)


def _target_ref(handle: pygit2.Repository, request: PushRequest, remote: Remote, branch: str) -> str:
    """The branch of the same name; refused as ambiguous if the branch tracks another."""
    same = f"{_HEADS}{branch}"
    upstream = upstream_of(handle, branch)
    if (
        request.delete
        or request.follow
        or upstream is None
        or upstream.remote != remote.name
        or upstream.ref == same
    ):
        return same
    raise InvalidArgument(
        f"{branch} tracks {upstream.branch} of {remote.name}: name the branch to push to.",
        hints=[
            Remedy(Fix.PUSH_TO, remote=remote.name, branch=branch, to=to) for to in (upstream.branch, branch)
        ],
    )


def _tag_names(handle: pygit2.Repository, request: PushRequest) -> list[str]:
    if _ALL not in request.tags:
        return list(request.tags)
    return [name.removeprefix(_TAGS) for name in text_names(handle) if name.startswith(_TAGS)]


def _tag_update(handle: pygit2.Repository, request: PushRequest, name: str) -> Update:
    ref = f"{_TAGS}{name}"
    if request.delete:
        return Update("", ref, "", force=True)
    reference = handle.references.get(ref)
    if reference is None:
        raise NotFound(f"There is no tag {name!r}.")
    return Update(ref, ref, str(reference.target), force=request.force is True)


def _ref_update(update: Update, there: str | None) -> RefUpdate | None:
    if there == (update.oid or None):
        return None
    if not update.oid:
        return RefUpdate(update.target, "pruned", before=there)
    return RefUpdate(
        update.target, "new" if there is None else "forced" if update.force else "updated", there, update.oid
    )


def _update_tracking(handle: pygit2.Repository, remote: Remote, update: Update) -> None:
    tracking_name = tracking_ref(remote.specs, update.target)
    if tracking_name is None or not tracking_name.startswith("refs/remotes/"):
        return
    here = handle.references.get(tracking_name)
    if update.oid and (here is None or str(here.target) != update.oid):
        handle.create_reference(tracking_name, update.oid, force=True, message="update by push")
    elif not update.oid and here is not None:
        here.delete()


def _refusal_error(repository: Repository, plan: PushPlan, exchange: Exchange) -> RemoteRefused:
    assert exchange.refusals, "BUG: nothing was refused"
    target, why = next(iter(exchange.refusals.items()))
    name = target.removeprefix(_HEADS).removeprefix(_TAGS)
    where = f"{name} of {plan.remote.name}"
    update = next((update for update in plan.updates if update.target == target), None)
    there = exchange.heads.get(target)
    text, hints = _explain_refusal(repository, where, why, update, there)
    output = {"said": exchange.output.strip()} if exchange.output.strip() else {}
    return RemoteRefused(
        text,
        hints=hints,
        reference=target,
        remote=plan.remote.name,
        url=shown_url(plan.remote.push_url),
        **output,
    )


def _explain_refusal(
    repository: Repository, where: str, why: str, update: Update | None, there: str | None
) -> tuple[str, list[str]]:
    pull: list[str] = [Remedy(Fix.PULL_FIRST)]
    match why:
        case "diverged" if update is not None and there is not None:
            with repository.opened() as handle:
                ahead, behind = handle.ahead_behind(update.oid, there)
            return f"{where} has {behind} commits that would be lost; {ahead} would be pushed.", pull
        case "unknown":
            return f"{where} has commits that are not here.", pull
        case "stale":
            return (
                f"{where} has changed since the last fetch: somebody has pushed in the meantime.",
                [Remedy(Fix.FETCH_FIRST)],
            )
        case "exists":
            return f"The tag {where} already exists and differs.", [Remedy(Fix.REPLACE_TAG)]
        case "missing":
            return f"There is no {where}.", []
        case _:
            return f"{where} was refused by the remote: {why.strip()}.", []
