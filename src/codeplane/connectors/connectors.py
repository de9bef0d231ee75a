"""What the rest of CodePlane asks connectors for."""

import re
from collections.abc import Callable
from typing import Final

from codeplane.config.places import user_variables
from codeplane.config.settings import ConnectorSettings
from codeplane.connectors.address import Address, matches_host, parse_address
from codeplane.connectors.api_spec import ApiSpec, slice_description
from codeplane.connectors.credentials import Credential, Environment, TokenSource, bearer_credential
from codeplane.connectors.jira import Ticket, fetch_ticket
from codeplane.connectors.kernel import Kernel, Request
from codeplane.connectors.timing import Clock
from codeplane.core.errors import ConnectorAnswerTooLarge

FileReader = Callable[[str], bytes]
"""Reads a file of the repository, or refuses to."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SECTION: Final = "connectors.openapi"
# Servers seldom know a description from any other document.
_CONTENT_TYPES: Final = (
    "application/json",
    "application/yaml",
    "application/x-yaml",
    "application/openapi+json",
    "application/openapi+yaml",
    "application/vnd.oai.openapi",
    "application/vnd.oai.openapi+json",
    "application/octet-stream",
    "text/json",
    "text/yaml",
    "text/x-yaml",
    "text/vnd.yaml",
    "text/plain",
)


def _keep_going() -> None:
    """Nobody has stopped the call."""


class Connectors:
    """Reads tickets and API descriptions; what hosts said and how often they were asked is remembered."""

    def __init__(
        self,
        settings: ConnectorSettings,
        environment: Environment = user_variables,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self._environment = environment
        self._kernel = Kernel(settings, clock or Clock())

    def jira_ticket(self, key: str, *, check: Callable[[], None] = _keep_going) -> Ticket:
        """Reads a ticket of the Jira server that the user has configured."""
        return fetch_ticket(self._kernel, self.settings.jira, key, self._environment, check)

    def api_spec(
        self,
        source: str,
        *,
        operation: str | None = None,
        contains: str = "",
        read_file: FileReader | None = None,
        check: Callable[[], None] = _keep_going,
    ) -> ApiSpec:
        """Reads an API description by URL or by path in the repository: all its operations, or one."""
        secrets: tuple[str, ...] = ()
        if _URL.match(source) or read_file is None:
            address = parse_address(source)
            self._kernel.check_address(address)
            credential = self._openapi_credential(address)
            setting = f"{_SECTION}.token_file or token_env" if credential is not None else ""
            request = Request(address, "openapi", _CONTENT_TYPES, setting, credential)
            answer = self._kernel.fetch(request, check)
            data, label, secrets = answer.body, answer.url, request.secrets
        else:
            data, label = self._file_bytes(source, read_file), source
        return slice_description(data, label, operation, contains, secrets)

    def _file_bytes(self, path: str, read_file: FileReader) -> bytes:
        data = read_file(path)
        if len(data) > self.settings.max_bytes:
            raise ConnectorAnswerTooLarge(
                f"{path} is larger than {self.settings.max_bytes} bytes.",
                hints=["Raise connectors.max_bytes."],
                setting="connectors.max_bytes",
            )
        return data

    def _openapi_credential(self, address: Address) -> Credential | None:
        settings = self.settings.openapi
        source = TokenSource(_SECTION, settings.token_file, settings.token_env)
        if not source.is_configured or not matches_host(address, settings.token_hosts):
            return None
        return bearer_credential(source, self._environment)
