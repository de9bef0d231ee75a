"""The inverse oracle of operations: what is deleted from real files by its bytes has to come back."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tree_sitter import Node

from bench.measure import Figure
from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.addresses import definitions_in
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import definition_match

_MOST_SHOWN = 5  # differences of a kind


class Deletion(NamedTuple):
    """Bytes of a file that are taken out, and the operation that has to bring them back."""

    kind: str
    start: int
    end: int
    new: bytes
    operation: str
    arguments: dict[str, Any]
    definition: int | None = None  # which of the definitions of the file is the target


class Corpus(NamedTuple):
    """The files of one package that something is deleted from."""

    folder: Path
    files: Sequence[Path]
    is_wanted: Callable[[Deletion], bool] = lambda _: True


class Outcome(NamedTuple):
    """Whether a deletion came back, and where it was or what came of it otherwise."""

    kind: str
    is_restored: bool
    text: str


@dataclass(frozen=True)
class InverseOracle:
    """The deletions of one language, and the share of each kind that may not come back, in percent."""

    language: str
    corpora: Callable[[], Iterable[Corpus]]
    deletions: Callable[[Source], Iterable[Deletion]]
    bounds: Mapping[str, float | None]
    sample: int  # of each kind and package

    def figures(self) -> list[Figure]:
        trials, failures = Counter[str](), Counter[str]()
        for outcome in self._outcomes():
            trials[outcome.kind] += 1
            failures[outcome.kind] += not outcome.is_restored
        return [
            Figure(
                f"{kind} not restored",
                100 * failures[kind] / trials[kind],
                "%",
                bound,
                f"{failures[kind]} of {trials[kind]} that were deleted",
            )
            for kind, bound in self.bounds.items()
            if trials[kind]
        ]

    def print_differences(self) -> None:
        """Prints the share of each kind, and its first differences: 5, or as many as the first argument."""
        results: dict[str, list[Outcome]] = {}
        for outcome in self._outcomes():
            results.setdefault(outcome.kind, []).append(outcome)
        most = int(sys.argv[1]) if len(sys.argv) > 1 else _MOST_SHOWN
        for kind, outcomes in results.items():
            count, total = sum(one.is_restored for one in outcomes), len(outcomes)
            print(f"{kind:<16} {count:>6} of {total:>6}  {100 * count / total:.2f} %")
            for one in [one for one in outcomes if not one.is_restored][:most]:
                print(f"    {one.text}")

    def _outcomes(self) -> Iterator[Outcome]:
        for corpus in self.corpora():
            deletions: dict[str, list[tuple[Path, Deletion]]] = {}
            for path in corpus.files:
                for one in self.deletions(Source(self.language, path.read_bytes(), path.name)):
                    if corpus.is_wanted(one):
                        deletions.setdefault(one.kind, []).append((path, one))
            for items in deletions.values():
                for path, one in random.Random(7).sample(items, min(self.sample, len(items))):
                    yield self._outcome(corpus.folder, path, one)

    def _outcome(self, folder: Path, path: Path, one: Deletion) -> Outcome:
        before, name = path.read_bytes(), path.relative_to(folder).as_posix()
        data = before[: one.start] + one.new + before[one.end :]
        source = Source(self.language, data, name, lambda other: (folder / other).is_file())
        operation = operations_of(self.language)[one.operation]
        pack = pack_of(self.language) or self.language
        arguments, errors = check_arguments(operation, pack, self.language, one.arguments)
        line = before.count(b"\n", 0, one.start) + 1
        text = f"{folder.name}: {name}:{line} {one.arguments}"
        if errors:
            return Outcome(one.kind, False, f"{text}: {errors[0]}")
        match = Match(source.root)
        if one.definition is not None:
            match = definition_match(definitions_in(source)[one.definition])
        try:
            result = run_operation(operation, source, [match], arguments)
        except OperationRefused as refusal:
            return Outcome(one.kind, False, f"{text}: {refusal.reason}")
        return Outcome(one.kind, result.data == before, text)


def dedented_text(source: Source, node: Node) -> str:
    """The text of a node as one would send it: lines behind the first without its indentation."""
    indent = source.indent_at(node.start_byte)
    first, *rest = source.text(node).split("\n")
    return "\n".join([first, *(row.removeprefix(indent) for row in rest)])
