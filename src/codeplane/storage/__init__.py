"""What CodePlane keeps on disk for itself: the state directory, its lock, atomic private files."""

from codeplane.storage.files import private_dir, write_private, write_public
from codeplane.storage.lock import ServerLock
from codeplane.storage.state import STATE_DIR_NAME, Serving, StateDir, is_shared, read_trust_id

__all__ = [
    "STATE_DIR_NAME",
    "ServerLock",
    "Serving",
    "StateDir",
    "is_shared",
    "private_dir",
    "read_trust_id",
    "write_private",
    "write_public",
]
