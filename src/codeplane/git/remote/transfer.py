"""One exchange with a remote, in a separate process that is killed at its deadline.

What is fetched goes into a scratch repository next to the objects of the real one, with a name that `git gc`
clears away after a crash. Nothing of the real repository changes before the exchange has succeeded.
"""

import json
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pygit2

from codeplane.core.documents import decode_json
from codeplane.core.errors import (
    CodePlaneError,
    CredentialsRefused,
    GitFailed,
    InvalidArgument,
    RemoteRefused,
    RemoteUnreachable,
)
from codeplane.git.remote.credentials import Credential, Helpers
from codeplane.git.remote.refspecs import text_names
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.urls import checked_url, is_local, shown_key, shown_url
from codeplane.process import Programs
from codeplane.storage.files import publish

_MOST_OUTPUT: Final = 64 << 20
# Settings of a trusted repository that the scratch repository takes over.
_TRUSTED_KEYS: Final = ("url.", "http.")
_REFUSALS: Final = (
    "404",
    "403",
    "not found",
    "not exist",
    "denied",
    "certificate",
    "not owned",
    "unsupported",
    "cannot redirect",
)


@dataclass(frozen=True)
class Exchange:
    """What the remote reported: its references, its HEAD, and its output."""

    heads: Mapping[str, str]
    head: str | None = None
    refusals: Mapping[str, str] | None = None
    output: str = ""


@dataclass(frozen=True)
class Connection:
    """What every exchange of one call needs."""

    repository: Repository
    programs: Programs
    seconds: float
    check: Callable[[], None] | None = None
    progress: Callable[[float, float, str], None] | None = None
    local: bool = True  # whether local directories may be remotes

    def check_address(self, url: str) -> None:
        """Refuses an unusable URL before anything is created for it."""
        if is_local(checked_url(url)) and not self.local:
            raise InvalidArgument(
                f"{url} is a local directory: not used in a repository that is not trusted.",
                hints=["cpl trust"],
            )

    def exchange(self, scratch: Path, url: str, request: Mapping[str, object]) -> Exchange:
        """Runs one exchange. If the remote asks for credentials, they are looked up once."""
        self.check_address(url)
        deadline = time.monotonic() + self.seconds
        answer = self._run_courier(scratch, url, request, None, deadline)
        if answer.get("error") != "credentials":
            return self._read_answer(url, answer)
        helpers = Helpers(self.programs, self.repository.root, self.repository.trusted)
        credential = helpers.fill(url, answer.get("user"), deadline - time.monotonic(), self.check)
        if credential is None:
            raise _no_credentials(url)
        answer = self._run_courier(scratch, url, request, credential, deadline)
        is_wrong = answer.get("error") == "refused_credentials"
        if is_wrong or "error" not in answer:
            helpers.tell(url, credential, accepted=not is_wrong)
        return self._read_answer(url, answer)

    def _run_courier(
        self,
        scratch: Path,
        url: str,
        request: Mapping[str, object],
        credential: Credential | None,
        deadline: float,
    ) -> dict[str, Any]:
        seconds = deadline - time.monotonic()
        whole = {
            "url": url,
            "scratch": str(scratch),
            "seconds": max(seconds, 1.0),
            "trusted": self.repository.trusted,
            "local": self.local,
            **request,
        }
        if credential is not None:
            whole |= {"user": credential.user, "password": credential.password}
        ear = _EventReader(self.progress)
        result = self.programs.run(
            [Path(sys.executable), "-I", "-m", "codeplane.git.remote.courier"],
            cwd=scratch,
            timeout=max(seconds, 0.1),
            stdin=json.dumps(whole).encode(),
            most=_MOST_OUTPUT,
            check=self.check,
            heard=ear,
        )
        if result.code is None:
            raise _unreachable_error(url, f"not finished within {self.seconds:g} seconds")
        if not ear.answer:
            raise GitFailed(f"The exchange with {shown_url(url)} broke off.", code=result.code)
        return ear.answer

    def _read_answer(self, url: str, answer: Mapping[str, Any]) -> Exchange:
        if "error" not in answer:
            return Exchange(
                answer["heads"], answer.get("head"), answer.get("refused"), answer.get("said", "")
            )
        message = str(answer["message"]).strip().rstrip(".")
        match answer["error"]:
            case "refused_credentials" | "credentials":
                raise _no_credentials(url)
            case "address":
                raise InvalidArgument(f"{message}.")
            case "unreachable" if not any(word in message.lower() for word in _REFUSALS):
                raise _unreachable_error(url, message)
            case _:
                raise RemoteRefused(f"{shown_url(url)}: {message}.", url=shown_url(url))


