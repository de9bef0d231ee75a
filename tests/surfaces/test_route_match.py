"""A request finds its endpoint in any spelling, with values in place of parameters, or not at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.tracing.route_match import matching, nearest_requests, plain_route, read_request


def _endpoint(method: str, route: str) -> Endpoint:
    return Endpoint(method, route, RepoPath("app.py"), 1, "fastapi", Tier.STRONG)


_SERVED = [
    _endpoint("GET", "/users"),
    _endpoint("GET", "/users/{id}"),
    _endpoint("GET", "/users/me"),
    _endpoint("POST", "/users/"),
    _endpoint("GET", "/files/{path:path}"),
    _endpoint("GET", "/orders/<int:pk>/lines/<line>"),
    _endpoint("GET", "/carts/:id/items/:item(\\d+)"),
    _endpoint("GET", "/blog/[slug]"),
    _endpoint("POST", "/v1/jobs/{id}:cancel"),
    _endpoint("ANY", "/hooks"),
    _endpoint("GET", "/hooks"),
    _endpoint("RPC", "/shop.Orders/Place"),
]


@pytest.mark.parametrize(
    ("request_text", "routes"),
    [
        ("GET /users/{id}", ["/users/{id}"]),
        ("get /users/{user_id}", ["/users/{id}"]),
        ("GET /users/:id/", ["/users/{id}"]),
        ("GET /users/42", ["/users/{id}"]),
        ("GET /users/me", ["/users/me"]),
        ("POST /users", ["/users/"]),
        ("GET /files/a/b.txt", ["/files/{path:path}"]),
        ("GET /orders/{a}/lines/{b}", ["/orders/<int:pk>/lines/<line>"]),
        ("GET /carts/{a}/items/{b}", ["/carts/:id/items/:item(\\d+)"]),
        ("GET /blog/hello", ["/blog/[slug]"]),
        ("POST /v1/jobs/7:cancel", ["/v1/jobs/{id}:cancel"]),
        ("POST /v1/jobs/{x}:cancel", ["/v1/jobs/{id}:cancel"]),
        ("POST /v1/jobs/7", []),
        ("DELETE /hooks", ["/hooks"]),
        ("GET /hooks", ["/hooks"]),
        ("/users", ["/users", "/users/"]),
        ("RPC /shop.Orders/Place", ["/shop.Orders/Place"]),
        ("RPC shop.Orders/Place", ["/shop.Orders/Place"]),
        ("DELETE /users", []),
        ("GET /user", []),
    ],
)
def test_a_request_finds_its_endpoint(request_text: str, routes: list[str]) -> None:
    request = read_request(request_text, {one.method for one in _SERVED})
    assert request is not None
    assert sorted({one.route for one in matching(_SERVED, *request)}) == sorted(routes)


@pytest.mark.parametrize("text", ["db upgrade", "app.views.index", "shop orders show", "", "GET"])
def test_other_texts_are_no_requests(text: str) -> None:
    assert read_request(text, {"GET"}) is None


def test_the_nearest_are_the_same_path_with_another_method_first() -> None:
    assert nearest_requests(_SERVED, "DELETE", "/users/{id}", 3)[0] == "GET /users/{id}"
    assert "GET /users" in nearest_requests(_SERVED, "GET", "/user", 3)


_PARTS = st.sampled_from(["users", "v1", "{id}", "<int:pk>", ":name", "a.b"])


@settings(max_examples=200, deadline=None)
@given(st.lists(_PARTS, min_size=1, max_size=5))
def test_every_spelling_of_a_route_finds_it(parts: list[str]) -> None:
    one = _endpoint("GET", "/" + "/".join(parts))
    values = ["7" if part[0] in "{<:" else part for part in parts]
    for text in (one.route, f"{one.route}/", plain_route(one.route), "/" + "/".join(values)):
        assert matching([one], "GET", text) == [one]
