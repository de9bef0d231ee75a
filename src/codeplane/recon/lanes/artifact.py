"""Files that attachments, tickets and API operations are or name."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Artifact, Candidate, Lane, LaneQuery, LaneSources, best_candidates
from codeplane.recon.lanes import lexical
from codeplane.recon.lanes.symbol import definition_candidate, named_definitions
from codeplane.recon.mentions import mentioned_files, mentioned_names

_ATTACHED: Final = 2.0
_NAMED: Final = 1.0
_BY_SYMBOL: Final = 0.5
_BY_WORDS: Final = 0.5
_MOST_PASSAGES: Final = 12
_LEAST_MENTION: Final = 0.5  # a plain word of a ticket names no definition
PROMPT: Final = "the prompt"


def find(query: LaneQuery, sources: LaneSources) -> list[Candidate]:
    """Attached files, files that the prompt or an artifact names, and what the words of an artifact mean."""
    snapshot = sources.snapshot
    candidates: list[Candidate] = []
    for text in query.attachments:
        candidates += _named_files(snapshot, text, _ATTACHED, "attached")
    candidates += _named_files(snapshot, query.prompt, _NAMED, f"named in {PROMPT}")
    for artifact in sources.artifacts:
        sources.check()
        candidates += _of_artifact(artifact, sources)
    return best_candidates(candidates, query.limit)


def _of_artifact(artifact: Artifact, sources: LaneSources) -> Iterator[Candidate]:
    snapshot = sources.snapshot
    source = f"{artifact.kind} {shown(artifact.name)}"
    yield from _named_files(snapshot, artifact.text, _NAMED, f"named in {source}")
    mentions = [
        mention._replace(weight=mention.weight * _BY_SYMBOL)
        for mention in mentioned_names(artifact.text)
        if mention.weight >= _LEAST_MENTION
    ]
    for one in named_definitions(snapshot, mentions):
        yield definition_candidate(Lane.ARTIFACT, one, source)
    yield from _by_words(artifact, source, sources)


def _by_words(artifact: Artifact, source: str, sources: LaneSources) -> Iterator[Candidate]:
    """Passages with the words of an artifact: "do SHOP-7" says nothing, the ticket does."""
    passages = lexical.find(LaneQuery(artifact.text, limit=_MOST_PASSAGES), sources)
    for passage in passages:
        score = _BY_WORDS * passage.score / passages[0].score
        yield passage._replace(lane=Lane.ARTIFACT, score=score, why=f"{passage.why}, as {source}")


def _named_files(snapshot: Snapshot, text: str, score: float, why: str) -> Iterator[Candidate]:
    for path, line in mentioned_files(snapshot, text):
        holder = snapshot.lookup.holder(path, line) if line else None
        first, last = (holder.start_line, holder.end_line) if holder is not None else (line, line)
        symbol = holder.lexical_path if holder is not None else ""
        yield Candidate(Lane.ARTIFACT, RepoPath(path), first, last, symbol, score, why)
