"""Facts depend on the bytes alone, not on the order in which the nodes of a tree are found."""

import pytest
from tree_sitter import Node, Query

from codeplane.languages import specs
from codeplane.languages.extraction import extract
from codeplane.languages.facts import Facts
from codeplane.languages.query import captures
from codeplane.parsing.pack import Packed, pack
from tests.languages.test_language_cases import CASES, sources


def _packed(language: str, data: bytes, backwards: bool, patch: pytest.MonkeyPatch) -> Packed:
    def ordered(query: Query, root: Node, depth: int = 20_000) -> dict[str, list[Node]]:
        found = captures(query, root, depth)
        return {name: sorted(nodes, key=_place, reverse=backwards) for name, nodes in found.items()}

    patch.setattr(extract, "captures", ordered)
    facts: Facts = extract.extract(language, data)
    return pack(facts, "")


def _place(node: Node) -> tuple[int, int, int]:
    return node.start_byte, node.end_byte, node.id


@pytest.mark.parametrize("language", specs())
def test_the_order_of_nodes_says_nothing(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [file.read_text() for file in sorted((CASES / language).glob("*.txt"))]
    whole = [source.encode() for text in texts for _, source in sources(text)]
    for data in [*whole, *(data[: len(data) // 2] for data in whole)]:
        forwards = _packed(language, data, False, monkeypatch)
        assert forwards == _packed(language, data, True, monkeypatch), data
