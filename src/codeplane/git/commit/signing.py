"""Signing commits and tags with the user's own program, in trusted repositories only."""

import tempfile
from pathlib import Path
from typing import Final, Literal

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.repo.config import config_flag, config_text
from codeplane.git.repo.repository import Repository
from codeplane.process import Programs

_TIMEOUT_SEC: Final = 60.0
_PROGRAMS: Final = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_MOST_TOLD: Final = 500


def sign_payload(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    payload: bytes,
    who: pygit2.Signature,
    what: Literal["commit", "tag"],
) -> tuple[bytes, tuple[str, ...]]:
    """The signature that `commit.gpgSign` or `tag.gpgSign` asks for; if it is not made, a note says why."""
    if not config_flag(handle, f"{what}.gpgSign"):
        return b"", ()
    if not repository.trusted:
        return b"", (f"The {what} is not signed: the repository is not trusted (cpl trust).",)
    kind = (config_text(handle, "gpg.format") or "openpgp").lower()
    if kind not in _PROGRAMS:
        raise GitFailed(f"gpg.format is {kind}; it can be {', '.join(_PROGRAMS)}.")
    program = _signing_program(programs, handle, kind)
    key = config_text(handle, "user.signingKey")
    if kind == "ssh":
        return _by_ssh(programs, program, key, payload), ()
    return _by_gpg(programs, program, key or f"{who.name} <{who.email}>", payload), ()


def _signing_program(programs: Programs, handle: pygit2.Repository, kind: str) -> Path:
    setting = config_text(handle, f"gpg.{kind}.program") or (
        config_text(handle, "gpg.program") if kind == "openpgp" else None
    )
    path = Path(setting or _PROGRAMS[kind]).expanduser()
    return path if path.is_absolute() else programs.find(str(path))


def _by_gpg(programs: Programs, program: Path, key: str, payload: bytes) -> bytes:
    argv: list[str | Path] = [program, "--status-fd=2", "-bsau", key]
    result = programs.run(argv, cwd=Path("/"), timeout=_TIMEOUT_SEC, stdin=payload)
    if not result.is_ok or b"[GNUPG:] SIG_CREATED " not in result.stderr:
        raise _signing_failed(program, result.said)
    return result.stdout.replace(b"\r\n", b"\n")


def _by_ssh(programs: Programs, program: Path, key: str | None, payload: bytes) -> bytes:
    """The key is a file, or the public key itself (`key::ssh-…`), whose private half the agent has."""
    if not key:
        raise GitFailed(
            "gpg.format is ssh, but there is no user.signingKey.",
            hints=["git config --global user.signingKey ~/.ssh/id_ed25519.pub"],
        )
    literal = key.removeprefix("key::")
    if not key.startswith(("key::", "ssh-")):
        return _with_key(programs, program, [str(Path(key).expanduser())], payload)
    with tempfile.NamedTemporaryFile(prefix="codeplane-key-") as file:
        file.write(literal.encode() + b"\n")
        file.flush()
        return _with_key(programs, program, [file.name, "-U"], payload)


def _with_key(programs: Programs, program: Path, key: list[str], payload: bytes) -> bytes:
    argv: list[str | Path] = [program, "-Y", "sign", "-n", "git", "-f", *key]
    result = programs.run(argv, cwd=Path("/"), timeout=_TIMEOUT_SEC, stdin=payload)
    if not result.is_ok or not result.stdout.startswith(b"-----BEGIN SSH SIGNATURE"):
        raise _signing_failed(program, result.said)
    return result.stdout.replace(b"\r\n", b"\n")


def _signing_failed(program: Path, output: str) -> GitFailed:
    return GitFailed(
        f"{program.name} did not sign: {output[-_MOST_TOLD:] or 'it printed nothing'}",
        hints=["Fix the key, or run git config commit.gpgSign false."],
    )
