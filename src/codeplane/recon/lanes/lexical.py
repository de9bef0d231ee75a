"""Passages that hold the words of a task, by the order that search has."""

from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.recon.candidates import Candidate, Lane, LaneQuery, LaneSources, best_candidates
from codeplane.search.question import Passage, rank_passages
from codeplane.search.ranking import change_weight, purpose_weight
from codeplane.search.scope import Scope
from codeplane.search.terms import Terms, content_words, is_filler, stem, terms_of

_MOST_TERMS: Final = 40
_MOST_BODY_TERMS: Final = 16
_BODY_WEIGHT: Final = 0.4  # of a word that only the text below the first line has
_PASSAGES_OF_A_FILE: Final = 3
_WORDS_SHOWN: Final = 4
_TASK_VERB_WEIGHT: Final = 0.2
# What is to be done to code, not which code: hooks and configuration are full of "fix" and "add".
_TASK_VERBS: Final = frozenset(
    stem(verb)
    for verb in (
        "add allow bug change clean correct deprecate drop ensure fix handle implement improve introduce"
        " issue problem refactor remove rename replace should support test update"
    ).split()
)

# What a report says of behaviour without saying of which.
_PROSE_WORDS: Final = frozenset(
    "actual after also always because before behavior behaviour but cannot could currently does doesn don"
    " even expected find found get gets got happens however instead just like more must need needs never no"
    " not now only same see seems set should some still such than that too try trying unless very want wants"
    " when while without would wrong".split()
)
_SHORTEST_WORD: Final = 2


def find(query: LaneQuery, sources: LaneSources) -> list[Candidate]:
    """The best passages for the task's words; those of its first line and its lexemes count most."""
    terms = task_terms(query, sources)
    counts: dict[str, int] = {}
    candidates: list[Candidate] = []
    for passage in rank_passages(sources.snapshot, terms, Scope()):
        sources.check()
        counts[passage.path] = counts.get(passage.path, 0) + 1
        if counts[passage.path] <= _PASSAGES_OF_A_FILE:
            candidates.append(_candidate_of(sources.snapshot, passage, terms))
    return best_candidates(candidates, query.limit)


def task_terms(query: LaneQuery, sources: LaneSources) -> Terms:
    """The words of a task that count, as the index knows them; of its body, the rarest ones."""
    title_words = set(content_words(query.title)[0])
    text = f"{query.title}\n{query.prompt}"
    terms = terms_of(sources.snapshot, text, _MOST_TERMS)
    content = [term for term in terms.items if is_content(term.text)]
    title = [term for term in content if term.text in title_words]
    body = [term for term in content if term.text not in title_words]
    rarest = sorted(body, key=lambda term: (-term.weight, term.text))[:_MOST_BODY_TERMS]
    for term in rarest:
        term.weight *= _BODY_WEIGHT
    for term in [*title, *rarest]:
        term.weight *= _TASK_VERB_WEIGHT if stem(term.text) in _TASK_VERBS else 1.0
    return Terms(items=[*title, *rarest], fillers=terms.fillers, strange_words=terms.strange_words)


def is_content(word: str) -> bool:
    """Whether a lower-case word of a report may say which code is meant."""
    return len(word) >= _SHORTEST_WORD and not is_filler(word) and word not in _PROSE_WORDS


def _candidate_of(snapshot: Snapshot, passage: Passage, terms: Terms) -> Candidate:
    words = sorted((terms.items[at] for at in passage.holds), key=lambda term: (-term.weight, term.text))
    words_shown = ", ".join(term.text for term in words[:_WORDS_SHOWN])
    why = f"has {words_shown}" if words_shown else "path has words of the task"
    return Candidate(
        Lane.LEXICAL,
        RepoPath(passage.path),
        passage.first,
        passage.last,
        passage.symbol,
        passage.score * change_weight(snapshot, passage.path) / purpose_weight(snapshot, passage.path),
        why,
    )
