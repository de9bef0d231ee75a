"""Addresses that connectors may ask: checked against the user's allowlist before anything is sent."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from codeplane.core.errors import ConnectorOff, HostNotAllowed, InvalidArgument

_LONGEST: Final = 2_048
_LONGEST_SHOWN: Final = 200
_PORTS: Final = {"http": 80, "https": 443}
_BAD_CHARACTER: Final = re.compile(r"[\x00-\x20\x7f\\]")
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,252})|[0-9a-f:.]{2,45}")
_PATH_SAFE: Final = "%/:=&?~+!$,;'@()*[]"


@dataclass(frozen=True)
class Address:
    """Where one request goes."""

    scheme: str
    host: str
    port: int
    target: str  # path and query, as they stand in the request line

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: a token belongs to one origin."""
        return self.scheme, self.host, self.port

    @property
    def netloc(self) -> str:
        """Host and port as an allowlist and a Host header have them; the usual port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.target}"

    @property
    def label(self) -> str:
        """The address for messages: without its query, which may carry secrets."""
        text = f"{self.scheme}://{self.netloc}{self.target.partition('?')[0]}"
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or is_loopback_ip(self.host)


def is_loopback_ip(text: str) -> bool:
    """Whether a text is an IP address of this machine."""
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def parse_address(text: str) -> Address:
    """Reads an http or https URL; `InvalidArgument` with the reason for anything else."""
    if len(text) > _LONGEST:
        raise InvalidArgument(f"The URL is longer than {_LONGEST} characters.")
    if _BAD_CHARACTER.search(text):
        raise InvalidArgument("The URL contains a space, a backslash or a control character.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidArgument(f"The URL can't be read: {error}.") from error
    if parts.scheme not in _PORTS:
        raise InvalidArgument("The URL has to begin with https:// (or http:// for this machine).")
    if "@" in parts.netloc:
        raise InvalidArgument(
            "The URL contains a user or password.",
            hints=["Leave it out; tokens are configured in the user's settings."],
        )
    host = (parts.hostname or "").lower()
    if not _HOST.fullmatch(host):
        raise InvalidArgument("The URL has no valid host; internationalised names are written as xn--….")
    target = quote(parts.path or "/", safe=_PATH_SAFE)
    if parts.query:
        target += "?" + quote(parts.query, safe=_PATH_SAFE)
    return Address(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, target)


def redirect_target(address: Address, location: str) -> Address:
    """Where an answer sends the client; `HostNotAllowed` for what is no web address at all."""
    try:
        return parse_address(urljoin(address.url, location))
    except (InvalidArgument, ValueError) as error:
        raise HostNotAllowed(f"{address.label} redirects to an address that can't be followed.") from error


def matches_host(address: Address, hosts: Sequence[str]) -> bool:
    """Whether a list names the host: `host` means its usual port, `host:port` that port alone."""
    names = {address.netloc, f"{address.netloc}:{address.port}"}
    return any(entry.strip().lower() in names for entry in hosts)


def check_allowed(address: Address, hosts: Sequence[str]) -> None:
    """Refuses an address that the user's settings don't allow."""
    if not hosts:
        raise ConnectorOff(
            "Connectors are switched off: no host is allowed.",
            hints=[f"The user adds `{address.netloc}` to connectors.hosts in their own configuration file."],
            setting="connectors.hosts",
        )
    if not matches_host(address, hosts):
        raise HostNotAllowed(
            f"{address.netloc} is not a host that connectors may ask.",
            hints=[f"The user adds `{address.netloc}` to connectors.hosts in their own configuration file."],
            host=address.netloc,
            setting="connectors.hosts",
        )
    if address.scheme == "http" and not address.is_loopback:
        raise HostNotAllowed(
            f"{address.netloc} would be asked without encryption.",
            hints=["Use https://; http:// is for this machine alone."],
            host=address.netloc,
        )
