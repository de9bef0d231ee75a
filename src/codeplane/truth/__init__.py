"""The only reader of the working tree."""

from codeplane.truth.commit import CommitTree, Content, Gap, GapKind
from codeplane.truth.ignore import CPLIGNORE, Ignore, Opened, Standing
from codeplane.truth.judge import Judge, Judgement, Verdict
from codeplane.truth.known import UNSETTLED, Delta, Known, digest_of
from codeplane.truth.scan import Listing
from codeplane.truth.tree import LARGEST, WorkingTree
from codeplane.truth.version import RepoVersion

__all__ = [
    "CPLIGNORE",
    "LARGEST",
    "UNSETTLED",
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
    "Opened",
    "RepoVersion",
    "Standing",
    "Verdict",
    "WorkingTree",
    "digest_of",
]
