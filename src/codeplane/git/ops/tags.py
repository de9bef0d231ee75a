"""Creating and deleting tags."""

from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git.commit.cleanup import clean_message
from codeplane.git.commit.create import move_ref
from codeplane.git.commit.identity import committer_signature, format_signature
from codeplane.git.commit.signing import sign_payload
from codeplane.git.repo.lock_retry import retry_locked
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.ref_names import tag_name
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.jail import shown
from codeplane.process import Programs

_PREFIX: Final = "refs/tags/"
_SHORT: Final = 10


def create_tag(
    repository: Repository,
    programs: Programs,
    name: str,
    at: str = "HEAD",
    *,
    message: str | None = None,
    force: bool = False,
) -> Outcome:
    """Creates a tag; with a message, an annotated one."""
    ref = _PREFIX + tag_name(name)
    with repository.opened() as handle:
        commit = find_commit(handle, at).oid
        old_target = _target_of(handle, ref)
        if old_target is not None and not force:
            raise InvalidArgument(
                f"Tag {name} already exists, at {old_target[:_SHORT]}.",
                hints=[Remedy(Fix.MOVE_TAG)],
            )
        notes: tuple[str, ...] = ()
        target = commit
        if message is not None:
            target, notes = _write_annotated(repository, programs, handle, name, commit, message)
        move_ref(handle, ref, target, old_target, f"tag: tagging {commit}")
    old_note = f" (was {old_target})" if old_target is not None else ""
    return Outcome(f"tagged {commit[:_SHORT]} as {shown(name)}{old_note}", notes=notes)


def delete_tag(repository: Repository, name: str) -> Outcome:
    """Deletes a tag; the outcome says where it was, so that it can be recreated."""
    ref = _PREFIX + tag_name(name)
    with repository.opened() as handle:
        target = _target_of(handle, ref)
        if target is None:
            raise NotFound(f"There is no tag {name!r}.", hints=[Remedy(Fix.LIST_TAGS)])
        retry_locked(lambda: _remove_ref(handle, ref))
    return Outcome(f"deleted tag {shown(name)} (was {target})")


def _write_annotated(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    name: str,
    commit: str,
    message: str,
) -> tuple[str, tuple[str, ...]]:
    text = clean_message(handle, message, "strip")
    if not text:
        raise InvalidArgument("The tag message is empty.")
    tagger = committer_signature(handle)
    head = (
        f"object {commit}\ntype commit\ntag {name}\n".encode()
        + b"tagger "
        + format_signature(tagger, "utf-8")
    )
    payload = head + b"\n\n" + text.encode()
    signature, notes = sign_payload(repository, programs, handle, payload, tagger, "tag")
    return str(handle.write(pygit2.enums.ObjectType.TAG, payload + signature)), notes


def _target_of(handle: pygit2.Repository, ref: str) -> str | None:
    reference = handle.references.get(ref)
    return str(reference.target) if reference is not None else None


def _remove_ref(handle: pygit2.Repository, ref: str) -> None:
    with handle.transaction() as transaction:
        transaction.lock_ref(ref)
        transaction.remove(ref)
