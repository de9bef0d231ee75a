"""What is installed in an environment, by the little that every installation changes: names of distributions
of Python, and the files in which npm, yarn and pnpm note what `node_modules` has."""

import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

_DISTRIBUTIONS: Final = "*.dist-info"
_RECORDS: Final = (".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml")
_SETTLED_NS: Final = 2_000_000_000
_MISSING: Final = ""


class InstalledPackages:
    """Digests of environments. One costs a look at its directory, unless that has changed."""

    def __init__(self) -> None:
        self._digests: dict[str, tuple[tuple[int, ...], str]] = {}  # directory → when it was changed, digest

    def digest(self, directory: str) -> str:
        """Changes when a package is installed into a directory or removed; "" where it is missing."""
        home = Path(directory)
        moments = tuple(_moment(path) for path in (home, *(home / name for name in _RECORDS)))
        if not moments[0]:
            return _MISSING
        before, digest = self._digests.get(directory, ((), ""))
        if before != moments:
            digest = _listing_digest(home, moments[1:])
            # What changes twice within one tick of the file system's clock is seen once.
            if time.time_ns() - max(moments) > _SETTLED_NS:
                self._digests[directory] = (moments, digest)
        return digest


def _moment(path: Path) -> int:
    """When a file or directory was changed; 0 where it is missing."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _listing_digest(directory: Path, records: tuple[int, ...]) -> str:
    total = sha256(repr(records).encode())
    with suppress(OSError):
        names = sorted(path.name for path in directory.glob(_DISTRIBUTIONS))
        total.update("\0".join(names).encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:32]
