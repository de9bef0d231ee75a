"""The only reader of the working tree."""

from codeplane.working_tree.commit import CommitTree, Content, Gap, GapKind
from codeplane.working_tree.known import UNSETTLED, Delta, Known, digest_of
from codeplane.working_tree.memory_tree import MemoryTree, no_files_on_disk
from codeplane.working_tree.overlay_files import OverlaidFile, OverlayFiles
from codeplane.working_tree.paths import CommitPaths, OverlaidPaths, StatePaths
from codeplane.working_tree.rules.ignore import CPLIGNORE, Ignore, Opened, Standing
from codeplane.working_tree.rules.judge import Judge, Judgement, Verdict
from codeplane.working_tree.scan import Listing
from codeplane.working_tree.tree import LARGEST, WorkingTree
from codeplane.working_tree.version import RepoVersion

__all__ = [
    "CPLIGNORE",
    "LARGEST",
    "UNSETTLED",
    "CommitPaths",
    "CommitTree",
    "Content",
    "Delta",
    "Gap",
    "GapKind",
    "Ignore",
    "Judge",
    "Judgement",
    "Known",
    "Listing",
    "MemoryTree",
    "Opened",
    "OverlaidFile",
    "OverlaidPaths",
    "OverlayFiles",
    "RepoVersion",
    "Standing",
    "StatePaths",
    "Verdict",
    "WorkingTree",
    "digest_of",
    "no_files_on_disk",
]
