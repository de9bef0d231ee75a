"""Tickets and API operations that a run has fetched: kept with the run, and citable as requirements."""

import hashlib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from codeplane.config.settings import ConnectorSettings
from codeplane.connectors import ApiSpec, Connectors, Ticket
from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import Denied
from codeplane.core.errors import (
    CodePlaneError,
    ConnectorError,
    InvalidArgument,
    NotFound,
    PathRefused,
)
from codeplane.session import RepoSession

MOST_ARTIFACTS: Final = 50
REFUSALS: Final = (ConnectorError, InvalidArgument, NotFound, PathRefused)
"""What keeps something from being fetched; a call that was cancelled or timed out is another matter."""
_LONGEST_TEXT: Final = 4_000
_MOST_CANDIDATES: Final = 3
_SPEC_NAME: Final = re.compile(r"(?:^|/)[\w.-]*(?:openapi|swagger)[\w.-]*\.(?:json|ya?ml)$", re.IGNORECASE)


@dataclass(frozen=True)
class Artifact:
    """Something fetched, by the name that a plan cites it by."""

    name: str
    kind: str
    source: str
    title: str
    digest: str
    text: str

    def to_record(self) -> dict[str, Any]:
        """What the run keeps: enough to cite it and to see whether it has changed."""
        return {
            "kind": self.kind,
            "source": self.source,
            "title": self.title,
            "digest": self.digest,
            "textDigest": hashlib.sha256(self.text.encode()).hexdigest(),
            "text": self.text[:_LONGEST_TEXT],
        }


class _Shelf:
    """The connectors of an open repository; they remember hosts for as long as the settings stay."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connectors: Connectors | None = None

    def current(self, settings: ConnectorSettings) -> Connectors:
        with self._lock:
            if self._connectors is None or self._connectors.settings != settings:
                self._connectors = Connectors(settings)
            return self._connectors


def connectors_of(repo: RepoSession) -> Connectors:
    """The connectors of a repository, with the settings as they are now."""
    return repo.keep(_Shelf, _Shelf).current(repo.checkout.settings.connectors)


def ticket_artifact(ticket: Ticket) -> Artifact:
    """A ticket goes by its key."""
    return Artifact(ticket.key, "ticket", ticket.url, ticket.summary, ticket.digest, ticket.text)


def spec_artifact(spec: ApiSpec, spec_url: str, artifacts: dict[str, dict[str, Any]]) -> Artifact:
    """An operation goes by method and path, a list of operations by where it came from."""
    if spec.operation is None:
        return Artifact(spec_url, "api_operations", spec.label, spec.title, spec.digest, spec.text)
    name, title = spec.operation.name, spec.operation.summary or spec.title
    # Two descriptions may have an operation of one name.
    if artifacts.get(name, {}).get("source", spec.label) != spec.label:
        name = f"{spec.label}#{name}"
    return Artifact(name, "api_operation", spec.label, title, spec.digest, spec.text)


def keep_artifact(turn: Turn, artifact: Artifact) -> str:
    """Keeps an artifact with the run, at the cost of the oldest, and gives out a handle for it."""
    artifacts = turn.run.body.artifacts
    artifacts.pop(artifact.name, None)
    artifacts[artifact.name] = artifact.to_record()
    while len(artifacts) > MOST_ARTIFACTS:
        del artifacts[next(iter(artifacts))]
    last = artifact.text.count("\n") + 1
    return turn.add_evidence("requirement", artifact.name, 1, last, artifact.digest, artifact.title)


def repository_reader(turn: Turn) -> Callable[[str], bytes]:
    """Reads a file of the repository as the snapshot has it; the jail decides what is one."""

    def read_file(text: str) -> bytes:
        path = turn.call.repo.tree.jail.enter(text)
        return turn.call.ask(lambda snapshot: snapshot.source(path))

    return read_file


def spec_files(turn: Turn) -> list[str]:
    """Files of the repository whose names say that they describe an API."""
    with turn.call.snapshot() as snapshot:
        paths = [str(path) for path in snapshot.digests() if _SPEC_NAME.search(path)]
    return sorted(paths, key=lambda path: (len(path), path))[:_MOST_CANDIDATES]


def refuse_fetch(error: CodePlaneError, suggestion: SuggestedAction | None = None) -> Denied:
    """A denial under the name of the error; without a better idea, the agent goes on with the prompt."""
    if suggestion is None:
        reason = "It can't be fetched now; the prompt can be cited instead."
        suggestion = SuggestedAction(verb=Verb.GET_ORIGINAL_PROMPT, reason=reason, args={})
    return Denied(
        [error.name()], error.message, suggestion, {"error": error.to_wire()}, "\n".join(error.hints)
    )
