"""`.codeplane/`: what CodePlane keeps in a repository, invisible to git, and what people share there."""

import json
import os
import re
import secrets
import shutil
import stat
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import StateUnusable
from codeplane.storage.files import (
    entries_beside,
    private_dir,
    read_small,
    remove_all_but,
    remove_tree,
    unusable,
    write_private,
)
from codeplane.storage.lock import ServerLock

STATE_DIR_NAME = ".codeplane"

SHARED: Final = (
    "config.yaml",
    "contexts.yaml",
    "toolchain.toml",
    "packs/",
    "codemods/",
    "surfaces/",
    "graph/seed/",
    "memory/overrides/",
    "strategies/",
)
"""What people write in the state directory and share: git sees it, and `cpl clear` keeps it."""
# A directory that is hidden hides all that is in it, so those on the way are shown and their contents hidden.
_ON_THE_WAY: Final = sorted({f"{name.split('/')[0]}/" for name in SHARED if name.count("/") > 1})
_SELF_IGNORE: Final = "\n".join(
    (
        "# What people write and share is shown to git; everything else here is CodePlane's own.",
        "*",
        *(f"!/{name}" for name in (*_ON_THE_WAY, *SHARED)),
        *(f"!/{name}**" for name in SHARED if name.endswith("/")),
        "",
    )
).encode()
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n?")
_LOCK: Final = "lock"
_LARGEST_FILE = 8192
_LARGEST_PID = 2**31 - 1


