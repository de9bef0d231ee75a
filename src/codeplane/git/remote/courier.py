"""The process that talks to one remote, once: a request as JSON on its input, lines of JSON on its output.

It works in a scratch repository that has the objects of the real one at its back. Whatever becomes of it, the
real one is as it was; who started it takes over what it has brought.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pygit2
from pygit2.enums import CredentialType

from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.git.remote.refspecs import Refspec, is_text, map_refs, text_names
from codeplane.git.repo.urls import checked_url, is_local, without_secrets

INCOMING: Final = "refs/incoming/"
OUTGOING: Final = "refs/outgoing/"
_TAGS: Final = "refs/tags/"
_PEELED: Final = "^{}"
_TELL_SEC: Final = 0.2


class _Ended(Exception):
    """Ends the exchange with this answer."""

    def __init__(self, **answer: object) -> None:
        super().__init__()
        self.answer = answer


class _Callbacks(pygit2.RemoteCallbacks):
    """Answers what the library asks. Each credential is offered once."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        super().__init__()
        self._has_some = "password" in request
        self._given = (request["user"], request["password"]) if self._has_some else None
        self._agent = True
        self._told = 0.0
        self.said: list[str] = []
        self.refused: dict[str, str] = {}

    def certificate_check(
        self,
        certificate: None,  # noqa: ARG002 - the library names what it hands over
        valid: bool,
        host: bytes | str,
    ) -> bool:
        """Trusts the library's own check; without this callback it accepts any SSH host key."""
        if not valid:
            name = host.decode("utf-8", "replace") if isinstance(host, bytes) else host
            raise _Ended(
                error="unreachable",
                message=f"the certificate or key of {name} is not trusted; SSH looks into known_hosts",
            )
        return True

    def credentials(
        self,
        url: str,  # noqa: ARG002 - the library names what it hands over
        username_from_url: str | None,
        allowed_types: CredentialType,
    ) -> pygit2.Username | pygit2.UserPass | pygit2.Keypair:
        if allowed_types & CredentialType.USERNAME:
            return pygit2.Username(username_from_url or "git")
        if allowed_types & CredentialType.SSH_KEY and self._agent:
            self._agent = False
            return pygit2.KeypairFromAgent(username_from_url or "git")
        if allowed_types & CredentialType.USERPASS_PLAINTEXT:
            if not self._has_some:
                raise _Ended(
                    error="credentials", message="The remote asks for credentials.", user=username_from_url
                )
            credential, self._given = self._given, None
            if credential is not None:
                return pygit2.UserPass(*credential)
        raise _Ended(error="refused_credentials", message="The remote does not accept the credentials.")

    def sideband_progress(self, string: str) -> None:
        self.said.append(string)

    def transfer_progress(self, stats: Any) -> None:
        self._tell(stats.received_objects, stats.total_objects)

    def push_transfer_progress(self, objects_pushed: int, total_objects: int, _: int) -> None:
        self._tell(objects_pushed, total_objects)

    def push_update_reference(self, refname: str, message: str | None) -> None:
        if message is not None:
            self.refused[refname] = message

    def _tell(self, count: int, total: int) -> None:
        if time.monotonic() - self._told > _TELL_SEC:
            self._told = time.monotonic()
            _send({"done": count, "total": total})


def main() -> None:
    request = decode_json(sys.stdin.buffer.read())
    try:
        _send(_run_exchange(request))
    except _Ended as ended:
        _send(ended.answer)
    except InvalidArgument as error:
        _send({"error": "address", "message": error.message})
    except (pygit2.GitError, OSError, ValueError, KeyError) as error:
        _send({"error": "failed", "message": without_secrets(str(error))})


def _run_exchange(request: Mapping[str, Any]) -> Mapping[str, object]:
    milliseconds = int(request["seconds"] * 1000)
    pygit2.settings.server_connect_timeout = milliseconds
    pygit2.settings.server_timeout = milliseconds
    pygit2.settings.owner_validation = not request["trusted"]
    scratch = pygit2.Repository(request["scratch"])
    if "password" in request or "@" in request["url"]:
        # libgit2 would offer them to whatever host it is redirected to.
        scratch.config["http.followRedirects"] = "false"
    remote = scratch.remotes.create_anonymous(request["url"])
    # The user's own configuration may have replaced the URL.
    if is_local(checked_url(remote.url or "")) and not request["local"]:
        raise _Ended(error="address", message="Local directories are not allowed here.")
    callbacks = _Callbacks(request)
    heads = _connect_remote(remote, callbacks, pushes=request["act"] == "push")
    if request["act"] == "fetch":
        _fetch_refs(scratch, remote, callbacks, request, heads)
    elif request["act"] == "push":
        return _push_updates(scratch, remote, callbacks, request["updates"], heads)
    return {"heads": heads, "said": _show_texts(callbacks.said)}


