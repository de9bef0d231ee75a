"""What deltas of a repository are read, simulated and checked with."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from codeplane.core.errors import CodePlaneError, NotFound, ToolchainInvalid
from codeplane.core.paths import RepoPath
from codeplane.delta.document import Authoring, read_delta, stored_form
from codeplane.delta.formatters import Normaliser
from codeplane.delta.simulation import Simulation
from codeplane.delta.targets import Finders
from codeplane.delta.toolchain import FILE, Toolchain, read_toolchain
from codeplane.jail import shown
from codeplane.lint import Watch
from codeplane.search.missing_file import near
from codeplane.session.call import Call
from codeplane.session.delta.project_operations import ProjectEdits
from codeplane.session.linting import WorkingFiles, where
from codeplane.session.repo import RepoSession
from codeplane.storage.files import read_small
from codeplane.working_tree import Verdict

_LARGEST_TOOLCHAIN: Final = 1 << 18
_MOST_NEAR: Final = 3


def authoring_of(repo: RepoSession) -> Authoring:
    """What deltas of a repository are read against: its jail, and the packs that are switched on."""
    return Authoring(
        repo.tree.jail.enter,
        repo.checkout.settings.packs.grammar,
        lambda path: read_tree_file(repo, path) or b"",
    )


def normalise_delta(repo: RepoSession, document: Mapping[str, Any]) -> dict[str, Any]:
    """A delta as a plan keeps it; `DeltaInvalid` for one that is not well-formed."""
    return stored_form(read_delta(dict(document), authoring_of(repo)))


def read_tree_file(repo: RepoSession, path: RepoPath) -> bytes | None:
    """A file of the working tree; None for what is not there or may not be read."""
    try:
        return repo.tree.read(path)
    except CodePlaneError:
        return None


def simulation_for(call: Call, expected: Sequence[RepoPath] = ()) -> Simulation:
    """A simulation on the working tree as it is now; it is quicker if it is told which files to expect."""
    simulation = Simulation(
        lambda path: read_tree_file(call.repo, path),
        finders_for(call),
        formatter=_normaliser_for(call, expected),
        check=call.check,
        why_closed=lambda path: _why_closed(call, path),
        why_missing=lambda path: _why_missing(call, path),
    )
    simulation.project_operations = ProjectEdits(call, simulation)
    return simulation


def _why_closed(call: Call, path: RepoPath) -> str:
    """The rule by which the engine would refuse to write a file; empty where there is none."""
    judgement = call.repo.tree.judge().of(path)
    return "" if judgement.verdict is Verdict.OPEN else f"The file is closed to edits: {judgement.reason}"


def _why_missing(call: Call, path: RepoPath) -> str:
    """What stands at a path that can't be read, and which files may be meant."""
    try:
        call.repo.tree.read(path)
    except CodePlaneError as error:
        with call.snapshot() as snapshot:
            target = call.repo.tree.links().get(path)
            is_absent = isinstance(error, NotFound)
            hints = near(snapshot, path) if is_absent else [f"It leads to {shown(target)}."] if target else []
        return " ".join([f"{error.message.rstrip('.')}.", *hints[:_MOST_NEAR]])
    return "The file is not there."


def _normaliser_for(call: Call, expected: Sequence[RepoPath]) -> Normaliser:
    def open_files() -> WorkingFiles:
        with call.snapshot() as snapshot:
            return WorkingFiles(snapshot, call.repo.tree)

    watch = Watch(call.check, call.progress)
    return Normaliser(open_files, where(call), watch, call.repo.checkout.trusted, expected)


def finders_for(call: Call) -> Finders:
    """How targets are found in files of the repository."""
    return Finders(call.repo.query_worker)


def toolchain_of(repo: RepoSession) -> Toolchain:
    """The validators of the project; none where it has no `toolchain.toml`."""
    data = read_small(repo.state.toolchain_file, _LARGEST_TOOLCHAIN)
    return read_toolchain(data) if data is not None else Toolchain()


def require_toolchain_trust(repo: RepoSession, toolchain: Toolchain) -> None:
    """Refuses to run commands of a file that the user has not seen in this form."""
    if not repo.checkout.trusted or repo.checkout.toolchain_digest != toolchain.digest:
        raise ToolchainInvalid(
            f"The user has not trusted .codeplane/{FILE} as it is now; its commands are not run.",
            hints=["cpl trust"],
        )
