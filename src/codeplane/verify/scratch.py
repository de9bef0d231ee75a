"""A directory outside of the repository that is there for one trial and gone afterwards, whatever happens."""

import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from codeplane.storage.files import private_dir
from codeplane.storage.lease import Lease

_LEASE: Final = ".lease"


@contextmanager
def scratch_dir(home: Path) -> Iterator[Path]:
    """An empty directory of its own below `home`; deleted at the end, or by `sweep` after a crash."""
    private_dir(home)
    directory = home / secrets.token_hex(8)
    lease = Lease(directory)  # before the directory: one without a holder is swept
    try:
        directory.mkdir(mode=0o700)
        yield directory
    finally:
        _remove_directory(directory)
        directory.with_name(f"{directory.name}{_LEASE}").unlink(missing_ok=True)
        lease.release()


def sweep(home: Path) -> int:
    """Deletes the directories that nobody holds any more and tells how many these were."""
    if home.is_symlink() or not home.is_dir():
        return 0
    swept = 0
    for file in sorted(home.glob(f"*{_LEASE}")):
        directory = file.with_name(file.name.removesuffix(_LEASE))
        with suppress(OSError):  # another process sweeps as well
            lease = Lease(directory)
            try:
                if lease.make_sole():
                    swept += directory.is_dir()
                    _remove_directory(directory)
                    file.unlink(missing_ok=True)
            finally:
                lease.release()
    return swept


def _remove_directory(path: Path) -> None:
    """Deletes a directory, though tests have taken its permissions away or still write to it."""
    for _ in range(3):
        with suppress(FileNotFoundError):
            shutil.rmtree(path, onerror=_permit_removal)
        if not path.exists():
            return


def _permit_removal(again: Callable[[Any], Any], path: str, _: object) -> None:
    with suppress(OSError):
        for one in (Path(path).parent, Path(path)):
            if stat.S_ISDIR(one.lstat().st_mode):
                one.chmod(0o700)
        again(path)