@dataclass(frozen=True)
class Serving:
    """What a server writes down so that others on this machine find it."""

    pid: int
    port: int
    socket: str
    started_ms: int
    command: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class StateDir:
    """The state directory of one checkout. Made by `create`; nothing else makes it."""

    path: Path

    @classmethod
    def at(cls, repo_root: Path) -> "StateDir":
        return cls(repo_root / STATE_DIR_NAME)

    @classmethod
    def create(cls, repo_root: Path) -> "StateDir":
        """Makes the directory whole or not at all; an existing one is checked and completed."""
        state = cls.at(repo_root)
        is_new = not state.path.is_symlink() and not state.path.exists()
        private_dir(state.path)
        try:
            state.complete()
        except OSError as error:
            if is_new:
                shutil.rmtree(state.path, ignore_errors=True)
            raise unusable(state.path, error) from error
        return state

    def complete(self) -> None:
        """Writes what must be there and is not."""
        ignore = self.path / ".gitignore"
        if read_small(ignore, _LARGEST_FILE) != _SELF_IGNORE:
            write_private(ignore, _SELF_IGNORE)
        if not self.repo_id:
            write_private(self.path / "uuid", f"{uuid.uuid4()}\n".encode())
        private_dir(self.logs)

    @property
    def exists(self) -> bool:
        return self.path.is_dir() and not self.path.is_symlink()

    @property
    def repo_id(self) -> str:
        """The random id of this checkout; empty before the directory is made."""
        return _read_id(self.path / "uuid")

    def new_trust_id(self) -> str:
        """A fresh id for the user's trust record: one that the repository ships is never the one."""
        trust_id = str(uuid.uuid4())
        self._write_file(self.trust_file, f"{trust_id}\n")
        return trust_id

    @property
    def trust_file(self) -> Path:
        """Holds the id that the user's trust is tied to."""
        return self.path / "trust"

    @property
    def config_file(self) -> Path:
        return self.path / "config.yaml"

    @property
    def contexts_file(self) -> Path:
        return self.path / "contexts.yaml"

    @property
    def toolchain_file(self) -> Path:
        return self.path / "toolchain.toml"

    @property
    def surfaces(self) -> Path:
        """Rules for surfaces that the repository brings along."""
        return self.path / "surfaces"

    @property
    def packs(self) -> Path:
        """Workflow packs that the repository brings along."""
        return self.path / "packs"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def log_file(self) -> Path:
        return self.logs / "codeplane.jsonl"

    @property
    def port_file(self) -> Path:
        return self.path / "port"

    @property
    def token_file(self) -> Path:
        return self.path / "token"

    @property
    def index_file(self) -> Path:
        return self.path / "index.db"

    @property
    def ledger(self) -> Path:
        return self.path / "ledger"

    @property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    def lock(self) -> ServerLock:
        return ServerLock(self.path / _LOCK)

    def new_token(self) -> str:
        """A fresh bearer token for one run of the server, readable by its owner only."""
        token = secrets.token_urlsafe(32)
        self._write_file(self.token_file, token)
        return token

    def token(self) -> str:
        """The token of the last server; empty when there is none that can be one."""
        token = read_small(self.token_file, _LARGEST_FILE) or b""
        return token.decode("ascii").strip() if token.isascii() else ""

    def publish(self, serving: Serving) -> None:
        self._write_file(self._serving_file, json.dumps(asdict(serving)))
        self._write_file(self.port_file, f"{serving.port}\n")

    def retract(self) -> None:
        """Removes what `publish` and `new_token` wrote; a directory that is gone is fine."""
        for file in (self.port_file, self.token_file, self._serving_file):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def serving(self) -> Serving | None:
        """What the last server wrote down. It may be dead: only an answer proves that it lives."""
        try:
            value = decode_json(read_small(self._serving_file, _LARGEST_FILE) or b"")
        except (ValueError, RecursionError):
            return None
        return _parse_serving(value)

    def remove(self) -> bool:
        """Deletes the directory but for what is shared; tells whether there was anything to delete.

        The caller holds the lock.
        """
        try:
            stat_result = self.path.lstat()
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(stat_result.st_mode):
            raise StateUnusable(f"{self.path} is not a plain directory.", path=str(self.path))
        try:
            shared = self.shared()
            if not shared:
                remove_tree(self.path)
                return True
            # The lock last: until then nobody starts in what is left.
            return remove_all_but(self.path, shared, last=_LOCK)
        except OSError as error:
            raise unusable(self.path, error) from error

    @property
    def is_cleared(self) -> bool:
        """Whether nothing is there but what people share."""
        return not self.exists or set(entries_beside(self.path, self.shared())) <= {_LOCK}

    def shared(self) -> list[str]:
        """What is there of what people write and share."""
        return [name for name in SHARED if _is_filled(self.path / name)]

    @property
    def _serving_file(self) -> Path:
        return self.path / "server.json"

    def _write_file(self, file: Path, text: str) -> None:
        try:
            write_private(file, text.encode())
        except OSError as error:
            # The name of the file that could not be made is random and tells nobody anything.
            raise unusable(self.path, error) from error


def read_trust_id(repo_root: Path) -> str:
    """The id that the user's trust in this checkout is tied to; empty when there is none."""
    return _read_id(repo_root / STATE_DIR_NAME / "trust")


def is_shared(path: str) -> bool:
    """Whether a path of the repository is one that people write in the state directory and share."""
    return any(
        path == f"{STATE_DIR_NAME}/{name}"
        or (name.endswith("/") and path.startswith(f"{STATE_DIR_NAME}/{name}"))
        for name in SHARED
    )


def _is_filled(path: Path) -> bool:
    """Whether there is a file, a link, or a directory with something in it."""
    if path.is_symlink() or not path.is_dir():
        return os.path.lexists(path)
    return any(path.iterdir())


def _read_id(file: Path) -> str:
    text = (read_small(file, 64) or b"").decode("ascii", "replace")
    return text.strip() if _UUID.fullmatch(text) else ""


def _parse_serving(found: object) -> Serving | None:
    if not isinstance(found, dict) or found.keys() != {field.name for field in fields(Serving)}:
        return None
    if any(type(found[field.name]) is not field.type for field in fields(Serving)):
        return None
    serving = Serving(**found)
    return serving if 0 < serving.pid <= _LARGEST_PID and 0 < serving.port < 65536 else None
