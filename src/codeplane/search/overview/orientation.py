"""What somebody who is new to a repository reads first, and how its tests are run by what it says itself."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from codeplane.core.documents import Malformed, parse_ini, parse_json
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.overview.manifests import about

_FIRST: Final = re.compile(
    r"(?:AGENTS|CLAUDE|README|CONTRIBUTING|ARCHITECTURE|HACKING|DEVELOPMENT|DESIGN)(?:\.(?:md|rst|txt|adoc))?"
    r"|docs?/(?:index|architecture|design|overview|contributing)\.(?:md|rst|txt|adoc)",
    re.IGNORECASE,
)
_MOST_DOCUMENTS: Final = 6
_MOST_MODULES: Final = 6
_ASKED: Final = 80
_VERSION: Final = re.compile(r"(?:^|/)_*(?:version|meta|about)_*\.\w+\Z")
_FACE: Final = re.compile(r"(?:^|/)(?:__init__|index|mod|lib)\.\w+\Z")
_MAKE_TEST: Final = re.compile(r"^test\s*:(?!=)", re.MULTILINE)
_TOX_NAME: Final = re.compile(r"\{(?:envpython|envbindir/python)\}")
_TOX_REST: Final = re.compile(r"\s*\{posargs[^}]*\}|\s--\w[\w-]*=\{[^}]*\}")
_LONGEST: Final = 120
_LARGEST: Final = 100_000


def summary(snapshot: Snapshot) -> str:
    """Name and purpose, as the outermost manifest says them."""
    name, description = about(snapshot)
    return shown(f"{name}: {description}" if name and description else name or description)


def documents(snapshot: Snapshot) -> list[str]:
    """The documents that introduce a repository: the README, then outer ones first."""
    every = snapshot.layout.ordered
    paths = [path for path in every if path.count("/") < 2 and _FIRST.fullmatch(path)]
    paths.sort(key=lambda one: (one.count("/"), not one.lower().startswith("readme"), one))
    return [shown(path) for path in paths[:_MOST_DOCUMENTS]]


def main_modules(snapshot: Snapshot, importers: Mapping[str, Collection[str]]) -> list[str]:
    """The file that says what a package offers, then source files by how many others import each.

    Those that the offering file imports come first: helpers that everything imports explain little.
    """
    counts = {
        path: sum(_is_read(snapshot, one) for one in others)
        for path, others in importers.items()
        if _is_read(snapshot, path)
    }
    faces = {
        one for path in counts for one in importers[path] if _FACE.search(one) and _is_read(snapshot, one)
    }
    face = min(faces, key=lambda one: (one.count("/"), one), default="")
    paths = sorted(
        (path for path in counts if counts[path] and path != face),
        key=lambda one: (face not in importers[one], -counts[one], one),
    )
    return [shown(path) for path in [*filter(None, [face]), *paths][:_MOST_MODULES]]


def often_imported(snapshot: Snapshot) -> list[str]:
    """The source files that most others import, by the modules that are imported most often.

    Looks at no file, so it is quick in a large repository, and knows less of relative imports.
    """
    counts: Counter[str] = Counter()
    for one in snapshot.overview.imports()[:_ASKED]:
        for place in snapshot.named_module(one.path, one.module, one.kind) or ():
            if _is_read(snapshot, place.path) and place.path != one.path:
                counts[place.path] += one.times
                break
    return [shown(path) for path, _ in counts.most_common(_MOST_MODULES)]


def _is_read(snapshot: Snapshot, path: str) -> bool:
    """Whether a file is source that somebody reads: neither tests nor generated, nor only a version."""
    return snapshot.purpose(path) is Purpose.SOURCE and not _VERSION.search(path)


def said_commands(snapshot: Snapshot) -> Iterator[str]:
    """`command (file)`: how the repository itself runs its tests."""
    if (text := _text(snapshot, "tox.ini")) is not None:
        yield from _of_tox(text)
    if (text := _text(snapshot, "package.json")) is not None:
        try:
            package = parse_json(text)
        except Malformed:
            package = None
        scripts = package.get("scripts") if isinstance(package, dict) else None
        test = scripts.get("test") if isinstance(scripts, dict) else None
        if isinstance(test, str) and "no test specified" not in test:
            yield f"npm test: {test[:_LONGEST]} (package.json)"
    if (text := _text(snapshot, "Makefile")) is not None and _MAKE_TEST.search(text):
        yield "make test (Makefile)"


def _of_tox(text: str) -> Iterator[str]:
    try:
        section = parse_ini(text).get("testenv", {})
    except Malformed:
        return
    lines = [line.strip() for line in section.get("commands", "").splitlines() if line.strip()]
    if lines:
        command = _TOX_REST.sub("", _TOX_NAME.sub("python", lines[0])).rstrip(" \\")
        place = section.get("changedir", "").strip()
        inside = f"cd {place} && " if place and "{" not in place else ""
        yield f"{inside}{command[:_LONGEST]} (tox.ini)"


def _text(snapshot: Snapshot, name: str) -> str | None:
    data = snapshot.read(name) if snapshot.exists(name) else None
    return data[:_LARGEST].decode("utf-8", "replace") if data else None
