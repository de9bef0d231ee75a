"""Tokens: read when they are needed, sent to one origin, shown nowhere."""

import base64
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from codeplane.core.errors import TokenUnusable
from codeplane.core.redaction import REDACTED
from codeplane.storage.files import open_plain

Environment = Callable[[Iterable[str]], Mapping[str, str]]
"""Looks up variables of the user's environment by name."""

_LONGEST: Final = 8_192
_SHORTEST: Final = 8
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")
_USER: Final = re.compile(r"[^\x00-\x1f\x7f:]{1,256}")


@dataclass(frozen=True)
class Credential:
    """A token and how it is sent; its representation does not contain it."""

    scheme: Literal["Bearer", "Basic"]
    token: str = field(repr=False)
    user: str = field(default="", repr=False)

    @property
    def header(self) -> str:
        """The value of the Authorization header."""
        return f"{self.scheme} {self._sent_value}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every form in which the token may come back."""
        return (self._sent_value, self.token)

    def clean_bytes(self, data: bytes) -> bytes:
        """An answer without the token, should the host echo it."""
        for secret in self.secrets:
            data = data.replace(secret.encode(), REDACTED.encode())
        return data

    @property
    def _sent_value(self) -> str:
        if self.scheme == "Bearer":
            return self.token
        return base64.b64encode(f"{self.user}:{self.token}".encode()).decode()


@dataclass(frozen=True)
class TokenSource:
    """Where the user says that a token is: a file, or an environment variable by name."""

    setting: str  # the section of the settings, for messages
    file: str = ""
    variable: str = ""

    @property
    def is_configured(self) -> bool:
        return bool(self.file or self.variable)

    def read_token(self, environment: Environment) -> str:
        """The token; `TokenUnusable` with the reason and never with what was read."""
        if self.file:
            text, origin = self._file_text(), f"{self.setting}.token_file"
        elif self.variable:
            value = environment([self.variable]).get(self.variable)
            if value is None:
                raise self._unusable(
                    f"The environment variable {self.variable} is not set.",
                    f"Set it where CodePlane is started, or change {self.setting}.token_env.",
                )
            text, origin = value, self.variable
        else:
            raise self._unusable(
                f"No token is configured: {self.setting}.token_file and {self.setting}.token_env are empty.",
                f"The user sets {self.setting}.token_file in their own configuration file.",
            )
        token = text.strip()
        if not _TOKEN.fullmatch(token) or not _SHORTEST <= len(token) <= _LONGEST:
            raise self._unusable(
                f"What {origin} leads to is not a token: one word of {_SHORTEST} to {_LONGEST} characters.",
                "Write the token alone, on one line.",
            )
        return token

    def _file_text(self) -> str:
        path = Path(self.file).expanduser()
        if not path.is_absolute():
            raise self._unusable("The path of the token file is not absolute.", "Write it as /… or ~/….")
        if not path.exists():
            raise self._unusable("The token file does not exist.", f"Write the token into {self.file}.")
        stream = open_plain(path)
        if stream is None:
            raise self._unusable(
                "The token file is not a regular file that can be read.",
                "Use a plain file; links are not followed.",
            )
        with stream:
            status = os.fstat(stream.fileno())
            if status.st_uid != os.geteuid():
                raise self._unusable("The token file belongs to another user.", f"chown it: {self.file}")
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise self._unusable("Others can read the token file.", f"chmod 600 {self.file}")
            return stream.read(_LONGEST + 2).decode("utf-8", "replace")

    def _unusable(self, message: str, hint: str) -> TokenUnusable:
        return TokenUnusable(message, hints=[hint], setting=self.setting)


def bearer_credential(source: TokenSource, environment: Environment) -> Credential:
    """A token that is sent by itself."""
    return Credential("Bearer", source.read_token(environment))


def basic_credential(source: TokenSource, user: str, environment: Environment) -> Credential:
    """A token that is sent with the account that it belongs to."""
    if not _USER.fullmatch(user):
        raise TokenUnusable(
            f"A cloud token needs its account: {source.setting}.user.",
            hints=[f"The user sets {source.setting}.user to the e-mail address of the account."],
            setting=f"{source.setting}.user",
        )
    return Credential("Basic", source.read_token(environment), user)
