"""URLs of repositories: which are allowed, and how they are shown without secrets."""

import re
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from codeplane.core.errors import InvalidArgument

_LONGEST: Final = 2000
_SCHEMES: Final = ("https", "http", "ssh", "git", "file")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# `host:path`, as in scp; a slash before the colon makes it a path.
_SCP = re.compile(
    r"(?:(?P<user>[^@/:]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^@/:\[\]]+):(?!/?/)(?P<path>.+)", re.DOTALL
)
_HOST = re.compile(r"[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.%]+\]")
_AT = re.compile("@|%40")
# A plausible user name; a token is longer.
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,19}")
_PLACE = re.compile(r"(?<=://)\S*@")
_HELPER = re.compile(r"[^/\[]*::")
_CLOSED: Final = ".codeplane"


def checked_url(text: str) -> str:
    """Validates a URL; only git servers and local directories are allowed."""
    if not 0 < len(text) <= _LONGEST or not text.isprintable() or text != text.strip():
        raise _unusable(text, "it is empty, too long, or contains control characters")
    if text.startswith("-"):
        raise _unusable(text, "it would be read as an option")
    if _HELPER.match(text):
        raise _unusable(text, "it names a helper program")
    scheme = _SCHEME.match(text)
    if scheme is None:
        return text if text.startswith("/") and _is_path(text) else _checked_scp(text)
    if scheme[1].lower() not in _SCHEMES:
        raise _unusable(text, f"{scheme[1]} is none of {', '.join(_SCHEMES)}")
    return _checked_parts(text)


def is_local(url: str) -> bool:
    """Whether the URL is a local directory."""
    return url.startswith("/") or url.lower().startswith("file:")


def shown_url(url: str) -> str:
    """The URL without password, query, and a user that may be a token; of an odd one only its end."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return url if _is_bare(url) else f"…@{_AT.split(url)[-1]}"
    try:
        parts = urlsplit(checked_url(url))
    except InvalidArgument:
        return f"{scheme[0]}…"
    user = parts.username if parts.password is None and parts.scheme.lower() == "ssh" else None
    place = parts.netloc.rpartition("@")[2]
    authority = f"{user}@{place}" if user and _USER.fullmatch(user) else place
    return urlunsplit((parts.scheme, authority, parts.path, "", ""))


def shown_key(key: str) -> str:
    """The name of a setting; a URL inside it is shown without secrets."""
    section, _, rest = key.partition(".")
    middle, dot, name = rest.rpartition(".")
    return f"{section}.{shown_url(middle)}{dot}{name}"


def _is_bare(url: str) -> bool:
    """Whether a URL without a scheme has nothing but a user name before its host."""
    if not _AT.search(url) or (url.startswith("/") and not url.startswith("//")):
        return True
    user, _, rest = url.partition("@")
    return bool(_USER.fullmatch(user)) and not _AT.search(rest)


def without_secrets(text: str) -> str:
    """A library's message, without users and passwords in its URLs."""
    return _PLACE.sub("", text)


def resolved_url(url: str, base: str | None) -> str:
    """A submodule's URL; one that starts with `./` or `../` is relative to that of its repository."""
    if not url.startswith(("./", "../")):
        return checked_url(url)
    if base is None:
        raise _unusable(url, "it is relative, and the repository has no remote")
    root, at = _split_root(checked_url(base).rstrip("/"))
    while url.startswith(("./", "../")):
        if url.startswith("../"):
            if not at:
                raise _unusable(url, "it leads above its server")
            at = at.rpartition("/")[0] if "/" in at else ""
        url = url.partition("/")[2]
    return checked_url(root + (f"{at}/{url}" if at else url))


def _split_root(url: str) -> tuple[str, str]:
    """Splits a URL into the part that `..` may not remove, and the path."""
    if scheme := _SCHEME.match(url):
        host, _, path = url[scheme.end() :].partition("/")
        return f"{scheme[0]}{host}/", path
    if url.startswith("/"):
        return "/", url[1:]
    host, _, path = url.rpartition(":")
    return f"{host}:", path


def _checked_scp(text: str) -> str:
    match = _SCP.fullmatch(text)
    if match is None or not _HOST.fullmatch(match["host"]) or match["host"].lower() in _SCHEMES:
        raise _unusable(text, "it is neither a URL with a scheme, nor host:path, nor an absolute path")
    if (
        match["host"].startswith("-")
        or match["path"].startswith("-")
        or (match["user"] or "").startswith("-")
    ):
        raise _unusable(text, "it would be read as an option")
    return text


def _checked_parts(text: str) -> str:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise _unusable(text, str(error)) from error
    if parts.scheme.lower() == "file":
        if host not in ("", "localhost") or not _is_path(parts.path):
            raise _unusable(text, "it is not an absolute local path")
        return text
    bare = (
        parts.netloc.rpartition("@")[2].rsplit(":", 1)[0] if parts.port else parts.netloc.rpartition("@")[2]
    )
    if (
        not _HOST.fullmatch(bare.rstrip(":"))
        or host.startswith("-")
        or (parts.username or "").startswith("-")
    ):
        raise _unusable(text, "its host is not valid")
    if "\\" in text or "%0a" in text.lower() or "%0d" in text.lower() or "%00" in text:
        raise _unusable(text, "it contains a character that no URL may have")
    return text


def _is_path(text: str) -> bool:
    parts = PurePosixPath(text).parts
    return text.startswith("/") and len(parts) > 1 and _CLOSED not in parts and ".." not in parts


def _unusable(text: str, why: str) -> InvalidArgument:
    scheme = _SCHEME.match(text)
    display = f"{scheme[0]}…" if scheme and _AT.search(text) else text[:_LONGEST]
    display = display if scheme or _is_bare(display) else f"…@{_AT.split(display)[-1]}"
    return InvalidArgument(f"{display!r} is not a usable URL: {why}.", url=display)
