import gzip
import json

import pytest
from starlette.requests import Request as Asked
from starlette.responses import Response

from codeplane.connectors.address import parse_address
from codeplane.connectors.answer_cache import Answer, AnswerCache
from codeplane.connectors.credentials import Credential
from codeplane.connectors.kernel import Kernel, Request
from codeplane.core.errors import (
    CodePlaneError,
    ConnectorAnswerInvalid,
    ConnectorNotFound,
    ConnectorOff,
    ConnectorRateLimited,
    ConnectorUnauthorised,
    ConnectorUnavailable,
    HostNotAllowed,
    InvalidArgument,
)
from tests.connectors.servers import TOKEN, Host, MovedTime, allow

JSON = ("application/json",)


def ask(url: str, *, token: str = TOKEN) -> Request:
    credential = Credential("Bearer", token) if token else None
    return Request(parse_address(url), "test", JSON, "connectors.test", credential)


def test_an_answer_comes_with_its_body_and_the_token_is_sent(host: Host, moved: MovedTime) -> None:
    host.answer("/a", '{"x": 1}')
    answer = Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a?q=1"))
    assert answer.body == b'{"x": 1}'
    assert host.authorizations == [f"Bearer {TOKEN}"]
    assert str(host.requests[0].url.query) == "q=1"
    assert moved.pauses == []


def test_nothing_is_asked_while_connectors_are_off(host: Host, moved: MovedTime) -> None:
    with pytest.raises(ConnectorOff, match="switched off") as caught:
        Kernel(allow(), moved.clock).fetch(ask(f"{host.url}/a"))
    assert "connectors.hosts" in caught.value.hints[0]
    assert host.requests == []


@pytest.mark.parametrize(
    "url", ["https://example.com/a", "http://127.0.0.1:1/a", "http://localhost/a", "http://127.0.0.1:443/a"]
)
def test_other_hosts_are_refused_before_they_are_asked(url: str, moved: MovedTime) -> None:
    with pytest.raises(HostNotAllowed, match="not a host that connectors may ask"):
        Kernel(allow("127.0.0.1", "example.org", "example.com:8443"), moved.clock).fetch(ask(url))


def test_plain_http_is_for_this_machine_alone(moved: MovedTime) -> None:
    with pytest.raises(HostNotAllowed, match="without encryption"):
        Kernel(allow("example.com"), moved.clock).fetch(ask("http://example.com/a"))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "begin with https"),
        ("ftp://host/a", "begin with https"),
        ("https://ada:pw@host/a", "user or password"),
        ("https://host/a b", "space"),
        ("https://host\\@evil/a", "backslash"),
        ("https://ho\r\nst/a", "control character"),
        ("https:///a", "no valid host"),
        ("https://bücher.example/a", "no valid host"),
        ("https://host:99999/a", "can't be read"),
        ("https://[::1/a", "can't be read"),
        pytest.param("https://host/" + "a" * 3_000, "longer than", id="long"),
    ],
)
def test_an_address_that_is_none_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        parse_address(url)


def test_failures_in_passing_are_repeated_with_growing_pauses(host: Host, moved: MovedTime) -> None:
    fail, work = lambda _: Response("", 500), lambda _: Response("{}", media_type="application/json")
    host.pages["/a"] = [fail, fail, work]
    assert Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a")).body == b"{}"
    assert len(host.requests) == 3
    assert moved.ahead == pytest.approx(0.5 + 1.0, abs=0.05)


def test_a_host_that_keeps_failing_is_given_up(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "secret page", 503)
    with pytest.raises(ConnectorUnavailable, match=r"answered 503 \(asked 3 times\)") as caught:
        Kernel(allow(host.netloc, retries=2), moved.clock).fetch(ask(f"{host.url}/a"))
    assert caught.value.retryable and caught.value.details["attempts"] == 3
    assert len(host.requests) == 3


