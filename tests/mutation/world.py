"""A small repository, an engine for it, and a stand-in for the ledger."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.core.edits import EditSet, FileChange, FileEdit
from codeplane.core.ids import OperationId, new_operation_id
from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.jail.names import is_temporary
from codeplane.mutation import Applied, Disk, Engine, Prepared, Recovered, Scope
from codeplane.storage import StateDir
from codeplane.working_tree import WorkingTree, digest_of
from tests.drive import new_repo

Files = dict[str, bytes]


def fine() -> None:
    """The check of a call that nobody withdraws."""


@dataclass
class World:
    """A working tree with an engine; rows are lines of a file that is waited for."""

    root: Path
    disk: Disk = field(default_factory=Disk)

    def __post_init__(self) -> None:
        repository = open_repository(self.root, trusted=True)
        self.tree = WorkingTree(self.root, repository)
        self.state = StateDir.create(self.root)
        self.engine = Engine(self.tree, repository, self.state.path, disk=self.disk)

    def __del__(self) -> None:
        """Campaigns make hundreds of worlds in one process; what each holds open goes with it, as after a
        kill: nothing is settled."""
        if hasattr(self, "engine"):
            self.engine._journal.close()

    @classmethod
    def new(cls, path: Path, files: Mapping[str, bytes], disk: Disk | None = None) -> "World":
        new_repo(path)
        (path / "README.md").unlink()
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
        world = cls(path, disk or Disk())
        world.recover()
        return world

    @property
    def rows_file(self) -> Path:
        return self.state.path / "rows"

    def rows(self) -> list[str]:
        lines = self.rows_file.read_bytes().split(b"\n")[:-1] if self.rows_file.exists() else []
        return [json.loads(line)["operation"] for line in lines]

    def write_row(self, operation: OperationId) -> None:
        fd = os.open(self.rows_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        size = os.fstat(fd).st_size
        try:
            self.disk.write(fd, json.dumps({"operation": operation}).encode() + b"\n")
            self.disk.sync(fd)
        except OSError:
            # A row that cannot be promised is none.
            os.ftruncate(fd, size)
            raise
        finally:
            os.close(fd)

    def recover(self) -> list[Recovered]:
        """What a start does. A row that was not written to its end is none."""
        if self.rows_file.exists():
            os.truncate(self.rows_file, self.rows_file.read_bytes().rfind(b"\n") + 1)
        done = set(self.rows())
        found = self.engine.recover(lambda operation: operation in done)
        for one in found:
            if one.outcome == "finished":
                self.write_row(one.operation)
            if one.outcome != "doubtful":
                self.engine.forget(one.operation)
        return found

    def prepare(self, edits: EditSet, scope: Scope | None = None) -> Prepared:
        return self.engine.prepare(edits, scope or Scope())

    def apply(
        self, *edits: FileEdit, operation: OperationId | None = None, scope: Scope | None = None
    ) -> Applied:
        operation = operation or new_operation_id()
        prepared = self.prepare(EditSet(edits), scope)
        with self.engine.committed(prepared, operation, {"tool": "test"}, fine) as applied:
            self.write_row(operation)
        return applied

    def undo(self, changes: tuple[FileChange, ...], *, operation: OperationId | None = None) -> Applied:
        return self.apply(*reversed_edits(changes, self.engine.objects.read), operation=operation)

    def edit(self, name: str, after: bytes | None, *, moved_from: str | None = None) -> FileEdit:
        """An edit of what is there now."""
        path = self.root / name
        before = digest_of(path.read_bytes()) if path.is_file() and not path.is_symlink() else None
        source = RepoPath(moved_from) if moved_from else None
        return FileEdit(RepoPath(name), before, after, source)

    def files(self) -> Files:
        """Every file of the tree, by name; what lies in `.git` and `.codeplane` is not of it."""
        found = {}
        for place, directories, names in os.walk(self.root):
            inner = os.path.relpath(place, self.root)
            if inner == ".":
                directories[:] = [name for name in directories if name not in (".git", ".codeplane")]
            for name in names:
                path = os.path.normpath(os.path.join(inner, name))
                found[path] = Path(place, name).read_bytes()
        return found

    def directories(self) -> set[str]:
        found = set()
        for place, directories, _ in os.walk(self.root):
            inner = os.path.relpath(place, self.root)
            if inner == ".":
                directories[:] = [name for name in directories if name not in (".git", ".codeplane")]
            found |= {os.path.normpath(os.path.join(inner, name)) for name in directories}
        return found

    def litter(self) -> list[str]:
        """Temporary files anywhere, and what the journal still tells."""
        found = []
        for place, directories, names in os.walk(self.root):
            is_own = place.startswith(str(self.state.path))
            found += [
                os.path.join(place, name)
                for name in (*directories, *names)
                if is_temporary(name) or (is_own and name.endswith(".tmp"))
            ]
        journal = self.state.path / "journal" / "journal.log"
        if journal.exists() and journal.stat().st_size:
            found.append(journal.read_text())
        return found


def reversed_edits(changes: tuple[FileChange, ...], read: Callable[..., bytes | None]) -> list[FileEdit]:
    """The edits that take changes back."""
    made = []
    for change in changes:
        data = None
        if change.before is not None:
            data = read(change.before)
            assert data is not None, f"{change.path} has lost its old content"
        made.append(FileEdit(change.path, change.after, data, None, change.mode_before))
    return made
