"""What may be staged, by the rules of the tree."""

from collections.abc import Callable

from codeplane.core.paths import RepoPath
from codeplane.git.staging.stage import StagingRules
from codeplane.session.call import Call
from codeplane.session.repo import RepoSession
from codeplane.working_tree import Verdict
from codeplane.working_tree.version import submodule_head


def staging_rules(call: Call) -> StagingRules:
    """The rules as they are now; secrets and what `.cplignore` excludes are closed, tracked or not."""
    return repo_staging_rules(call.repo, call.check)


def repo_staging_rules(repo: RepoSession, check: Callable[[], None]) -> StagingRules:
    """The rules of a repository, for what no call asks for; `check` ends it early."""
    judge = repo.tree.judge()

    def closed(path: str) -> str | None:
        judgement = judge.of(RepoPath(path))
        return judgement.reason if judgement.verdict is Verdict.CLOSED and not judgement.is_usual else None

    def unwanted(path: str) -> str | None:
        judgement = judge.of(RepoPath(path))
        return None if judgement.verdict is Verdict.OPEN else judgement.reason

    def submodule(path: str) -> str | None:
        return submodule_head(repo.checkout.repository, RepoPath(path))

    return StagingRules(closed, unwanted, submodule, check)
