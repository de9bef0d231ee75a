"""Secrets taken out of text before it is stored or shown."""

import re
from collections.abc import Iterable
from typing import Final

REDACTED: Final = "[redacted]"

# Tokens whose issuers give them a shape of their own.
_SHAPES: Final = re.compile(
    r"""
    -----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY-----
        (?:(?!-----BEGIN[ ])[\s\S]){0,20000}?
        (?:-----END[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY-----|\Z)
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                                  # AWS access keys
    | \bgh[pousr]_[A-Za-z0-9]{30,255}                                # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{30,255}
    | \bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,255}                # GitLab
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,255}                            # Slack
    | \bAIza[A-Za-z0-9_-]{35}                                        # Google
    | \b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}                      # Stripe
    | \bsk-(?:[a-z]{2,10}-)*[A-Za-z0-9_-]{20,255}                    # keys of model providers
    | \bAT[AC]TT3[A-Za-z0-9_=-]{20,400}                              # Atlassian
    | \bnpm_[A-Za-z0-9]{36}                                          # npm
    | \bpypi-[A-Za-z0-9_-]{50,400}                                   # PyPI
    | \beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}   # JSON web tokens
    """,
    re.VERBOSE,
)
_AUTHORIZATION: Final = re.compile(r"(?i)\b((?:bearer|basic)[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,8000})")
_URL_PASSWORD: Final = re.compile(r"(://[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)")
# `password: string` describes a field; a value with letters and digits is taken for a password.
_ASSIGNMENT: Final = re.compile(
    r"""(?ix)
    ( (?:password|passwd|pwd|secret|(?:api|access)[_-]?key|(?:private|auth|access)[_-]?token)
      ["']? [ \t]{0,4} [:=] [ \t]{0,4} ["'`]? )
    ( (?=[^\s"'`,;]{0,64}\d) (?=[^\s"'`,;]{0,64}[a-z]) [^\s"'`,;]{8,512} )
    """
)


def redact_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Replaces the secrets that are passed, and whatever has the shape of a token, a key or a password."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, REDACTED)
    text = _SHAPES.sub(REDACTED, text)
    text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    text = _URL_PASSWORD.sub(rf"\1{REDACTED}", text)
    return _ASSIGNMENT.sub(rf"\1{REDACTED}", text)