def _connect_remote(remote: pygit2.Remote, callbacks: _Callbacks, *, pushes: bool) -> dict[str, str]:
    try:
        remote.connect(callbacks, int(pushes), proxy=True)
    except pygit2.GitError as error:
        raise _Ended(error="unreachable", message=without_secrets(str(error))) from error
    heads = remote.list_heads(connect=False)
    symbolic = {head.name: head.symref_target for head in heads if head.symref_target}
    if symbolic.get("HEAD"):
        _send({"head": symbolic["HEAD"]})
    return {head.name: str(head.oid) for head in heads if head.name and _is_name(head.name)}


def _is_name(name: str) -> bool:
    """Whether a remote's reference has a valid name; others are ignored."""
    return name == "HEAD" or (is_text(name) and pygit2.reference_is_valid_name(name.removesuffix(_PEELED)))


def _fetch_refs(
    scratch: pygit2.Repository,
    remote: pygit2.Remote,
    callbacks: _Callbacks,
    request: Mapping[str, Any],
    heads: Mapping[str, str],
) -> None:
    specs = [spec for text in request["specs"] if (spec := Refspec.parse(text)) is not None]
    names = {name for name in heads if not name.endswith(_PEELED)}
    sources = {pair.source for pair in map_refs([_force_spec(spec) for spec in specs], sorted(names))}
    if request["tags"] == "all":
        sources |= {name for name in names if name.startswith(_TAGS)}
    _fetch_names(remote, callbacks, sorted(sources))
    if request["tags"] == "auto":
        _fetch_names(remote, callbacks, _reachable_tags(scratch, heads, sources))


def _force_spec(spec: Refspec) -> Refspec:
    return spec if spec.target or spec.excludes else Refspec(spec.source, f"{INCOMING}{spec.source}")


def _fetch_names(remote: pygit2.Remote, callbacks: _Callbacks, names: Sequence[str]) -> None:
    if names:
        remote.fetch([f"+{name}:{INCOMING}{name}" for name in names], callbacks=callbacks, proxy=True)


def _reachable_tags(scratch: pygit2.Repository, heads: Mapping[str, str], had: set[str]) -> list[str]:
    """New tags that point to commits which are here."""
    tags = [
        name for name in heads if name.startswith(_TAGS) and not name.endswith(_PEELED) and name not in had
    ]
    names = set(text_names(scratch))
    return [name for name in tags if name not in names and heads.get(name + _PEELED, heads[name]) in scratch]


def _push_updates(
    scratch: pygit2.Repository,
    remote: pygit2.Remote,
    callbacks: _Callbacks,
    updates: Sequence[Mapping[str, Any]],
    heads: Mapping[str, str],
) -> Mapping[str, object]:
    specs = []
    refusals = {
        update["target"]: why for update in updates if (why := _refusal_reason(scratch, update, heads))
    }
    changing = [update for update in updates if heads.get(update["target"]) != update["oid"]]
    for at, one in enumerate(changing):
        if one["oid"]:
            scratch.references.create(f"{OUTGOING}{at}", one["oid"], force=True)
        specs.append(f"+{OUTGOING}{at}:{one['target']}" if one["oid"] else f":{one['target']}")
    if specs and not refusals and not any(update["dry"] for update in updates):
        remote.push(specs, callbacks=callbacks, proxy=True)
    return {"heads": heads, "refused": refusals or callbacks.refused, "said": _show_texts(callbacks.said)}


def _refusal_reason(
    scratch: pygit2.Repository, update: Mapping[str, Any], heads: Mapping[str, str]
) -> str | None:
    """Why an update must not be made, judged by the refs that the remote reports in this exchange."""
    there, new = heads.get(update["target"]), update["oid"]
    if there == new:
        return None
    if not new and there is None:
        return "missing"
    if update["lease"] is not None and (there or "") != update["lease"]:
        return "stale"
    if update["force"] or not new or there is None:
        return None
    if there not in scratch:
        return "unknown"
    if update["target"].startswith(_TAGS):
        return "exists"
    return None if scratch.descendant_of(new, there) else "diverged"


def _show_texts(texts: Sequence[str]) -> str:
    text = without_secrets("".join(texts))[-2000:]
    return "".join(sign for sign in text.replace("\r", "\n") if sign.isprintable() or sign == "\n")


def _send(line: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
