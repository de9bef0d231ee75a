"""Secrets in texts that are kept or shown: replaced before anything is written down."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

REDACTED: Final = "[redacted]"

_KEY_BLOCK: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
)
# Tokens that their own beginning gives away.
_TOKEN: Final = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        gh[pousr]_[A-Za-z0-9]{20,255}
        | github_pat_[A-Za-z0-9_]{20,255}
        | glpat-[A-Za-z0-9_-]{16,255}
        | xox[abeoprs]-[A-Za-z0-9-]{10,255}
        | (?:AKIA|ASIA)[A-Z0-9]{16}
        | AIza[A-Za-z0-9_-]{30,60}
        | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}
        | sk-[A-Za-z0-9_-]{20,255}
        | npm_[A-Za-z0-9]{30,60}
        | pypi-[A-Za-z0-9_-]{30,400}
        | ATATT[A-Za-z0-9_=-]{20,400}
    )""",
    re.VERBOSE,
)
# Three parts and two dots. A run of such characters is scanned once, from its first one, without going back.
_WEB_TOKEN: Final = re.compile(
    r"""(?<![A-Za-z0-9_-])
        (?>(?P<before>(?:[A-Za-z0-9]*+[_-])*?)eyJ[A-Za-z0-9_-]{8,}+)
        \.eyJ[A-Za-z0-9_-]{4,}+
        \.[A-Za-z0-9_-]{4,}+
    """,
    re.VERBOSE,
)
# Words follow these too ("basic authentication"): a short value counts with a digit in it alone.
_AUTHORIZATION: Final = re.compile(
    r"(?i)\b((?:bearer|basic)\s+)(?:[A-Za-z0-9._~+/=-]{16,}|(?=[A-Za-z._~+/=-]{0,16}\d)[A-Za-z0-9._~+/=-]{8,})"
)
_PASSWORD_IN_URL: Final = re.compile(r"(://[^\s/:@'\"<>]{0,256}:)[^\s/@'\"<>]{1,400}(?=@)")
# `https://TOKEN@host`, but not `ssh://git@host`.
_TOKEN_IN_URL: Final = re.compile(r"(?<=://)[^\s/:@'\"<>\[]{16,400}(?=@)")
_CREDENTIAL: Final = (
    r"(?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|token|credentials?)"
)
# A value in quotes, or a bare one that is no code: `token = read_token()` and `password: str` stay.
_ASSIGNMENT: Final = re.compile(
    rf"(?i)(?P<name>{_CREDENTIAL}[\"']?\s{{0,4}}(?:=|:|=>)\s{{0,4}})"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]{4,2000})(?P=quote)"
    r"|(?P<bare>(?=[A-Za-z_-]{0,400}[0-9])[A-Za-z0-9_+/=~-]{8,400})(?![\w(.\[]))"
)
_SECRET_KEY: Final = re.compile(rf"(?i)(?:^|[_.-])?{_CREDENTIAL}$")


def redact_text(text: str) -> str:
    """The text with a mark in the place of what looks like a secret; a second pass changes nothing."""
    text = _KEY_BLOCK.sub(REDACTED, text)
    text = _TOKEN.sub(REDACTED, text)
    if ".eyJ" in text:
        text = _WEB_TOKEN.sub(rf"\g<before>{REDACTED}", text)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    text = _PASSWORD_IN_URL.sub(rf"\1{REDACTED}", text)
    text = _TOKEN_IN_URL.sub(REDACTED, text)
    return _ASSIGNMENT.sub(_redact_assignment, text)


def redact_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, and without whatever else looks like one."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, REDACTED)
    return redact_text(text)


def redact_value(value: Any) -> Any:
    """Plain data with its texts redacted; a text under the name of a secret is replaced whole."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, Mapping):
        return {key: _redact_member(key, member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [redact_value(member) for member in value]
    return value


def _redact_member(key: object, member: Any) -> Any:
    if isinstance(member, str) and len(member) >= 4 and _SECRET_KEY.search(str(key)):
        return REDACTED
    return redact_value(member)


def _redact_assignment(match: re.Match[str]) -> str:
    quote = match["quote"] or ""
    return f"{match['name']}{quote}{REDACTED}{quote}"
