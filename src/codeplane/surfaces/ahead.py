"""Answers about surfaces that are made before anybody asks, by a server that has nothing else to do."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from codeplane.core.paths import RepoPath
from codeplane.languages.sites import has_sites, pack_sites
from codeplane.names import Codebase, FileFacts
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface
from codeplane.surfaces.endpoints import endpoints_of, framework_files, route_files
from codeplane.surfaces.fact_lists import fact_surface
from codeplane.surfaces.facts import KINDS
from codeplane.surfaces.file_sites import SITES


class Patient:
    """Code that is asked step by step: `pause` runs before each file, and may wait or raise."""

    def __init__(self, code: Codebase, pause: Callable[[], None]) -> None:
        self._code, self._pause = code, pause
        self.unkept: set[int] = set()  # contents whose sites were read, since none are kept

    def __getattr__(self, name: str) -> Any:
        return getattr(self._code, name)

    def facts(self, path: str) -> FileFacts | None:
        self._pause()
        return self._code.facts(path)

    def kept_sites(self, blob: int) -> bytes | None:
        packed = self._code.kept_sites(blob)
        if packed is None:
            self.unkept.add(blob)
        return packed


def files_to_read(code: Codebase) -> dict[int, RepoPath]:
    """The contents, each with a path, whose sites an answer about endpoints rests on; none without a
    framework."""
    if not framework_files(code):
        return {}
    blobs = code.layout.blobs
    files = {}
    for path in sorted(route_files(code)):
        facts, blob = code.facts(path), blobs.get(path)
        if facts is not None and blob is not None and has_sites(facts.language):
            files[blob] = path
    return files


def prepare_answers(code: Codebase, pause: Callable[[], None]) -> Iterator[dict[int, bytes]]:
    """Makes the answers about all kinds of surfaces, one after the other; gives the packed sites that each
    had to read, to be kept. Code without an endpoint is no service: nothing more is made."""
    patient = Patient(code, pause)
    asked = cast("Codebase", patient)
    others: list[Callable[[], object]] = [
        lambda: config_surface(asked),
        lambda: table_surface(asked),
        *((lambda kind=kind: fact_surface(asked, kind)) for kind in KINDS),
    ]
    try:
        is_service = bool(endpoints_of(asked).endpoints)
        yield dict(_packed(code, patient, pause))
        for ask in others if is_service else ():
            patient.unkept.clear()
            ask()
            yield dict(_packed(code, patient, pause))
    finally:
        # The answers stay; what they were made of would take more memory than all else that a server knows.
        code.forget_derived(SITES)


def _packed(code: Codebase, patient: Patient, pause: Callable[[], None]) -> Iterator[tuple[int, bytes]]:
    for blob in patient.unkept:
        pause()
        facts = code.facts_of(blob)
        made = facts.made(SITES) if facts is not None else None
        if made is not None:
            yield blob, pack_sites(made.sites)
