"""The one collision guard of all runs: leases on files, symbols, nodes, the graph and side effects.

A change that names symbols holds these; one that creates, deletes or rewrites a file holds it whole. Leases
are renewed by the turns of their run and end by themselves, so that work that was given up comes back.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from codeplane.core.errors import ExecSideEffectCollision
from codeplane.storage.database import Connection, Database

LEASE_SEC: Final = 900.0
ResourceKind = Literal["file", "symbol", "node", "graph", "side_effect"]
_SEPARATOR: Final = "#"
# The commit that is checked out: commits move it, and switching moves the files of every run.
HEAD_RESOURCE: Final = "git:head"


class Resource(NamedTuple):
    """Something that one run at a time may change."""

    kind: ResourceKind
    name: str

    @property
    def path(self) -> str:
        """The file of a file or a symbol."""
        return self.name.partition(_SEPARATOR)[0] if self.kind == "symbol" else self.name


class Holder(NamedTuple):
    """Who holds something: a run, and the agent that works on it."""

    work_id: str
    agent_id: str = ""


@dataclass(frozen=True)
class Lease:
    """A resource, who holds it for which node, and until when."""

    resource: Resource
    holder: Holder
    node: str
    expires_ms: int

    @property
    def ends_at(self) -> str:
        """When it ends, to the second, in UTC."""
        return datetime.fromtimestamp(self.expires_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def to_json(self) -> dict[str, str]:
        """The lease as the details of a collision have it."""
        return {
            "kind": self.resource.kind,
            "resource": self.resource.name,
            "workId": self.holder.work_id,
            "agentId": self.holder.agent_id,
            "nodeId": self.node,
            "endsAt": self.ends_at,
        }


def file_resource(path: str) -> Resource:
    """A file as a whole."""
    return Resource("file", path)


def symbol_resource(path: str, symbol: str) -> Resource:
    """A symbol of a file."""
    return Resource("symbol", f"{path}{_SEPARATOR}{symbol}")


def do_meet(one: Resource, other: Resource) -> bool:
    """Whether two runs that change these would be in each other's way.

    A file meets its symbols; a symbol meets what is inside of it. A switch of HEAD meets every file.
    """
    kinds = {one.kind, other.kind}
    if kinds <= {"file", "symbol"}:
        if one.path != other.path:
            return False
        return "file" in kinds or _is_nested(one.name, other.name) or _is_nested(other.name, one.name)
    return one == other


def _is_nested(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}.")


class Reservations:
    """Leases as rows of `state.db`; a run sees its own and nobody takes another's before it ends."""

    def __init__(
        self,
        database: Callable[[], Database],
        clock: Callable[[], float] = time.time,
        lease: float = LEASE_SEC,
    ) -> None:
        self._database = database
        self._clock = clock
        self._lease_ms = int(lease * 1000)

    def reserve(self, holder: Holder, node: str, resources: Sequence[Resource]) -> None:
        """Takes leases for a node, all or none; `ExecSideEffectCollision` names who is in the way."""
        now = self._now_ms()
        with self._database().write() as connection:
            _drop_expired(connection, now)
            leases = list(_read_leases(connection))
            conflicts = list(dict.fromkeys(_conflicts(holder, resources, leases)))
            if conflicts:
                raise _collision_error(conflicts)
            connection.executemany(
                "INSERT OR REPLACE INTO controller_reservation"
                " (kind, resource, work_id, agent_id, node, renewed_ms, expires_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*one, *holder, node, now, now + self._lease_ms) for one in resources],
            )

    def check(self, holder: Holder, resources: Sequence[Resource]) -> None:
        """Refuses what another run holds, without taking anything."""
        leases = [lease for lease in self.active() if lease.holder.work_id != holder.work_id]
        conflicts = list(dict.fromkeys(_conflicts(holder, resources, leases)))
        if conflicts:
            raise _collision_error(conflicts)

    def renew(self, work_id: str) -> int:
        """The heartbeat of a run: its leases last as long again from now; returns how many it has."""
        now = self._now_ms()
        with self._database().write() as connection:
            _drop_expired(connection, now)
            cursor = connection.execute(
                "UPDATE controller_reservation SET renewed_ms = ?, expires_ms = ? WHERE work_id = ?",
                (now, now + self._lease_ms, work_id),
            )
            return int(cursor.rowcount)

    def release(self, work_id: str, node: str | None = None) -> int:
        """Gives up what a node holds, or all that a run holds; returns how many leases ended."""
        condition, values = ("", (work_id,)) if node is None else (" AND node = ?", (work_id, node))
        with self._database().write() as connection:
            cursor = connection.execute(
                f"DELETE FROM controller_reservation WHERE work_id = ?{condition}",  # noqa: S608 - one of two
                values,
            )
            return int(cursor.rowcount)

    def active(self) -> list[Lease]:
        """Every lease that has not ended."""
        now = self._now_ms()
        with self._database().read() as connection:
            return [lease for lease in _read_leases(connection) if lease.expires_ms > now]

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)


def _drop_expired(connection: Connection, now_ms: int) -> None:
    connection.execute("DELETE FROM controller_reservation WHERE expires_ms <= ?", (now_ms,))


def _read_leases(connection: Connection) -> Iterator[Lease]:
    rows = connection.execute(
        "SELECT kind, resource, work_id, agent_id, node, expires_ms FROM controller_reservation"
        " ORDER BY kind, resource"
    )
    for kind, name, work_id, agent_id, node, expires_ms in rows:
        yield Lease(Resource(kind, name), Holder(work_id, agent_id), node, expires_ms)


def _conflicts(holder: Holder, resources: Iterable[Resource], leases: Sequence[Lease]) -> Iterator[Lease]:
    for resource in resources:
        for lease in leases:
            if do_meet(resource, lease.resource) and not _is_own(holder, lease):
                yield lease


def _is_own(holder: Holder, lease: Lease) -> bool:
    """A run shares its files and symbols; a node that an agent works on is that agent's."""
    if lease.resource.kind == "node":
        return lease.holder == holder
    return lease.holder.work_id == holder.work_id


def _collision_error(leases: Sequence[Lease]) -> ExecSideEffectCollision:
    first = leases[0]
    what = first.resource.name.replace(_SEPARATOR, " ")
    more = f" and {len(leases) - 1} more" if len(leases) > 1 else ""
    return ExecSideEffectCollision(
        f"{first.resource.kind} {what}{more} is held by {first.holder.work_id} (node {first.node},"
        f" agent {first.holder.agent_id}) until {first.ends_at}.",
        hints=["Do another node first, or wait until the lease ends."],
        holders=[lease.to_json() for lease in leases[:10]],
    )
