import asyncio
import gzip
import logging
import socket
import ssl
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request as Asked
from starlette.responses import Response, StreamingResponse

from codeplane.connectors import kernel as kernel_module
from codeplane.connectors.address import parse_address
from codeplane.connectors.credentials import Credential
from codeplane.connectors.kernel import Kernel, Request
from codeplane.core.errors import (
    Cancelled,
    CodePlaneError,
    ConnectorAnswerInvalid,
    ConnectorAnswerTooLarge,
    ConnectorError,
    ConnectorUnavailable,
    ConnectorUntrusted,
)
from tests.connectors.servers import TOKEN, Host, MovedTime, allow, serving_bytes

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def ask(url: str) -> Request:
    return Request(
        parse_address(url), "test", ("application/json",), "connectors.test", Credential("Bearer", TOKEN)
    )


def drip(data: bytes) -> Callable[[socket.socket], None]:
    def speak(connection: socket.socket) -> None:
        for at in range(len(data)):
            connection.sendall(data[at : at + 1])
            time.sleep(0.02)

    return speak


def flood(head: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    def speak(connection: socket.socket) -> None:
        connection.sendall(head)
        for _ in range(4_000):
            connection.sendall(piece)

    return speak


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


PIECE = b"x" * 4_096
CASES: list[tuple[str, Callable[[socket.socket], None], type[CodePlaneError], str]] = [
    ("says nothing", lambda _: time.sleep(0.4), ConnectorUnavailable, "in time"),
    ("drips headers", drip(HEAD * 8), ConnectorUnavailable, "in time"),
    (
        "drips its body",
        drip(HEAD + b"Content-Length: 500\r\n\r\n" + b" " * 500),
        ConnectorUnavailable,
        "in time",
    ),
    ("resets", reset, ConnectorUnavailable, "could not be reached|closed the connection"),
    ("hangs up", lambda _: None, ConnectorUnavailable, "closed the connection"),
    (
        "hangs up in the middle",
        lambda c: c.sendall(HEAD + b"Content-Length: 50\r\n\r\n{}"),
        ConnectorUnavailable,
        "before the answer was complete",
    ),
    (
        "hangs up in a chunk",
        lambda c: c.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}"),
        ConnectorUnavailable,
        "before the answer was complete",
    ),
    (
        "speaks no HTTP",
        lambda c: c.sendall(b"SSH-2.0-x\r\n\r\n"),
        ConnectorAnswerInvalid,
        "does not speak HTTP",
    ),
    (
        "says it is huge",
        lambda c: c.sendall(HEAD + b"Content-Length: 9999999\r\n\r\n"),
        ConnectorAnswerTooLarge,
        "8192",
    ),
    ("is huge", flood(HEAD + b"\r\n", PIECE), ConnectorAnswerTooLarge, "8192"),
    (
        "is huge in chunks",
        flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1000\r\n" + PIECE + b"\r\n"),
        ConnectorAnswerTooLarge,
        "8192",
    ),
    ("has endless headers", flood(HEAD, b"X: " + PIECE + b"\r\n"), CodePlaneError, "HTTP|larger"),
    ("has an endless header", flood(HEAD + b"X: ", PIECE), ConnectorAnswerInvalid, "HTTP"),
    (
        "continues for ever",
        flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        ConnectorAnswerTooLarge,
        "8192",
    ),
    (
        "has endless chunk extensions",
        flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", PIECE),
        CodePlaneError,
        "HTTP|larger",
    ),
]


