"""How much of a build context a refresh covers: a join semilattice, so that merged requests only widen.

The scope None is the whole context, the top of the lattice. `RefreshScope()` covers nothing, its bottom.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from codeplane.core.documents import decode_json


@dataclass(frozen=True)
class RefreshScope:
    """What a refresh covers at least: files and packages by name, and files changed after a moment."""

    files: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    changed_since: float | None = None  # seconds since the epoch

    def to_json(self) -> str:
        """Equal scopes give equal text."""
        return json.dumps(
            {
                "files": sorted(self.files) or None,
                "packages": sorted(self.packages) or None,
                "changed_since": self.changed_since,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "RefreshScope":
        """The scope that `to_json` wrote; ValueError for anything else."""
        data = decode_json(text)
        if not isinstance(data, dict) or not data.keys() <= {"files", "packages", "changed_since"}:
            raise ValueError("not a scope")
        since = data.get("changed_since")
        if since is not None and (isinstance(since, bool) or not isinstance(since, int | float)):
            raise ValueError("changed_since is not a number")
        return cls(_names(data.get("files")), _names(data.get("packages")), since)


def merge_scopes(a: RefreshScope | None, b: RefreshScope | None) -> RefreshScope | None:
    """The least scope that covers both: commutative, associative, idempotent; None absorbs."""
    if a is None or b is None:
        return None
    moments = [moment for moment in (a.changed_since, b.changed_since) if moment is not None]
    return RefreshScope(a.files | b.files, a.packages | b.packages, min(moments, default=None))


def covers(wide: RefreshScope | None, narrow: RefreshScope | None) -> bool:
    """Whether a refresh of `wide` is a refresh of `narrow` too: the order of the lattice."""
    return merge_scopes(wide, narrow) == wide


def scope_to_json(scope: RefreshScope | None) -> str | None:
    return scope.to_json() if scope is not None else None


def scope_from_json(text: str | None) -> RefreshScope | None:
    return RefreshScope.from_json(text) if text is not None else None


def _names(value: Any) -> frozenset[str]:
    if value is None:
        return frozenset()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("not a list of names")
    names: Iterable[str] = value
    return frozenset(names)
