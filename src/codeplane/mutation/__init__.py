"""The only writer of file content."""

from codeplane.mutation.batch import Kind
from codeplane.mutation.engine import Engine
from codeplane.mutation.prepared import (
    Applied,
    Flag,
    Planned,
    Prepared,
    Recovered,
    Scope,
)
from codeplane.storage.disk import Disk

__all__ = [
    "Applied",
    "Disk",
    "Engine",
    "Flag",
    "Kind",
    "Planned",
    "Prepared",
    "Recovered",
    "Scope",
]
