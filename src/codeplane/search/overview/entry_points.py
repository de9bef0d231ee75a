"""Where programs begin, and what says so: a manifest, the rules of a language, or a call that serves."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from codeplane.core.errors import CodePlaneError
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_STATIC, Role
from codeplane.names import Snapshot
from codeplane.search.overview.manifests import Program, programs
from codeplane.search.pattern import Pattern
from codeplane.search.result_pages import Place, page
from codeplane.search.scope import Scope
from codeplane.search.text_search import find_pattern

_OBJECT: Final = re.compile(r"[\w.]+(?::[\w.]+)?")
_SERVING: Final = ("ListenAndServe", "ListenAndServeTLS", "serve_forever", "createServer", "run_app")
_MOST_READ: Final = 100


class Entry(NamedTuple):
    name: str
    at: str
    evidence: str


def entry_points(snapshot: Snapshot) -> list[Entry]:
    """Every place where something says that a program begins; tests and documentation left out."""
    entries = [
        *_named(snapshot),
        *_find_modules(snapshot),
        *_find_mains(snapshot),
        *_find_scripts(snapshot),
        *_serving(snapshot),
    ]
    return list({(one.at, one.name): one for one in reversed(entries)}.values())[::-1]


def _named(snapshot: Snapshot) -> Iterator[Entry]:
    for one in programs(snapshot):
        yield Entry(one.name, _render_target(snapshot, one), f"{one.evidence}, {shown(one.manifest)}")


def _render_target(snapshot: Snapshot, one: Program) -> str:
    """Where the thing that a program runs is, or what the manifest says of it."""
    folder = one.manifest.rpartition("/")[0]
    path = f"{folder}/{one.runs.removeprefix('./')}".strip("/")
    if snapshot.exists(path):
        return shown(path)
    if match := _OBJECT.match(one.runs):
        try:
            definition = snapshot.symbol(match[0].replace(":", "."))
        except CodePlaneError:
            return shown(one.runs[:200])
        return f"{shown(definition.path)}:{definition.name_line}"
    return shown(one.runs[:200])


def _find_modules(snapshot: Snapshot) -> Iterator[Entry]:
    for name in {name for spec in specs().values() for name in spec.entry_points.files}:
        for path in snapshot.paths_named(name):
            if snapshot.purpose(path) is Purpose.SOURCE:
                module = path.rpartition("/")[0].replace("/", ".") or "."
                yield Entry(shown(module), shown(path), "directory that can be run")


def _find_mains(snapshot: Snapshot) -> Iterator[Entry]:
    """The functions and static methods that programs of a language begin with."""
    for name in sorted(
        {spec.entry_points.function for spec in specs().values() if spec.entry_points.function}
    ):
        for path, at, line, is_method in snapshot.overview.functions_named(name):
            facts = snapshot.facts(path)
            if (
                facts is None
                or snapshot.purpose(path) is not Purpose.SOURCE
                or facts.spec.entry_points.function != name
            ):
                continue
            if is_method and not facts.definitions[at].flags & FLAG_STATIC:
                continue
            yield Entry(name, f"{shown(path)}:{line}", f"{'method' if is_method else 'function'} {name}")


def _find_scripts(snapshot: Snapshot) -> Iterator[Entry]:
    for spec in specs().values():
        if not spec.entry_points.guard:
            continue
        plan = find_pattern(
            snapshot, Pattern(spec.entry_points.guard, is_literal=False), Scope(languages=(spec.name,))
        )
        plan = replace(
            plan, spots=[spot for spot in plan.spots if snapshot.purpose(spot.path) is Purpose.SOURCE]
        )
        plan = replace(
            plan, spots=[spot for spot in plan.spots if not spot.path.endswith(spec.entry_points.files)]
        )
        for hits in page(snapshot, plan, Place(), _MOST_READ, lambda: None).files.values():
            for mark in hits.marks:
                yield Entry(shown(hits.path.rsplit("/", 1)[-1]), f"{shown(hits.path)}:{mark.line}", "script")


def _serving(snapshot: Snapshot) -> Iterator[Entry]:
    for name in _SERVING:
        for ref in snapshot.references_named(name, 20).items:
            if ref.role is Role.CALL and snapshot.purpose(ref.path) is Purpose.SOURCE:
                yield Entry(name, f"{shown(ref.path)}:{ref.line}", "call that serves")
