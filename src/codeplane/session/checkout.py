"""A repository as it is found on disk, with the settings that hold in it. Finding writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.config import Places, Settings, Trust, TrustRecord, load_settings
from codeplane.config.layers import assignment_source, env_source, file_source, repository_source
from codeplane.git import Repository, locate, open_repository
from codeplane.git.repo.layout import primary_checkout
from codeplane.index import WORKING_VIEW, linked_view
from codeplane.process import Programs
from codeplane.storage import StateDir, read_trust_id


def find_trust(root: Path, places: Places) -> Trust | None:
    """The user's trust in a checkout; a linked worktree has that of the primary checkout as well."""
    record, primary = TrustRecord(places.trust_file), primary_checkout(root)
    trust = record.of(root, read_trust_id(root))
    if trust is None and primary is not None:
        trust = record.of(primary, read_trust_id(primary))
    return trust


@dataclass(frozen=True)
class Checkout:
    """What is known of a repository before anything runs in it."""

    root: Path
    repository: Repository
    state: StateDir
    settings: Settings
    trusted: bool
    opened: tuple[str, ...]  # lines of .cplignore that may bring secrets back
    notices: tuple[str, ...]
    programs: Programs
    places: Places
    assignments: tuple[str, ...] = ()
    toolchain_digest: str = ""  # of the `toolchain.toml` whose commands the user has allowed

    @property
    def scratch(self) -> Path:
        """For copies of the tree, outside of it."""
        return self.places.scratch

    @property
    def index_home(self) -> Path:
        """The checkout whose state directory has the index: linked worktrees share the primary's."""
        return self.repository.primary() or self.root

    @property
    def index_file(self) -> Path:
        return StateDir.at(self.index_home).index_file

    @property
    def view_key(self) -> str:
        """The name of this checkout's view in the index."""
        if self.index_home == self.root:
            return WORKING_VIEW
        return linked_view(self.repository.worktree_name)

    @classmethod
    def find(cls, start: Path, places: Places, assignments: Sequence[str] = ()) -> "Checkout":
        root = locate(start)
        trust = find_trust(root, places)
        is_trusted = trust is not None
        repository = open_repository(root, trusted=is_trusted)
        state = StateDir.at(root)
        sources = [assignment_source(assignments), env_source(places.overrides)]
        notices = []
        if is_trusted:
            sources.append(repository_source(state.config_file))
        elif state.config_file.exists():
            notices.append(f"{state.config_file} is ignored: this repository is not trusted (cpl trust).")
        sources.append(file_source(places.config_file))
        return cls(
            root=root,
            repository=repository,
            state=state,
            settings=load_settings(sources),
            trusted=is_trusted,
            opened=trust.secrets if trust is not None else (),
            notices=tuple(notices),
            programs=Programs(places.program_env),
            places=places,
            assignments=tuple(assignments),
            toolchain_digest=trust.toolchain if trust is not None else "",
        )
