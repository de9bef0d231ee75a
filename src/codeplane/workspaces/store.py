"""The rows of workspaces in the primary checkout's `state.db`, which all its worktrees share."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from codeplane.storage.database import Database
from codeplane.workspaces.record import Workspace, WorkspaceId, WorkspaceKindName

MOST_WORKSPACES: Final = 1000
_COLUMNS: Final = ", ".join(field.name for field in fields(Workspace))
_PLACES: Final = ", ".join("?" for _ in fields(Workspace))


class WorkspaceStore:
    """Workspaces by id. Rows are small and few; whoever changes what they name holds the creation lock."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def find(self, workspace_id: str) -> Workspace | None:
        with self._database().read() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM workspace WHERE id = ?",  # noqa: S608 - names of fields
                (workspace_id,),
            ).fetchone()
        return _workspace(row) if row is not None else None

    def find_all(self) -> list[Workspace]:
        """All of them, by id."""
        with self._database().read() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM workspace ORDER BY id").fetchall()  # noqa: S608
        return [_workspace(row) for row in rows]

    def save(self, workspace: Workspace) -> None:
        """Writes a row in the place of the one with its id."""
        values = [getattr(workspace, field.name) for field in fields(Workspace)]
        with self._database().write() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO workspace ({_COLUMNS}) VALUES ({_PLACES})",  # noqa: S608
                values,
            )

    def note_use(self, workspace_id: WorkspaceId, now_ms: int) -> None:
        with self._database().write() as connection:
            connection.execute("UPDATE workspace SET used_ms = ? WHERE id = ?", (now_ms, workspace_id))

    def advance(self, workspace_id: WorkspaceId, epoch: int) -> int | None:
        """The revision of a workspace whose view is at this epoch now; None where there is no such row."""
        with self._database().write() as connection:
            connection.execute(
                "UPDATE workspace SET revision = revision + (epoch > 0), epoch = ?"
                " WHERE id = ? AND epoch != ?",
                (epoch, workspace_id, epoch),
            )
            row = connection.execute(
                "SELECT revision FROM workspace WHERE id = ?", (workspace_id,)
            ).fetchone()
        return int(row[0]) if row is not None else None

    def drop(self, workspace_id: WorkspaceId) -> bool:
        """Forgets a workspace; tells whether it was on record."""
        with self._database().write() as connection:
            return bool(connection.execute("DELETE FROM workspace WHERE id = ?", (workspace_id,)).rowcount)


def _workspace(row: tuple[Any, ...]) -> Workspace:
    values = dict(zip((field.name for field in fields(Workspace)), row, strict=True))
    values["kind"] = WorkspaceKindName(values["kind"])
    values["has_made_branch"] = bool(values["has_made_branch"])
    return Workspace(**values)