@pytest.mark.parametrize(("speak", "error", "reason"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_host_that_misbehaves_gets_a_typed_error_in_time(
    speak: Callable[[socket.socket], None], error: type[CodePlaneError], reason: str, moved: MovedTime
) -> None:
    with serving_bytes(speak) as netloc:
        kernel = Kernel(allow(netloc, timeout_sec=0.3, retries=1, max_bytes=8_192), moved.clock)
        with pytest.raises(error, match=reason) as caught:
            kernel.fetch(ask(f"http://{netloc}/a"))
    assert isinstance(caught.value, ConnectorError)
    assert TOKEN not in repr(caught.value.to_wire())


_PARTS = st.sampled_from(
    [
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 304 Not Modified\r\n",
        b"HTTP/9 999\r\n",
        b"Content-Type: application/json\r\n",
        b"Content-Length: 2\r\n",
        b"Content-Length: -1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Location: /a\r\n",
        b"\r\n",
        b"2\r\n{}\r\n0\r\n\r\n",
        b"{}",
        b"\x1f\x8b\x08",
        b"\xff\x00 : \n",
    ]
)


def test_any_bytes_give_an_answer_or_a_typed_error(moved: MovedTime) -> None:
    script: list[bytes] = []

    @given(st.lists(_PARTS | st.binary(max_size=20), max_size=8))
    def check_bytes(parts: list[bytes]) -> None:
        script[:] = parts
        kernel = Kernel(allow(netloc, timeout_sec=1, retries=0, max_bytes=8_192), moved.clock)
        try:
            assert isinstance(kernel.fetch(ask(f"http://{netloc}/a")).body, bytes)
        except ConnectorError as error:
            assert TOKEN not in repr(error.to_wire())

    with serving_bytes(lambda connection: connection.sendall(b"".join(script))) as netloc:
        check_bytes()


def test_a_host_that_is_not_there_is_asked_again_and_given_up(moved: MovedTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        netloc = f"127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ConnectorUnavailable, match=r"connection refused\) \(asked 3 times\)"):
        Kernel(allow(netloc, retries=2), moved.clock).fetch(ask(f"http://{netloc}/a"))


def test_a_name_without_an_address_is_unavailable(moved: MovedTime) -> None:
    with pytest.raises(ConnectorUnavailable, match=r"has no address|in time"):
        Kernel(allow("codeplane.invalid", retries=0, timeout_sec=2), moved.clock).fetch(
            ask("https://codeplane.invalid/a")
        )


def test_a_host_without_tls_is_not_asked_in_the_clear(moved: MovedTime) -> None:
    requests: list[bytes] = []

    def speak(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n{}")
        requests.append(connection.recv(65_536))

    with serving_bytes(speak) as netloc:
        with pytest.raises(ConnectorUnavailable):
            Kernel(allow(netloc, timeout_sec=1, retries=0), moved.clock).fetch(ask(f"https://{netloc}/a"))
    assert TOKEN.encode() not in b"".join(requests)


def self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    (folder / "both.pem").write_bytes(key.private_bytes(*text) + certificate.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path, moved: MovedTime) -> None:
    requests: list[bytes] = []

    def accept(listener: socket.socket, context: ssl.SSLContext) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            with context.wrap_socket(connection, server_side=True) as secure:
                requests.append(secure.recv(65_536))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, args=(listener, self_signed(tmp_path)), daemon=True)
        thread.start()
        netloc = f"localhost:{listener.getsockname()[1]}"
        with pytest.raises(ConnectorUntrusted, match="could not be verified"):
            Kernel(allow(netloc), moved.clock).fetch(ask(f"https://{netloc}/a"))
        thread.join(10)
    assert b"".join(requests) == b""


def test_a_slow_page_ends_with_the_time_limit(host: Host, moved: MovedTime) -> None:
    async def endless(_: Asked) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b" "
                await asyncio.sleep(0.02)

        return StreamingResponse(pieces(), media_type="application/json")

    host.pages["/a"] = endless
    with pytest.raises(ConnectorUnavailable, match="in time"):
        Kernel(allow(host.netloc, timeout_sec=0.2), moved.clock).fetch(ask(f"{host.url}/a"))


def test_a_gzip_bomb_is_not_unpacked(host: Host, moved: MovedTime) -> None:
    host.answer("/a", gzip.compress(b"0" * 50_000_000), content_encoding="gzip")
    with pytest.raises(ConnectorAnswerTooLarge, match="larger than 100000 bytes") as caught:
        Kernel(allow(host.netloc, max_bytes=100_000), moved.clock).fetch(ask(f"{host.url}/a"))
    assert caught.value.details["setting"] == "connectors.max_bytes"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(b"{}" * 5_000)[:-20], "gzip"),
        (gzip.compress(b"{}") + b"more", "gzip"),
        (b"{}", "br"),
    ],
    ids=["not gzip", "cut off", "more behind it", "another encoding"],
)
def test_compression_that_is_wrong_is_refused(
    body: bytes, encoding: str, host: Host, moved: MovedTime
) -> None:
    host.answer("/a", body, content_encoding=encoding)
    with pytest.raises(ConnectorAnswerInvalid):
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))


def test_a_page_for_people_is_no_answer(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "<html>Log in</html>", kind="text/html")
    with pytest.raises(ConnectorAnswerInvalid, match="answered with text/html instead of application/json"):
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))


def test_a_cancelled_call_ends_in_a_pause(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 500)

    def check() -> None:
        if moved.pauses:
            raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"), check)
    assert moved.pauses == [0.2]


def test_a_host_that_echoes_the_token_spreads_it_nowhere(
    host: Host, moved: MovedTime, caplog: pytest.LogCaptureFixture
) -> None:
    host.pages["/a"] = lambda request: Response(
        f'{{"echo": "{request.headers["authorization"]}"}}',
        media_type="application/json",
        headers={"ETag": f'"{TOKEN}"', "Last-Modified": TOKEN},
    )
    host.answer("/b", "", 302, location=f"https://evil.example/{TOKEN}")
    host.answer("/c", "", kind=f"text/{TOKEN}")
    caplog.set_level(logging.DEBUG)
    kernel = Kernel(allow(host.netloc), moved.clock)
    answer = kernel.fetch(ask(f"{host.url}/a"))
    assert b"[redacted]" in answer.body
    messages = [repr(answer), repr(vars(kernel._cache)), repr(ask(f"{host.url}/a"))]
    for page in "bc":
        with pytest.raises(ConnectorError) as caught:
            kernel.fetch(ask(f"{host.url}/{page}"))
        messages += [repr(caught.value), repr(caught.value.to_wire()), caplog.text]
    assert caplog.text.count(host.netloc) >= 2
    assert kernel_module.__name__ in caplog.text or "kernel.py" in caplog.text
    assert [text for text in messages if TOKEN in text] == []
