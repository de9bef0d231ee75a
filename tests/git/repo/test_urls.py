"""Addresses: what is used, what is shown, what a relative one means; and which references go where."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.errors import InvalidArgument
from codeplane.git.remote.refspecs import Refspec, map_refs, tracking_ref
from codeplane.git.repo.urls import (
    checked_url,
    is_local,
    resolved_url,
    shown_key,
    shown_url,
    without_secrets,
)
from tests.drive import git

USED = (
    "https://example.org/a.git",
    "http://127.0.0.1:8080/a",
    "ssh://git@example.org:22/~me/a.git",
    "git://[::1]:9418/a",
    "file:///srv/git/a.git",
    "/srv/git/a b.git",
    "git@example.org:me/a.git",
    "example.org:a.git",
    "[::1]:a.git",
)
REFUSED = (
    "", " https://example.org/a", "ext::sh -c true", "fd::3", "ftp::https://example.org/a", "-u",
    "--upload-pack=x", "ftp://example.org/a", "rsync://example.org/a", "file://example.org/a", "file://a",
    "file:a", "../a", "a/b", "/", "/a/../b", "/a/.codeplane/b", "ssh://-oProxyCommand=x/a",
    "ssh://-u@example.org/a", "-oProxyCommand=x:a", "host:-x", "https://", "https:///a",
    "https://ex ample.org/a", "https://example.org:99999/a", "https://example.org/a\nb",
    "https://example.org/%0Ahost=evil", "https://example.org\\@evil/a", "x" * 3000,
)  # fmt: skip


@pytest.mark.parametrize("url", USED)
def test_used(url: str) -> None:
    assert checked_url(url) == url and is_local(url) == url.startswith(("/", "file:"))


@pytest.mark.parametrize("url", REFUSED)
def test_refused(url: str) -> None:
    with pytest.raises(InvalidArgument):
        checked_url(url)


@given(
    st.sampled_from(["https", "http", "ssh", "git", "HTTPS"]),
    st.text(min_size=1, max_size=20),
    st.text("abcdefgh0123456789%.:;!$&'()*+,=~_-", min_size=6, max_size=20),
    st.sampled_from(["example.org", "[::1]:80", "h:1"]),
)
def test_no_password_is_ever_shown(scheme: str, user: str, password: str, host: str) -> None:
    url = f"{scheme}://{user}:{password}@{host}/p"
    marked = f":{password}@"
    assert marked not in shown_url(url)
    try:
        checked_url(url)
    except InvalidArgument as error:
        assert marked not in error.message and marked not in str(error.details)


ODD = (
    "https:/me:secret@example.org/a", "https:secret@example.org/a", "//me:secret@example.org/a",
    "me:secret@example.org:a", "ext::https://secret@example.org/a", "https://example.org/a?token=secret",
    "https://me:secret@example.org:99999/a", "file://me:secret@example.org/a",
    "https:%2f%2fsecret%40example.org", "ssh://secret" + "x" * 30 + "@example.org/a",
    "secret" + "x" * 30 + "@example.org:a", "a@secret@example.org:b", "https://me:secret@example.org\\/a",
)  # fmt: skip


@pytest.mark.parametrize("url", ODD)
def test_odd_addresses_are_shown_without_what_may_be_secret(url: str) -> None:
    assert "secret" not in shown_url(url)
    assert "secret" not in shown_key(f"url.{url}.insteadof")
    try:
        checked_url(url)
    except InvalidArgument as error:
        assert "secret" not in error.message and "secret" not in str(error.details)


@pytest.mark.parametrize(
    "url", ["git@example.org:me/a.git", "ssh://git@example.org/a", "/srv/a@b.git", "../a"]
)
def test_addresses_without_secrets_are_shown_whole(url: str) -> None:
    assert shown_url(url) == url
    assert shown_key("http.proxy") == "http.proxy"


def test_messages_lose_what_is_before_the_host() -> None:
    assert without_secrets("cannot fetch https://me:pw@h/x (http://tok@h2/)") == (
        "cannot fetch https://h/x (http://h2/)"
    )


@pytest.mark.parametrize(
    ("base", "url", "whole"),
    [
        ("https://example.org/me/app.git", "../part.git", "https://example.org/me/part.git"),
        ("https://example.org/me/app.git/", "../../you/part", "https://example.org/you/part"),
        ("https://example.org/me/app", "./inner", "https://example.org/me/app/inner"),
        ("git@example.org:me/app.git", "../part.git", "git@example.org:me/part.git"),
        ("git@example.org:app.git", "../part.git", "git@example.org:part.git"),
        ("/srv/git/app.git", "../part.git", "/srv/git/part.git"),
        ("https://example.org/app", "https://other.org/x", "https://other.org/x"),
    ],
)
def test_a_relative_address(base: str, url: str, whole: str) -> None:
    assert resolved_url(url, base) == whole


@pytest.mark.parametrize("url", ["../../../x", "../../../../etc/passwd"])
def test_a_relative_address_does_not_leave_its_server(url: str) -> None:
    with pytest.raises(InvalidArgument):
        resolved_url(url, "https://example.org/me/app.git")


_parts = st.sampled_from(["refs/heads/", "refs/tags/", "refs/heads/a/", "refs/x/"])
_sources = st.builds(lambda part, end: part + end, _parts, st.sampled_from(["*", "main", "a/*", "*/z", "q*"]))
_names = st.lists(
    st.builds(lambda part, end: part + end, _parts, st.sampled_from(["main", "a/b", "b/z", "q1", "q/r/z"])),
    unique=True,
)


@settings(max_examples=6, deadline=None)
@given(sources=st.lists(_sources, min_size=1, max_size=3, unique=True), names=_names, data=st.data())
def test_references_go_where_git_puts_them(
    tmp_path_factory: pytest.TempPathFactory, sources: list[str], names: list[str], data: st.DataObject
) -> None:
    specs = [f"+{one}:refs/got/{at}/{'*' if '*' in one else 'one'}" for at, one in enumerate(sources)]
    if data.draw(st.booleans()):
        specs.append("^refs/heads/a/*")
    base = tmp_path_factory.mktemp("specs")
    source, target = _with_references(base / "source", names), base / "target"
    git(base, "init", "-q", str(target))
    subprocess.run(["git", "fetch", "-q", "--no-tags", str(source), *specs], cwd=target, capture_output=True)
    theirs = set(git(target, "for-each-ref", "--format=%(refname)").split())
    parsed = [spec for text in specs if (spec := Refspec.parse(text))]
    there = set(git(source, "for-each-ref", "--format=%(refname)").split())
    if all("*" in one or one in there for one in sources):
        assert {one.target for one in map_refs(parsed, sorted(there))} == theirs


def _with_references(root: Path, names: list[str]) -> Path:
    git(root.parent, "init", "-q", str(root))
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    head = git(root, "rev-parse", "HEAD")
    for name in names:
        subprocess.run(["git", "update-ref", name, head], cwd=root, capture_output=True, check=False)
    return root


@pytest.mark.parametrize(
    "text", ["a:b:c", "+refs/heads/*:x", "refs/*/*:refs/y/*/*", "refs/heads/*:refs/a", "..:refs/x"]
)
def test_a_refspec_that_is_not_understood_does_nothing(text: str) -> None:
    assert Refspec.parse(text) is None


def test_tracking_is_the_first_that_fits() -> None:
    specs = [Refspec("refs/heads/*", "refs/remotes/o/*"), Refspec("refs/heads/a", "refs/x")]
    assert (
        tracking_ref(specs, "refs/heads/a") == "refs/remotes/o/a"
        and tracking_ref(specs, "refs/tags/a") is None
    )
