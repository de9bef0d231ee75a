"""User names and passwords from the user's credential helpers; nobody is prompted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from codeplane.core.errors import ProgramMissing
from codeplane.process import Programs

_HELPER_SEC: Final = 20.0
_MOST: Final = 1 << 16
# An empty GIT_ASKPASS counts as set, so core.askPass and SSH_ASKPASS are ignored.
_SILENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_CEILING_DIRECTORIES": "/",
}


@dataclass(frozen=True)
class Credential:
    """A credential for one request to one remote, and for nothing else."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Helpers:
    """The credential helpers of the user, and of the repository where it is trusted."""

    programs: Programs
    root: Path
    trusted: bool

    def fill(
        self, url: str, user: str | None, seconds: float, check: Callable[[], None] | None = None
    ) -> Credential | None:
        """The credential for a URL; None if no helper has one in time."""
        query = _describe_query(url, user)
        answer = self._ask("fill", query, min(seconds, _HELPER_SEC), check) if query is not None else None
        answers = dict(line.split("=", 1) for line in (answer or "").splitlines() if "=" in line)
        if "username" not in answers or "password" not in answers:
            return None
        return Credential(answers["username"], answers["password"])

    def tell(self, url: str, credential: Credential, *, accepted: bool) -> None:
        """Tells the helpers to store an accepted credential, or to erase a rejected one."""
        query = _describe_query(url, credential.user)
        if query is not None:
            verb = "approve" if accepted else "reject"
            self._ask(verb, f"{query}password={credential.password}\n", _HELPER_SEC)

    def _ask(
        self, verb: str, query: str, seconds: float, check: Callable[[], None] | None = None
    ) -> str | None:
        try:
            program = self.programs.find("git")
        except ProgramMissing:
            return None
        result = self.programs.run(
            [program, "-c", "core.askPass=", "-c", "credential.interactive=false", "credential", verb],
            # In the root of the file system git sees no repository and no repository's configuration.
            cwd=self.root if self.trusted else Path("/"),
            timeout=seconds,
            env=_SILENT,
            stdin=query.encode(),
            most=_MOST,
            check=check,
        )
        return result.stdout.decode("utf-8", "replace") if result.is_ok else None


def _describe_query(url: str, user: str | None) -> str | None:
    """The query in git's credential format; None if a part would span lines."""
    parts = urlsplit(url)
    user = user or (unquote(parts.username) if parts.username else None)
    fields = {
        "protocol": parts.scheme,
        "host": parts.netloc.rpartition("@")[2],
        "path": unquote(parts.path.lstrip("/")),
        "username": user,
    }
    values = {key: value for key, value in fields.items() if value}
    if any(not value.isprintable() for value in values.values()):
        return None
    return "".join(f"{key}={value}\n" for key, value in values.items())
