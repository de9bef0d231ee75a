"""Files, directories and symbols that calls mean: looked up, so that a corrected call is accepted."""

from typing import Any, Final

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.evidence.verification import is_slip
from codeplane.controller.turn import Turn
from codeplane.controller.verb import to_wire_arguments
from codeplane.core.errors import AmbiguousSymbol, CodePlaneError, NotFound
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

_MOST_NEAR: Final = 20


def action_of(verb: Verb, reason: str, values: dict[str, Any]) -> SuggestedAction:
    """A call with arguments under the names of the models."""
    return SuggestedAction(verb=verb.value, reason=reason, args=to_wire_arguments(values))


def look_around(turn: Turn, path: str) -> SuggestedAction:
    """Lists the nearest directory above a path that is there."""
    with turn.call.snapshot() as snapshot:
        parts = [part for part in path.strip("/").split("/") if part not in ("", ".", "..")]
        folders = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
        folder = next((one for one in folders if snapshot.is_directory(one)), ".")
    return action_of(Verb.LIST_DIRECTORY_CONTENTS, "Shows what is there.", {"target_dir": folder})


def readable_file(turn: Turn, text: str) -> RepoPath | None:
    """The file that a text means and that can be read: itself, one of that name, or with a slip in it."""
    with turn.call.snapshot() as snapshot:
        try:
            candidates = [turn.call.repo.tree.jail.enter(text)]
        except CodePlaneError:
            candidates = []
        name = text.rstrip("/").rpartition("/")[2]
        candidates += snapshot.paths_named(name)
        candidates += [RepoPath(one) for one in snapshot.layout.blobs if is_slip(name, one)]
        return next((one for one in candidates[:_MOST_NEAR] if _is_readable(turn, snapshot, one)), None)


def _is_readable(turn: Turn, snapshot: Snapshot, path: RepoPath) -> bool:
    if not snapshot.exists(path) or not path.isprintable():
        return False
    try:
        turn.call.repo.tree.read(path)
    except CodePlaneError:
        return False
    return True


def known_symbol(turn: Turn, text: str) -> str | None:
    """The one symbol that a text means, or the first of those that it may mean."""
    with turn.call.snapshot() as snapshot:
        try:
            snapshot.symbol(text)
        except AmbiguousSymbol as error:
            candidates: Any = error.details.get("candidates", ())
        except NotFound:
            candidates = snapshot.names_near(text)
        except CodePlaneError:
            return None
        else:
            return text
        for candidate in candidates:
            for name in (candidate.get("name"), candidate.get("at")):
                try:
                    snapshot.symbol(str(name))
                except CodePlaneError:
                    continue
                return str(name)
    return None
