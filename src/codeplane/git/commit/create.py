"""Writing commit objects, and moving references to them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import pygit2

from codeplane.core.errors import GitBusy, GitFailed, IdentityMissing
from codeplane.git.commit.identity import author_signature as configured_author
from codeplane.git.commit.identity import committer_signature as configured_committer
from codeplane.git.commit.identity import encode_text, format_signature
from codeplane.git.commit.signing import sign_payload
from codeplane.git.repo.config import config_text
from codeplane.git.repo.lock_retry import retry_locked
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.process import Programs

_UTF8: Final = ("utf-8", "utf8")
# Git's own limit for chains of symbolic references.
_MOST_LINKS: Final = 5


def make_commit(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    *,
    tree: str,
    parents: Sequence[str],
    message: str,
    ref: str | None,
    reflog: str,
    author: pygit2.Signature | None = None,
    tip: str | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Writes a commit and has `ref` (`HEAD`, or a full name) point to it; its id, and notes for the answer.

    `ref` moves only from where it is expected: `tip`, else the first parent; with neither it must not exist.
    Without `ref` only the object is written. It is signed when the settings say so and the repository is
    trusted.
    """
    encoding = config_text(handle, "i18n.commitEncoding") or "utf-8"
    who = configured_committer(handle)
    headers = [
        f"tree {pygit2.Oid(hex=tree)}".encode(),
        *(f"parent {pygit2.Oid(hex=parent)}".encode() for parent in parents),
        b"author " + format_signature(author or configured_author(handle), encoding),
        b"committer " + format_signature(who, encoding),
    ]
    if encoding.lower() not in _UTF8:
        headers.append(f"encoding {encoding}".encode())
    body = encode_text(message, encoding)
    signature, notes = sign_payload(repository, programs, handle, _join_headers(headers, body), who, "commit")
    if signature:
        headers.append(b"gpgsig " + signature.rstrip(b"\n").replace(b"\n", b"\n "))
    oid = str(handle.write(pygit2.enums.ObjectType.COMMIT, _join_headers(headers, body)))
    if ref is not None:
        move_ref(handle, ref, oid, tip or (parents[0] if parents else None), reflog)
    return oid, notes


def move_ref(handle: pygit2.Repository, ref: str, oid: str, expected: str | None, reflog: str) -> None:
    """Points a reference, or the branch behind `HEAD`, to `oid`; refused if it is not at `expected`."""
    with suppress(IdentityMissing):
        who = configured_committer(handle)
        handle.set_ident(who.name, who.email)
    name = resolve_ref(handle, ref)
    entry = reflog.encode("utf-8", "replace").decode()
    retry_locked(lambda: _set_target(handle, name, oid, expected, entry))


def resolve_ref(handle: pygit2.Repository, ref: str) -> str:
    """Follows symbolic references such as `HEAD`; the target need not exist."""
    for _ in range(_MOST_LINKS):
        reference = handle.references.get(ref)
        if reference is None or reference.type != pygit2.enums.ReferenceType.SYMBOLIC:
            return ref
        ref = str(reference.target)
    raise GitFailed(f"{ref} is a loop of symbolic references.")


def _set_target(handle: pygit2.Repository, name: str, oid: str, expected: str | None, reflog: str) -> None:
    with handle.transaction() as transaction:
        transaction.lock_ref(name)
        reference = handle.references.get(name)
        now = str(reference.target) if reference is not None else None
        if now != expected:
            raise GitBusy(
                f"{name} was moved by another program in the meantime.",
                hints=[Remedy(Fix.CHECK_LOG)],
            )
        transaction.set_target(name, oid, message=reflog)


def _join_headers(headers: Sequence[bytes], body: bytes) -> bytes:
    return b"\n".join(headers) + b"\n\n" + body
