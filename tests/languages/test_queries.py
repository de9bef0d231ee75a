"""Every query file compiles, uses known captures only, and has no pattern that no case reaches."""

import pytest
from tree_sitter import QueryCursor

from codeplane.languages import specs
from codeplane.languages.extraction.grammar import grammar, query_files
from codeplane.languages.extraction.vocabulary import is_known
from codeplane.languages.query import compiled
from codeplane.languages.spec import HERE
from tests.languages.test_language_cases import CASES, sources


@pytest.mark.parametrize("language", specs())
def test_captures_are_in_the_vocabulary(language: str) -> None:
    for file in query_files(language):
        query = compiled(language, file.read_text())
        captures = [query.capture_name(at) for at in range(query.capture_count)]
        assert [name for name in captures if not is_known(name)] == [], file


@pytest.mark.parametrize("language", specs())
def test_every_pattern_is_hit_by_a_case(language: str) -> None:
    known = grammar(language)
    texts = [file.read_text() for file in (CASES / language).glob("*.txt")]
    trees = [known.parser.parse(source.encode()) for text in texts for _, source in sources(text)]
    for file in sorted((HERE / language).glob("*.scm")):
        scm = file.read_text()
        query = compiled(language, scm)
        hit = {at for tree in trees for at, _ in QueryCursor(query).matches(tree.root_node)}
        missed = set(range(query.pattern_count)) - hit
        shown = [
            scm[query.start_byte_for_pattern(at) : query.end_byte_for_pattern(at)] for at in sorted(missed)
        ]
        assert shown == [], file
