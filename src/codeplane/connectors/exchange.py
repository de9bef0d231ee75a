"""One request and one answer over a new connection: within a deadline, within a size, without surprises.

`http.client` sends what it is told and nothing else. It obeys no proxy of the environment, follows no
redirect, keeps no cookies, decompresses nothing and logs nothing; a general client would have to be kept
from each of these.
"""

import http.client
import io
import queue
import socket
import ssl
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from codeplane.connectors.address import Address, is_loopback_ip
from codeplane.connectors.timing import Deadline
from codeplane.core.errors import (
    ConnectorAnswerInvalid,
    ConnectorAnswerTooLarge,
    ConnectorUntrusted,
    HostNotAllowed,
)

_CHUNK: Final = 65_536
_HEADER_ROOM: Final = 262_144
_GZIP: Final = 16 + zlib.MAX_WBITS


class PassingFailure(Exception):
    """An exchange failed in a way that may not happen again; the text says how."""


@dataclass(frozen=True)
class RawAnswer:
    """Status, headers in lower case, and the decompressed body, which only a status of 200 has."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange_once(
    address: Address, headers: Mapping[str, str], deadline: Deadline, most_bytes: int
) -> RawAnswer:
    """Sends one GET request; `PassingFailure` where repeating it may help."""
    try:
        with _open_socket(address, deadline) as sock:
            return _read_answer(sock, address, headers, deadline, most_bytes)
    except ssl.SSLCertVerificationError as error:
        raise ConnectorUntrusted(
            f"The certificate of {address.netloc} could not be verified: {error.verify_message}.",
            hints=["Add its authority to the system's certificates, or name it by SSL_CERT_FILE."],
            host=address.netloc,
        ) from error
    except TimeoutError as error:
        raise PassingFailure("did not answer in time") from error
    except (http.client.RemoteDisconnected, http.client.IncompleteRead) as error:
        raise PassingFailure("closed the connection before the answer was complete") from error
    except http.client.HTTPException as error:
        raise _invalid_answer(address, "does not speak HTTP as it should") from error
    except OSError as error:
        raise PassingFailure(f"could not be reached ({_reason_of(error)})") from error


def _reason_of(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _invalid_answer(address: Address, problem: str) -> ConnectorAnswerInvalid:
    return ConnectorAnswerInvalid(f"{address.netloc} {problem}.", host=address.netloc)


def _open_socket(address: Address, deadline: Deadline) -> socket.socket:
    failure: OSError = OSError("no address")
    for ip in _resolve_host(address, deadline):
        try:
            sock = socket.create_connection((ip, address.port), timeout=deadline.next_wait())
        except OSError as error:
            failure = error
            continue
        try:
            return _secure_socket(sock, ip, address, deadline)
        except BaseException:
            sock.close()
            raise
    raise failure


def _secure_socket(sock: socket.socket, ip: str, address: Address, deadline: Deadline) -> socket.socket:
    if address.scheme == "http":
        # `localhost` is a name like any other: what it resolves to has to be this machine.
        if not is_loopback_ip(ip):
            raise HostNotAllowed(f"{address.netloc} is not this machine.", host=address.netloc)
        return sock
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    sock.settimeout(deadline.next_wait())
    return context.wrap_socket(sock, server_hostname=address.host)


def _resolve_host(address: Address, deadline: Deadline) -> list[str]:
    """The IP addresses of a host; looked up in a thread, because a lookup knows no time limit."""
    results: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            results.put(OSError(None, f"its name has no address: {error}"))
        else:
            results.put(list(dict.fromkeys(str(row[4][0]) for row in rows)))

    threading.Thread(target=look_up, name="connector-lookup", daemon=True).start()
    try:
        result = results.get(timeout=deadline.next_wait())
    except queue.Empty:
        raise TimeoutError("the name lookup took too long") from None
    if isinstance(result, OSError):
        raise result
    return result


class _MeteredReader(io.RawIOBase):
    """Reads a socket until the deadline and up to a number of bytes, headers included."""

    def __init__(self, sock: socket.socket, deadline: Deadline, room: int, too_large: Exception) -> None:
        super().__init__()
        self._sock = sock
        # Holds the socket open: the response closes its own handle as soon as the headers are read.
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline
        self._room = room
        self._too_large = too_large

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(self._deadline.next_wait())
        size = self._raw.readinto(buffer) or 0
        self._room -= size
        if self._room < 0:
            raise self._too_large
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Stream:
    """What `http.client` reads an answer from, in place of the socket."""

    def __init__(self, reader: _MeteredReader) -> None:
        self._reader = reader

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - called by http.client
        return io.BufferedReader(self._reader, _CHUNK)


def _read_answer(
    sock: socket.socket, address: Address, headers: Mapping[str, str], deadline: Deadline, most_bytes: int
) -> RawAnswer:
    too_large = ConnectorAnswerTooLarge(
        f"The answer of {address.netloc} is larger than {most_bytes} bytes.",
        hints=["Ask for less, or raise connectors.max_bytes."],
        host=address.netloc,
        setting="connectors.max_bytes",
    )
    sock.settimeout(deadline.next_wait())
    connection = http.client.HTTPConnection(address.host, address.port)
    connection.sock = sock
    connection.request("GET", address.target, headers={"Host": address.netloc, **headers})
    reader = _MeteredReader(sock, deadline, most_bytes + _HEADER_ROOM, too_large)
    response = http.client.HTTPResponse(_Stream(reader), method="GET")  # type: ignore[arg-type]
    try:
        response.begin()
        fields = {name.lower(): value for name, value in response.headers.items()}
        body = _read_body(response, fields, address, most_bytes, too_large) if response.status == 200 else b""
        return RawAnswer(response.status, fields, body)
    finally:
        response.close()
        reader.close()


def _read_body(
    response: http.client.HTTPResponse,
    fields: Mapping[str, str],
    address: Address,
    most_bytes: int,
    too_large: Exception,
) -> bytes:
    encoding = fields.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", "gzip", "x-gzip"):
        raise _invalid_answer(address, "compressed its answer in a way that was not asked for")
    if (response.length or 0) > most_bytes:
        raise too_large
    decoder = zlib.decompressobj(_GZIP) if encoding not in ("identity", "") else None
    body = bytearray()
    while chunk := response.read(_CHUNK):
        try:
            # One byte beyond the limit shows that there is more; the rest is never unpacked.
            body += decoder.decompress(chunk, most_bytes + 1 - len(body)) if decoder is not None else chunk
        except zlib.error as error:
            raise _invalid_answer(address, "sent an answer that can't be decompressed") from error
        if len(body) > most_bytes:
            raise too_large
        if decoder is not None and decoder.unused_data:
            raise _invalid_answer(address, "sent something after its compressed answer")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    if decoder is not None and not decoder.eof:
        raise _invalid_answer(address, "sent a compressed answer that has no end")
    return bytes(body)
