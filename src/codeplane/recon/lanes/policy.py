"""Rules that hold for the candidate files: instructions, owners, policies on record, linters."""

from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.text import lines_of
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Candidate, Lane, LaneQuery, LaneSources, best_candidates, paths_within
from codeplane.recon.lanes.lexical import task_terms
from codeplane.search.question import rank_passages
from codeplane.search.scope import Scope
from codeplane.search.terms import Terms

_INSTRUCTIONS: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules")
_GUIDES: Final = (
    "CONTRIBUTING.md",
    "CONTRIBUTING.rst",
    "CONTRIBUTING.txt",
    "CONTRIBUTING",
    "copilot-instructions.md",
)
_ON_RECORD, _INSTRUCTION, _OWNER, _GUIDE, _LINTER = 1.0, 0.9, 0.7, 0.6, 0.4
_WHOLE: Final = 40  # lines of a document that is shown from its beginning
_OUTER: Final = 0.02  # less for every folder that instructions stand above a file
_MOST_SHOWN: Final = 3


def find(query: LaneQuery, sources: LaneSources) -> list[Candidate]:
    """What rules the files of the query, the most specific first."""
    candidates = [
        *_rows_for(sources, query.paths),
        *_documents_for(query, sources),
        *_owners_of(sources.snapshot, query.paths),
        *_linters_for(sources, query.paths),
    ]
    return best_candidates(candidates, query.limit)


def _rows_for(sources: LaneSources, paths: Sequence[RepoPath]) -> Iterator[Candidate]:
    for row in sources.policy_rows():
        files = paths_within(paths, row.globs)
        if files or not row.globs:
            why = f"policy {row.row_id}: {shown(row.text)}{_for_files(files)}"
            yield Candidate(Lane.POLICY, RepoPath(row.path), row.line, row.line, row.row_id, _ON_RECORD, why)


def _documents_for(query: LaneQuery, sources: LaneSources) -> Iterator[Candidate]:
    """Instructions hold for what is below their folder, guides for everything."""
    snapshot = sources.snapshot
    terms = task_terms(query, sources)
    for name in _INSTRUCTIONS:
        for path in snapshot.paths_named(name):
            folder = path.rpartition("/")[0]
            below = [one for one in query.paths if not folder or one.startswith(f"{folder}/")]
            if below or not folder:
                depth = min((one.count("/") - path.count("/") for one in below), default=0)
                score = _INSTRUCTION - _OUTER * max(0, depth)
                yield _best_part(
                    snapshot, path, terms, score, f"instructions for {folder or 'the repository'}"
                )
    for name in _GUIDES:
        for path in snapshot.paths_named(name):
            if path.rpartition("/")[0] in ("", ".github", "docs"):
                yield _best_part(snapshot, path, terms, _GUIDE, "guide for contributors")


def _best_part(snapshot: Snapshot, path: RepoPath, terms: Terms, score: float, why: str) -> Candidate:
    """The passage of a document that says most about the task; its beginning where none does."""
    passages = rank_passages(snapshot, terms, Scope(), frozenset([path]))
    if passages and passages[0].symbol:
        best = passages[0]
        return Candidate(Lane.POLICY, path, best.first, best.last, best.symbol, score, why)
    last = min(_WHOLE, max(1, len(lines_of(snapshot.source(path)))))
    return Candidate(Lane.POLICY, path, 1, last, "", score, why)


def _owners_of(snapshot: Snapshot, paths: Sequence[RepoPath]) -> Iterator[Candidate]:
    """The rule of CODEOWNERS for each file: the last that matches."""
    for name in (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"):
        if snapshot.exists(name):
            break
    else:
        return
    rules = list(_owner_rules(snapshot.source(RepoPath(name))))
    files_by_line: dict[int, list[RepoPath]] = {}
    for path in paths:
        line = next((number for number, globs, _ in reversed(rules) if globs.holds(path)), None)
        if line is not None:
            files_by_line.setdefault(line, []).append(path)
    owners = {number: people for number, _, people in rules}
    for line, files in files_by_line.items():
        why = f"owned by {shown(owners[line])}{_for_files(files)}" if owners[line] else "owned by nobody"
        yield Candidate(Lane.POLICY, RepoPath(name), line, line, "", _OWNER, why)


def _owner_rules(data: bytes) -> Iterator[tuple[int, Globs, str]]:
    for number, line in enumerate(lines_of(data), 1):
        pattern, _, people = line.partition("#")[0].strip().partition(" ")
        if not pattern or pattern.startswith("["):
            continue
        try:
            yield number, Globs([pattern]), people.strip()
        except InvalidArgument:
            continue  # a pattern that is none rules nothing


def _linters_for(sources: LaneSources, paths: Sequence[RepoPath]) -> Iterator[Candidate]:
    for use in sources.linters():
        inside = [path for path in paths if not use.root or path.startswith(f"{use.root}/")]
        files = paths_within(inside, use.globs)
        if files and sources.snapshot.exists(use.evidence):
            why = f"{use.name} checks{_for_files(files).removeprefix(' for')}"
            yield Candidate(Lane.POLICY, RepoPath(use.evidence), 0, 0, use.name, _LINTER, why)


def _for_files(paths: Sequence[RepoPath]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - _MOST_SHOWN} more" if len(paths) > _MOST_SHOWN else ""
    return f" for {', '.join(shown(path) for path in paths[:_MOST_SHOWN])}{more}"