def test_retry_after_is_honoured(host: Host, moved: MovedTime) -> None:
    busy = lambda _: Response("", 429, headers={"Retry-After": "7"})  # noqa: E731
    host.pages["/a"] = [busy, lambda _: Response("{}", media_type="application/json")]
    Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert moved.ahead == pytest.approx(7, abs=0.05)


def test_retry_after_may_be_a_date(host: Host, moved: MovedTime) -> None:
    date = "Fri, 15 Jan 2027 08:00:05 GMT"  # five seconds after the wall clock of the test
    host.pages["/a"] = [
        lambda _: Response("", 429, headers={"Retry-After": date}),
        lambda _: Response("{}", media_type="application/json"),
    ]
    Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert moved.ahead == pytest.approx(5, abs=0.05)


def test_a_pause_beyond_the_time_limit_is_not_slept_but_remembered(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 429, retry_after="86400")
    kernel = Kernel(allow(host.netloc), moved.clock)
    with pytest.raises(ConnectorRateLimited, match="no further requests") as caught:
        kernel.fetch(ask(f"{host.url}/a"))
    assert caught.value.retryable and caught.value.details["retry_after_sec"] == 86_400
    with pytest.raises(ConnectorRateLimited, match="can't be asked again for 900 s"):
        kernel.fetch(ask(f"{host.url}/a"))
    assert (len(host.requests), moved.pauses) == (1, [])
    moved.ahead += 901
    host.answer("/a", "{}")
    assert kernel.fetch(ask(f"{host.url}/a")).body == b"{}"


def test_429_without_retry_after_is_repeated_a_few_times(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 429)
    with pytest.raises(ConnectorRateLimited):
        Kernel(allow(host.netloc, retries=2), moved.clock).fetch(ask(f"{host.url}/a"))
    assert len(host.requests) == 3
    assert moved.ahead == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize("value", ["soon", "-5", "1e9", "", "Fri, 99 Foo"])
def test_a_retry_after_that_makes_no_sense_counts_as_none(value: str, host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 429, retry_after=value)
    with pytest.raises(ConnectorRateLimited):
        Kernel(allow(host.netloc, retries=1), moved.clock).fetch(ask(f"{host.url}/a"))
    assert moved.ahead == pytest.approx(0.5, abs=0.05)


def test_a_host_is_asked_so_many_times_a_minute(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "{}")
    kernel = Kernel(allow(host.netloc, requests_per_minute=2, timeout_sec=300), moved.clock)
    for _ in range(3):
        kernel.fetch(ask(f"{host.url}/a"))
    assert moved.ahead == pytest.approx(60, abs=1)
    impatient = Kernel(allow(host.netloc, requests_per_minute=1), moved.clock)
    impatient.fetch(ask(f"{host.url}/a"))
    with pytest.raises(ConnectorRateLimited, match=r"can't be asked again for 60 s|for 59 s"):
        impatient.fetch(ask(f"{host.url}/a"))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ConnectorUnauthorised),
        (403, ConnectorUnauthorised),
        (404, ConnectorNotFound),
        (410, ConnectorNotFound),
        (418, ConnectorAnswerInvalid),
        (204, ConnectorAnswerInvalid),
        (304, ConnectorAnswerInvalid),
        (501, ConnectorAnswerInvalid),
    ],
)
def test_a_status_has_its_error(
    status: int, error: type[CodePlaneError], host: Host, moved: MovedTime
) -> None:
    host.answer("/a", "" if status in (204, 304) else f"{{}} {TOKEN}", status)
    with pytest.raises(error) as caught:
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert caught.value.details["status"] == status and not caught.value.retryable
    assert len(host.requests) == 1


