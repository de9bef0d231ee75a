"""Code patterns over the whole repository: the word index chooses the files, and only those are parsed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument, NotFound, PathRefused, PatternInvalid
from codeplane.core.paths import RepoPath
from codeplane.languages import language_of, specs
from codeplane.languages.operations import Match, Source
from codeplane.languages.patterns import (
    Pattern,
    compile_pattern,
    find_pattern,
    has_grammar,
    may_match,
    near_misses,
)
from codeplane.languages.patterns.holes import holes_in
from codeplane.languages.patterns.near_misses import NearMiss, first_name, nearness
from codeplane.names import Snapshot
from codeplane.search.scope import Scope
from codeplane.search.text_search import within

MOST_HITS: Final = 2_000  # that are kept for further pages; beyond them matches are only counted
_LONGEST_WORD: Final = 60
_LONGEST_LINE: Final = 160
_LONGEST_CAPTURE: Final = 80
_NEAR_FILES: Final = 40
_NEAR: Final = 5
_LARGEST: Final = 16 << 20


class Hit(NamedTuple):
    """One match: where it is, its first line, and what its holes stand for."""

    path: str
    line: int
    text: str
    captures: Mapping[str, str]


class Miss(NamedTuple):
    """What came near in a file."""

    path: str
    miss: NearMiss


@dataclass
class Findings:
    """What a pattern finds in the repository."""

    hits: list[Hit] = field(default_factory=list)
    total: int = 0
    files: int = 0  # that have a match
    parsed: int = 0  # that had to be parsed
    languages: Sequence[str] = ()  # that the pattern is code of
    misses: list[Miss] = field(default_factory=list)
    absent_words: Sequence[str] = ()  # words of the pattern that no file has


class Question(NamedTuple):
    """A pattern as it is asked for."""

    pattern: str
    inside: str = ""
    is_exact: bool = False
    language: str = ""


def search_code(
    snapshot: Snapshot, question: Question, paths: Sequence[str], check: Callable[[], None]
) -> Findings:
    """The matches of a pattern in the files of some globs, file by file."""
    scope = Scope(tuple(paths), (question.language,) if question.language else ())
    files = _files_by_language(snapshot, scope)
    patterns = compiled_patterns(question, {language: len(group) for language, group in files.items()})
    findings = Findings(languages=list(patterns))
    for language, pattern in patterns.items():
        for path in _candidates(snapshot, pattern, files[language]):
            check()
            data = _contents(snapshot, path)
            if data is not None and may_match(pattern, data):
                findings.parsed += 1
                _collect_hits(findings, path, Source(language, data, path), pattern, check)
    if not findings.total:
        _explain_absence(snapshot, findings, patterns, files, check)
    return findings


def compiled_patterns(question: Question, files: Mapping[str, int]) -> dict[str, Pattern]:
    """The pattern in each language that it is code of; the error of the main language where there is none."""
    if not files:
        raise InvalidArgument("There are no files of a language with a grammar here.", hints=["list_files"])
    patterns: dict[str, Pattern] = {}
    errors: dict[str, PatternInvalid] = {}
    for language in sorted(files, key=lambda name: -files[name]):
        try:
            patterns[language] = compile_pattern(
                language, question.pattern, inside=question.inside, is_exact=question.is_exact
            )
        except PatternInvalid as error:
            errors[language] = error
    if not patterns:
        raise errors[max(errors, key=lambda language: files[language])]
    meaningful = {language: pattern for language, pattern in patterns.items() if _has_structure(pattern)}
    return meaningful or patterns


def _has_structure(pattern: Pattern) -> bool:
    """Whether a pattern is more than a text in its language, as any code is in Markdown."""
    names = {hole.name for hole in holes_in(pattern.text) if hole.name}
    return bool(pattern.root.children) and (not names or bool(names & set(pattern.holes)))


def _files_by_language(snapshot: Snapshot, scope: Scope) -> dict[str, list[str]]:
    names = scope.language_names() or frozenset(specs())
    lookup, chosen = snapshot.lookup, within(snapshot, Scope(scope.paths))
    result: dict[str, list[str]] = {}
    for name in sorted(names):
        if has_grammar(name):
            paths = [path for path in lookup.in_languages([name]) if chosen is None or path in chosen]
            unread = [
                path
                for path in (lookup.unread if snapshot.coverage.unread else ())
                if language_of(path, b"") == name and (chosen is None or path in chosen)
            ]
            if paths or unread:
                result[name] = sorted({*paths, *unread})
    return result


def _candidates(snapshot: Snapshot, pattern: Pattern, files: Sequence[str]) -> list[str]:
    """The files that have all words of a pattern, and those whose words are not known yet."""
    words = [word for word in pattern.words if word.isascii() and len(word) <= _LONGEST_WORD]
    if not words:
        return list(files)
    with_words = {*snapshot.lookup.with_words(words)}
    if snapshot.coverage.unread:
        with_words.update(snapshot.lookup.unread)
    return [path for path in files if path in with_words]


def _contents(snapshot: Snapshot, path: str) -> bytes | None:
    try:
        data = snapshot.source(RepoPath(path))
    except (NotFound, PathRefused):
        return None
    return data if len(data) <= _LARGEST else None


def _collect_hits(
    findings: Findings, path: str, source: Source, pattern: Pattern, check: Callable[[], None]
) -> None:
    matches = find_pattern(source, pattern, check)
    findings.total += len(matches)
    findings.files += bool(matches)
    room = max(0, MOST_HITS - len(findings.hits))
    findings.hits += [_hit_of(path, source, match) for match in matches[:room]]


def _hit_of(path: str, source: Source, match: Match) -> Hit:
    captures = {name: _capture_text(source, match, name) for name in sorted(match.captures)}
    return Hit(path, source.line_of(match.node.start_byte), first_line(source, match), captures)


def first_line(source: Source, match: Match) -> str:
    """The first line of a match; `…` says that there is more of it."""
    start = match.node.start_byte
    text = source.slice(start, min(match.node.end_byte, start + 4 * _LONGEST_LINE))
    line, rest, _ = text.partition("\n")
    is_cut = bool(rest) or len(line) > _LONGEST_LINE
    return line.rstrip()[:_LONGEST_LINE] + (" …" if is_cut else "")


def _capture_text(source: Source, match: Match, name: str) -> str:
    nodes = match.captures[name]
    if not nodes:
        return ""
    start, end = nodes[0].start_byte, nodes[-1].end_byte
    text = " ".join(source.slice(start, min(end, start + 4 * _LONGEST_CAPTURE)).split())
    return text if len(text) <= _LONGEST_CAPTURE else text[: _LONGEST_CAPTURE - 1] + "…"


def _explain_absence(
    snapshot: Snapshot,
    findings: Findings,
    patterns: Mapping[str, Pattern],
    files: Mapping[str, Sequence[str]],
    check: Callable[[], None],
) -> None:
    """Finds what comes near: code of the same kind with the first name of the pattern."""
    pattern = next(iter(patterns.values()))
    findings.absent_words = [word for word in pattern.words if not snapshot.lookup.with_words([word])]
    misses = list(_near_misses(snapshot, patterns, files, check))
    findings.misses = sorted(misses, key=lambda one: (nearness(one.miss), one.path))[:_NEAR]


def _near_misses(
    snapshot: Snapshot,
    patterns: Mapping[str, Pattern],
    files: Mapping[str, Sequence[str]],
    check: Callable[[], None],
) -> Iterator[Miss]:
    for language, pattern in patterns.items():
        name = first_name(pattern)
        is_word = name.isidentifier() and name.isascii() and len(name) <= _LONGEST_WORD
        with_name = {*snapshot.lookup.with_words([name])} if is_word else set(files[language])
        for path in [path for path in files[language] if path in with_name][:_NEAR_FILES]:
            check()
            data = _contents(snapshot, path)
            if data is not None:
                source = Source(language, data, path)
                yield from (Miss(path, miss) for miss in near_misses(source, pattern))