class _EventReader:
    """Turns the output of the process into progress and, at the end, the answer."""

    def __init__(self, progress: Callable[[float, float, str], None] | None) -> None:
        self.answer: dict[str, Any] = {}
        self._progress = progress
        self._rest = bytearray()
        self._head: str | None = None

    def __call__(self, data: bytes) -> None:
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        for line in lines:
            self._take(decode_json(line))

    def _take(self, event: dict[str, Any]) -> None:
        if "done" in event:
            if self._progress is not None:
                self._progress(event["done"], event["total"], "objects")
        elif event.keys() == {"head"}:
            self._head = event["head"]
        else:
            self.answer = {**event, "head": self._head}


@contextmanager
def scratch_of(repository: Repository) -> Iterator[Path]:
    """A bare scratch repository that reads all objects and references of the real one."""
    objects = repository.common_dir / "objects"
    place = objects / f"tmp_objdir-codeplane-{secrets.token_hex(6)}"
    try:
        for part in ("objects/info", "objects/pack", "refs"):
            (place / part).mkdir(parents=True, mode=0o700)
        (place / "objects/info/alternates").write_bytes(bytes(objects) + b"\n")
        (place / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        with repository.opened() as handle:
            (place / "config").write_text(_safe_config(handle, trusted=repository.trusted), encoding="utf-8")
            (place / "packed-refs").write_bytes(_pack_refs(handle))
        shallow = repository.common_dir / "shallow"
        if shallow.is_file():
            (place / "shallow").write_bytes(shallow.read_bytes())
        yield place
    except OSError as error:
        raise GitFailed(f"Cannot write into {objects}: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def keep_objects(repository: Repository, scratch: Path) -> None:
    """Moves fetched objects into the repository; a pack goes before its index."""
    target = repository.common_dir / "objects" / "pack"
    target.mkdir(exist_ok=True)
    for pack in sorted((scratch / "objects/pack").glob("pack-*"), key=lambda one: one.suffix == ".idx"):
        publish(pack, target / pack.name)
    # A fetch of few objects may leave them loose.
    for loose in (scratch / "objects").glob("[0-9a-f][0-9a-f]/*"):
        (repository.common_dir / "objects" / loose.parent.name).mkdir(exist_ok=True)
        publish(loose, repository.common_dir / "objects" / loose.parent.name / loose.name)
    shallow = scratch / "shallow"
    if shallow.is_file():
        publish(shallow, repository.common_dir / "shallow")


def ignored_settings(repository: Repository) -> tuple[str, ...]:
    """Notes on settings of the repository that are ignored for remotes."""
    with repository.opened() as handle:
        own = (key for key in _own_keys(handle) if _is_unobeyed(key, trusted=repository.trusted))
        keys = sorted({shown_key(key) for key in own})
    if not keys:
        return ()
    why = (
        "no programs are run for remotes"
        if repository.trusted
        else "the repository is not trusted (cpl trust)"
    )
    return (f"Ignored, since {why}: {', '.join(keys[:10])}.",)


def _own_keys(handle: pygit2.Repository) -> list[str]:
    local = pygit2.enums.ConfigLevel.LOCAL
    return [entry.name for entry in handle.config if entry.level >= local]


def _is_unobeyed(key: str, *, trusted: bool) -> bool:
    section, _, name = key.partition(".")
    name = name.rpartition(".")[2]
    is_program = (section, name) in (
        ("core", "sshcommand"),
        ("remote", "uploadpack"),
        ("remote", "receivepack"),
        ("remote", "vcs"),
        ("remote", "proxy"),
    )
    is_other = section in ("credential", "http", "url") or (section, name) == ("core", "askpass")
    return is_program or (is_other and not trusted)


def _safe_config(handle: pygit2.Repository, *, trusted: bool) -> str:
    lines = ["[core]", "\trepositoryformatversion = 0", "\tbare = true"]
    local = pygit2.enums.ConfigLevel.LOCAL
    for entry in handle.config if trusted else ():
        if entry.level >= local and entry.name.startswith(_TRUSTED_KEYS) and entry.value is not None:
            section, _, rest = entry.name.partition(".")
            sub, _, name = rest.rpartition(".")
            head = f'[{section} "{_escape(sub)}"]' if sub else f"[{section}]"
            lines += [head, f'\t{name} = "{_escape(entry.value)}"']
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _pack_refs(handle: pygit2.Repository) -> bytes:
    """The references as packed-refs, so that the remote learns what is here already."""
    targets = ((name, handle.references[name].target) for name in text_names(handle))
    lines = "".join(f"{target} {name}\n" for name, target in targets if isinstance(target, pygit2.Oid))
    return f"# pack-refs with: sorted\n{lines}".encode()


def _unreachable_error(url: str, why: str) -> CodePlaneError:
    return RemoteUnreachable(
        f"{shown_url(url)} cannot be reached: {why}.",
        hints=[Remedy(Fix.CHECK_ADDRESS)],
        url=shown_url(url),
    )


def _no_credentials(url: str) -> CodePlaneError:
    return CredentialsRefused(
        f"{shown_url(url)} asks for credentials, and accepts none that the user's agent or helpers have.",
        hints=[
            "The user can run `git fetch` once in a terminal, or set up a credential helper or ssh-agent."
        ],
        url=shown_url(url),
    )
