"""Giving trust to a checkout, and taking up in a running server what the user gives or takes back."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from codeplane.config import Places, Trust, TrustRecord
from codeplane.core.errors import NotTrusted
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir, private_dir, read_trust_id, write_private
from codeplane.storage.files import read_small
from codeplane.working_tree import CPLIGNORE, Opened

_LARGEST_RULES = 1_048_576

Stamp = tuple[tuple[int, int, int] | None, ...]


def give_trust(root: Path, places: Places, *, opens_secrets: bool = False) -> Trust:
    """Records that the user trusts this checkout; with `opens_secrets`, also that the `!` lines which its
    `.cplignore` has now may bring secrets back. What was opened before stays open otherwise."""
    record = TrustRecord(places.trust_file)
    private_dir(places.state_dir)
    before = record.of(root, read_trust_id(root))
    lines = before.secrets if before is not None else ()
    if opens_secrets:
        lines = tuple(Opened.lines_of(read_small(root / CPLIGNORE, _LARGEST_RULES) or b""))
    state = StateDir.create(root)
    trust = Trust(state.new_trust_id(), lines, _toolchain_digest(state))
    record.grant(root, trust, write_private)
    return trust


def _toolchain_digest(state: StateDir) -> str:
    """The digest of `toolchain.toml` as it is now: its commands run in this form and in no other."""
    data = read_small(state.toolchain_file, _LARGEST_RULES)
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def require_trust(checkout: Checkout, reason: str) -> None:
    """Refuses what only a trusted repository may do; the one way on is the user's."""
    if not checkout.trusted:
        raise NotTrusted(f"{reason}, and the user has not trusted this repository.", hints=["cpl trust"])


class TrustWatch:
    """Tells when the user's trust in a checkout may be another than it was."""

    def __init__(self, checkout: Checkout) -> None:
        home = StateDir.at(checkout.index_home)
        self._files = (checkout.places.trust_file, checkout.state.trust_file, home.trust_file)
        self._stamp = self._look()

    def again(self, checkout: Checkout) -> Checkout | None:
        """The checkout as trust makes it now; None when nothing has changed.

        The repository stays the one that is open.
        """
        stamp = self._look()
        if stamp == self._stamp:
            return None
        now = Checkout.find(checkout.root, checkout.places, checkout.assignments)
        self._stamp = stamp
        grants = (checkout.trusted, checkout.opened, checkout.toolchain_digest)
        if (now.trusted, now.opened, now.toolchain_digest) == grants:
            return None
        checkout.repository.trusted = now.trusted
        return replace(now, repository=checkout.repository)

    def _look(self) -> Stamp:
        return tuple(_file_stamp(file) for file in self._files)


def _file_stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(file)  # noqa: PTH116 - asked before each call
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
