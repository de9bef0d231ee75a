"""Features, strategies and chains: those that ship, and a repository's own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from codeplane.controller.strategy.documents import Chain, Feature, FeatureFile, Strategy
from codeplane.core.documents import Malformed
from codeplane.core.errors import NotFound, StrategyInvalid
from codeplane.core.suggest import nearest
from codeplane.storage.files import read_small

DEFAULT_STRATEGY: Final = "general_change"
MOST_FILES: Final = 100
LARGEST_FILE: Final = 65_536
_SHIPPED: Final = Path(__file__).parent


@dataclass(frozen=True)
class StrategyBook:
    """Everything that strategies are chosen from."""

    features: Mapping[str, Feature]
    strategies: Mapping[str, Strategy] = field(default_factory=dict)
    chains: Mapping[str, Chain] = field(default_factory=dict)

    def by_priority(self) -> list[Strategy]:
        """Strategies in the order in which they are tried."""
        return sorted(self.strategies.values(), key=lambda strategy: (-strategy.priority, strategy.strategy))

    def chain(self, chain_id: str) -> Chain:
        if chain_id not in self.chains:
            names = ", ".join(sorted(self.chains))
            raise NotFound(
                f"There is no proof chain {chain_id[:60]}; there are {names}.", chain=chain_id[:60]
            )
        return self.chains[chain_id]


@dataclass(frozen=True)
class _Source:
    label: str
    document: Mapping[str, Any]


@cache
def shipped_book() -> StrategyBook:
    """The features, strategies and chains that ship with CodePlane."""
    problems: list[str] = []
    [features] = _read_sources([_SHIPPED / "features.yaml"], _SHIPPED, problems)
    files = [*(_SHIPPED / "strategies").glob("*.yaml"), *(_SHIPPED / "chains").glob("*.yaml")]
    sources = list(_read_sources(sorted(files), _SHIPPED, problems))
    book = StrategyBook(FeatureFile.model_validate(features.document).features)
    return _add_sources(book, sources, problems)


def load_book(folder: Path | None) -> StrategyBook:
    """What ships, and the files of `.codeplane/strategies`; `StrategyInvalid` lists what is wrong with them.

    The caller has made sure that the repository is trusted, and passes None where it is not.
    """
    if folder is None or folder.is_symlink() or not folder.is_dir():
        return shipped_book()
    files = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml"))
    if len(files) > MOST_FILES:
        text = f"{folder} has {len(files)} files; at most {MOST_FILES} are read."
        raise StrategyInvalid(text, problems=[text])
    problems: list[str] = []
    sources = list(_read_sources(files, folder, problems))
    return _add_sources(shipped_book(), sources, problems)


def _read_sources(files: list[Path], folder: Path, problems: list[str]) -> Iterator[_Source]:
    # The parser takes long to load, and most servers run no controlled work.
    from codeplane.core.yaml_text import parse_yaml

    for file in files:
        label = file.relative_to(folder).as_posix()
        data = read_small(file, LARGEST_FILE)
        if data is None:
            problems.append(f"{label}: it is no plain file of at most {LARGEST_FILE} bytes")
            continue
        try:
            document = parse_yaml(data.decode())
        except (Malformed, UnicodeDecodeError) as error:
            problems.append(f"{label}: {error}")
            continue
        if isinstance(document, dict):
            yield _Source(label, document)
        else:
            problems.append(f"{label}: it has to be a map with the key strategy or chain")


def _add_sources(book: StrategyBook, sources: list[_Source], problems: list[str]) -> StrategyBook:
    strategies, chains = dict(book.strategies), dict(book.chains)
    labels: dict[str, str] = {}
    for source in sources:
        item = _parse_source(source, problems)
        if isinstance(item, Chain):
            _add_item(chains, item.chain, item, source.label, problems)
        elif item is not None:
            labels[item.strategy] = source.label
            _add_item(strategies, item.strategy, item, source.label, problems)
    whole = StrategyBook(book.features, strategies, chains)
    for name, label in labels.items():
        problems += [f"{label}: {problem}" for problem in _find_problems(whole, strategies[name])]
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        text = f"The strategies of this repository are not valid: {problems[0]}{more}."
        raise StrategyInvalid(text, problems=problems[:50])
    return whole


def _parse_source(source: _Source, problems: list[str]) -> Strategy | Chain | None:
    kinds = [kind for kind in ("strategy", "chain") if kind in source.document]
    if len(kinds) != 1:
        problems.append(f"{source.label}: it has to have either the key strategy or the key chain")
        return None
    model: type[Strategy] | type[Chain] = Strategy if kinds == ["strategy"] else Chain
    try:
        return model.model_validate(source.document)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            place = ".".join(str(part) for part in detail["loc"])
            problems.append(
                f"{source.label}: {place}: {detail['msg']}" if place else f"{source.label}: {detail['msg']}"
            )
        return None


def _add_item(items: dict[str, Any], name: str, item: object, label: str, problems: list[str]) -> None:
    if name in items:
        problems.append(f"{label}: {name} is there already; choose another name")
    else:
        items[name] = item


def _find_problems(book: StrategyBook, strategy: Strategy) -> Iterator[str]:
    conditions = [strategy.when, *(chain.when for chain in strategy.requires.chains)]
    names = set[str]().union(*(condition.features() for condition in conditions if condition is not None))
    yield from _unknown_names("feature", names, book.features)
    chains = {chain.chain for chain in strategy.requires.chains}
    yield from _unknown_names("chain", chains, book.chains)
    yield from _unknown_names("strategy", {switch.to for switch in strategy.switches}, book.strategies)


def _unknown_names(kind: str, names: set[str], known_names: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(names - known_names.keys()):
        near = nearest(name[:60], known_names, most=1)
        ending = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known_names))}"
        yield f"there is no {kind} {name[:60]}; {ending}"
