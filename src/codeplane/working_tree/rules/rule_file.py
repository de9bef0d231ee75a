"""One ignore file, read again when its stat has moved."""

import os
import time

from codeplane.working_tree.known import is_racy
from codeplane.working_tree.plain_file import read_plain
from codeplane.working_tree.rules.wildmatch import Patterns, parse

LARGEST = 16 << 20
"""A larger ignore file is not read."""

_Key = tuple[int, int, int, int]


class RuleFile:
    """The compiled patterns of one file. Like git, it follows no link inside the working tree."""

    def __init__(self, path: str, *, ignore_case: bool, follow: bool = False) -> None:
        self.path = path
        self._ignore_case = ignore_case
        self._follow = follow
        self._key: _Key | None = None
        self._is_settled = False
        self._data: bytes | None = None
        self.patterns: Patterns | None = None
        self.refresh()

    @property
    def is_too_large(self) -> bool:
        return self._data is None and self._key is not None and self._key[2] > LARGEST

    @property
    def exists(self) -> bool:
        return self._data is not None

    @property
    def data(self) -> bytes:
        return self._data or b""

    def refresh(self) -> bool:
        """Reads the file again if it may have changed; tells whether its bytes have."""
        now = time.time_ns()
        try:
            status = os.stat(self.path, follow_symlinks=self._follow)  # noqa: PTH116 - a plain string
        except OSError:
            status = None
        key = (
            None
            if status is None
            else (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        )
        if self._is_settled and key == self._key:
            return False
        self._key, self._is_settled = key, status is None or not is_racy(status, now)
        data = None if status is None else read_plain(self.path, LARGEST, follow=self._follow)
        if data == self._data:
            return False
        self._data = data
        self.patterns = Patterns(parse(data), ignore_case=self._ignore_case) if data else None
        return True
