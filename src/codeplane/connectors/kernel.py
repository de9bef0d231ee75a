"""The one way out: every request of every connector goes through `Kernel.fetch`."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from codeplane.config.settings import ConnectorSettings
from codeplane.connectors.address import Address, check_allowed, redirect_target
from codeplane.connectors.answer_cache import Answer, AnswerCache
from codeplane.connectors.credentials import Credential
from codeplane.connectors.exchange import PassingFailure, RawAnswer, exchange_once
from codeplane.connectors.pacing import Pacing, backoff_pause, retry_after
from codeplane.connectors.timing import Clock, Deadline
from codeplane.core.errors import (
    ConnectorAnswerInvalid,
    ConnectorError,
    ConnectorNotFound,
    ConnectorRateLimited,
    ConnectorUnauthorised,
    ConnectorUnavailable,
    HostNotAllowed,
)
from codeplane.core.redaction import redact_secrets

_MOST_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_PASSING: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
_STALL_SHARE: Final = 0.4
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What a connector asks for."""

    address: Address
    purpose: str  # `jira` or `openapi`: answers are never shared between purposes
    content_types: tuple[str, ...]
    token_setting: str = ""
    credential: Credential | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        return self.credential.secrets if self.credential is not None else ()


class Kernel:
    """Asks hosts that the user allows, within limits of time, size and frequency."""

    def __init__(self, settings: ConnectorSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._pacing = Pacing(clock, settings.requests_per_minute)
        self._cache = AnswerCache()

    def check_address(self, address: Address) -> None:
        """Refuses an address that may not be asked, before a token is read for it."""
        check_allowed(address, self._settings.hosts)

    def fetch(self, request: Request, check: Callable[[], None] = lambda: None) -> Answer:
        """The answer to a request, repeated where that may help."""
        limit = self._settings.timeout_sec
        deadline = Deadline(self._clock, limit, limit * _STALL_SHARE, check)
        try:
            check_allowed(request.address, self._settings.hosts)
            return self._follow_redirects(request, deadline)
        except ConnectorError as error:
            _raise_clean(error, request.secrets)

    def _follow_redirects(self, request: Request, deadline: Deadline) -> Answer:
        address, has_left = request.address, False
        for _ in range(_MOST_REDIRECTS + 1):
            stored = self._cache.find_answer(address.url, request.purpose)
            headers = _request_headers(request, stored, with_token=not has_left)
            raw = self._ask_patiently(address, headers, deadline)
            if raw.status == 304 and stored is not None:
                return replace(stored, is_confirmed=True)
            if raw.status not in _REDIRECTS:
                return self._accept_answer(raw, address, request)
            target = redirect_target(address, raw.headers.get("location", ""))
            if target.scheme == "http" and address.scheme == "https":
                raise HostNotAllowed(f"{address.label} redirects to a connection without encryption.")
            if target.origin != address.origin:
                check_allowed(target, self._settings.hosts)
                # Another host must not get the token, nor choose what it is used for on the way back.
                has_left = True
            address = target
        raise ConnectorAnswerInvalid(f"{request.address.label} redirects more than {_MOST_REDIRECTS} times.")

    def _ask_patiently(self, address: Address, headers: Mapping[str, str], deadline: Deadline) -> RawAnswer:
        """One hop: repeated with growing pauses while it fails in passing and there is time."""
        attempts = self._settings.retries + 1
        for attempt in range(attempts):
            self._pacing.await_turn(address.netloc, deadline)
            wait: float | None = None
            try:
                raw = exchange_once(address, headers, deadline, self._settings.max_bytes)
            except PassingFailure as failure:
                status, problem = None, str(failure)
            else:
                _log.debug("%s answered %d with %d bytes", address.netloc, raw.status, len(raw.body))
                if raw.status not in _PASSING:
                    return raw
                status, problem = raw.status, f"answered {raw.status}"
                wait = retry_after(raw.headers.get("retry-after"), self._clock)
            pause = max(wait or 0.0, backoff_pause(attempt, self._clock))
            is_over = attempt + 1 == attempts or pause >= deadline.remaining()
            if status == 429 and wait is not None and is_over:
                self._pacing.block_host(address.netloc, wait)
            if is_over:
                raise _give_up(address, status, problem, attempt + 1, wait)
            deadline.pause(pause)
        raise AssertionError("BUG: the last attempt neither answered nor failed")

    def _accept_answer(self, raw: RawAnswer, address: Address, request: Request) -> Answer:
        if raw.status != 200:
            raise _status_error(raw.status, address, request)
        content_type = raw.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type not in request.content_types:
            raise ConnectorAnswerInvalid(
                f"{address.label} answered with {content_type[:80] or 'no content type'}"
                f" instead of {request.content_types[0]}.",
                hints=["A page for people often means that the address or the token is wrong."],
                host=address.netloc,
            )
        body = request.credential.clean_bytes(raw.body) if request.credential is not None else raw.body
        is_storable = "no-store" not in raw.headers.get("cache-control", "").lower()
        answer = Answer(
            url=address.label,
            body=body,
            content_type=content_type,
            etag=_storable_header(raw.headers.get("etag", ""), request.secrets) if is_storable else "",
            modified=_storable_header(raw.headers.get("last-modified", ""), request.secrets)
            if is_storable
            else "",
        )
        self._cache.store_answer(answer, address.url, request.purpose)
        return answer


def _request_headers(request: Request, stored: Answer | None, *, with_token: bool) -> dict[str, str]:
    headers = {
        "Accept": ", ".join(request.content_types),
        "Accept-Encoding": "gzip",
        "Connection": "close",
        "User-Agent": "CodePlane",
    }
    if request.credential is not None and with_token:
        headers["Authorization"] = request.credential.header
    return {**headers, **stored.conditions} if stored is not None else headers


def _storable_header(value: str, secrets: Iterable[str]) -> str:
    """A header that is sent back with the next request, unless it is odd or carries the token."""
    is_plain = len(value) <= 512 and value.isascii() and value.isprintable()
    return value if is_plain and not any(secret in value for secret in secrets) else ""


def _status_error(status: int, address: Address, request: Request) -> ConnectorError:
    details: dict[str, Any] = {"host": address.netloc, "status": status}
    if status in (401, 403):
        setting = request.token_setting
        return ConnectorUnauthorised(
            f"{address.label} refused access ({status}).",
            hints=[f"The user checks {setting}." if setting else "It needs a token; none is configured."],
            **details,
        )
    if status in (404, 410):
        return ConnectorNotFound(
            f"{address.label} does not exist, or this token can't see it ({status}).", **details
        )
    return ConnectorAnswerInvalid(f"{address.label} answered with status {status}.", **details)


def _give_up(
    address: Address, status: int | None, problem: str, attempts: int, wait: float | None
) -> ConnectorError:
    details: dict[str, Any] = {"host": address.netloc, "attempts": attempts}
    if status is not None:
        details["status"] = status
    if wait is not None:
        details["retry_after_sec"] = round(wait, 1)
    if status == 429:
        later = f" for {wait:.0f} s" if wait is not None else ""
        return ConnectorRateLimited(
            f"{address.netloc} allows no further requests{later}.", hints=["Ask again later."], **details
        )
    tries = "once" if attempts == 1 else f"{attempts} times"
    return ConnectorUnavailable(
        f"{address.netloc} {problem} (asked {tries}).",
        hints=["Ask again later; limits are connectors.timeout_sec and connectors.retries."],
        **details,
    )


def _raise_clean(error: ConnectorError, secrets: tuple[str, ...]) -> NoReturn:
    """Raises an error as it is, or a copy without the token where a host has put it into what is quoted."""
    wire = repr((error.message, error.hints, error.details))
    if not any(secret in wire for secret in secrets):
        raise error
    details = {key: redact_secrets(str(value), secrets) for key, value in error.details.items()}
    hints = [redact_secrets(hint, secrets) for hint in error.hints]
    raise type(error)(redact_secrets(error.message, secrets), hints=hints, **details) from None