def test_an_answer_is_confirmed_by_its_etag(host: Host, moved: MovedTime) -> None:
    def versioned(request: Asked) -> Response:
        if request.headers.get("if-none-match") == '"v1"':
            return Response(status_code=304)
        return Response('{"v": 1}', media_type="application/json", headers={"ETag": '"v1"'})

    host.pages["/a"] = versioned
    kernel = Kernel(allow(host.netloc), moved.clock)
    first, second = kernel.fetch(ask(f"{host.url}/a")), kernel.fetch(ask(f"{host.url}/a"))
    assert (first.is_confirmed, second.is_confirmed) == (False, True)
    assert first.body == second.body == b'{"v": 1}'
    host.answer("/a", "", 401)
    with pytest.raises(ConnectorUnauthorised):
        kernel.fetch(ask(f"{host.url}/a"))


def test_what_may_not_be_stored_is_asked_for_again(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "{}", etag='"v1"', cache_control="private, no-store")
    kernel = Kernel(allow(host.netloc), moved.clock)
    kernel.fetch(ask(f"{host.url}/a"))
    kernel.fetch(ask(f"{host.url}/a"))
    assert [request.headers.get("if-none-match") for request in host.requests] == [None, None]


def test_the_cache_is_bounded_and_forgets_the_oldest() -> None:
    cache = AnswerCache(most_bytes=10, most_entries=2)
    for name in "abc":
        cache.store_answer(Answer(name, b"1234", "", etag=name), name, "p")
    cache.store_answer(Answer("d", b"x" * 11, "", etag="d"), "d", "p")
    assert [cache.find_answer(name, "p") is not None for name in "abcd"] == [False, True, True, False]
    cache.store_answer(Answer("e", b"x" * 9, "", etag="e"), "e", "p")
    assert [cache.find_answer(name, "p") is not None for name in "bce"] == [False, False, True]
    assert cache.find_answer("e", "q") is None


def test_a_compressed_answer_is_read(host: Host, moved: MovedTime) -> None:
    body = json.dumps({"text": "x" * 5_000}).encode()
    host.answer("/a", gzip.compress(body), content_encoding="gzip")
    assert Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a")).body == body


def test_a_redirect_within_the_host_is_followed_with_the_token(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 302, location="/b")
    host.answer("/b", "{}")
    assert Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a")).body == b"{}"
    assert host.authorizations == [f"Bearer {TOKEN}"] * 2


def test_a_redirect_to_another_allowed_host_does_not_carry_the_token(
    host: Host, elsewhere: Host, moved: MovedTime
) -> None:
    host.answer("/a", "", 307, location=f"{elsewhere.url}/b")
    elsewhere.answer("/b", "{}")
    Kernel(allow(host.netloc, elsewhere.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert elsewhere.authorizations == [None]


def test_another_host_can_not_send_the_token_back_to_where_it_likes(
    host: Host, elsewhere: Host, moved: MovedTime
) -> None:
    host.answer("/a", "", 302, location=f"{elsewhere.url}/b")
    elsewhere.answer("/b", "", 302, location=f"{host.url}/secret")
    host.answer("/secret", "{}")
    Kernel(allow(host.netloc, elsewhere.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert (host.authorizations, elsewhere.authorizations) == ([f"Bearer {TOKEN}", None], [None])


def test_a_redirect_elsewhere_is_refused(host: Host, elsewhere: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 302, location=f"{elsewhere.url}/{TOKEN}")
    with pytest.raises(HostNotAllowed) as caught:
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert elsewhere.requests == []
    assert TOKEN not in repr(caught.value.to_wire())


@pytest.mark.parametrize(
    "location", ["", "file:///etc/passwd", "javascript:alert(1)", "http://[", "//u:p@x/"]
)
def test_a_redirect_to_nowhere_is_refused(location: str, host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 302, location=location)
    error = ConnectorAnswerInvalid if not location else HostNotAllowed
    with pytest.raises(error):
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))


def test_redirects_in_a_circle_end(host: Host, moved: MovedTime) -> None:
    host.answer("/a", "", 301, location="/a")
    with pytest.raises(ConnectorAnswerInvalid, match="redirects more than 5 times"):
        Kernel(allow(host.netloc), moved.clock).fetch(ask(f"{host.url}/a"))
    assert len(host.requests) == 6
