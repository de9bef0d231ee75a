"""Which build contexts an indexer can be run over, and which indexer that is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from codeplane.contexts.file import IndexerChoice, SemanticChoices, read_semantic_choices
from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.custom import Custom
from codeplane.semantic.indexer import ContextFiles, Indexer, Tool
from codeplane.semantic.indexers import INDEXERS
from codeplane.session.checkout import Checkout
from codeplane.storage.files import read_small

OFF: Final = "off"
_LARGEST_CONTEXTS: Final = 1_048_576


@dataclass(frozen=True)
class SemanticContext:
    """A build context with files in a language that some indexer knows."""

    unit: str
    files: ContextFiles
    languages: Mapping[str, int]  # how many files each has
    by_language: Mapping[str, tuple[RepoPath, ...]] = field(repr=False)

    @property
    def root(self) -> RepoPath:
        return self.files.root

    def indexed_by(self, indexer: Indexer) -> frozenset[RepoPath]:
        """The files that an indexer should say something about."""
        return frozenset(path for name in indexer.languages for path in self.by_language.get(name, ()))

    @property
    def title(self) -> str:
        """The name of the context as people and agents read and write it."""
        return title_of(self.unit)


def title_of(unit: str) -> str:
    """A unit as people and agents read and write it: `python:.`."""
    family, _, root = unit.partition(":")
    return f"{family or 'files'}:{shown(RepoPath(root)) or '.'}"


@dataclass(frozen=True)
class Pick:
    """The indexer of a context, as it was found."""

    indexer: Indexer
    tool: Tool
    env: Mapping[str, str]


def known_indexers(checkout: Checkout) -> dict[str, Indexer]:
    """All indexers by name: those of the settings first, then the built-in ones in order of preference."""
    custom = {one.name: Custom(one) for one in checkout.settings.semantic.custom}
    return {**custom, **{name: one for name, one in INDEXERS.items() if name not in custom}}


def semantic_choices(checkout: Checkout) -> SemanticChoices:
    """What contexts.yaml says about indexers; it counts only in a trusted repository."""
    data = read_small(checkout.state.contexts_file, _LARGEST_CONTEXTS) if checkout.trusted else None
    return read_semantic_choices(data.decode("utf-8", "replace")) if data else SemanticChoices()


def semantic_contexts(snapshot: Snapshot, indexers: Iterable[Indexer]) -> list[SemanticContext]:
    """The contexts that an indexer can say something about, by name."""
    languages = {name for one in indexers for name in one.languages}
    files: dict[str, dict[str, list[RepoPath]]] = defaultdict(lambda: defaultdict(list))
    for one in snapshot.overview.files():
        if one.language in languages:
            files[snapshot.units.unit_of(one.path, one.language)][one.language].append(one.path)
    roots: dict[str, list[RepoPath]] = defaultdict(list)
    for unit in sorted(files):
        family, _, root = unit.partition(":")
        roots[family].append(RepoPath(root))
    return [_make_context(unit, files[unit], roots[unit.partition(":")[0]]) for unit in sorted(files)]


def _make_context(
    unit: str, by_language: Mapping[str, list[RepoPath]], roots: list[RepoPath]
) -> SemanticContext:
    paths = tuple(sorted(path for paths in by_language.values() for path in paths))
    return SemanticContext(
        unit,
        ContextFiles(RepoPath(unit.partition(":")[2]), paths, tuple(roots)),
        Counter({name: len(paths) for name, paths in by_language.items()}),
        {name: tuple(paths) for name, paths in by_language.items()},
    )


def candidates(
    context: SemanticContext, indexers: Mapping[str, Indexer], choice: IndexerChoice
) -> list[Indexer]:
    """The indexers that may be used for a context, best first; none where the user has switched it off."""
    if choice.indexer == OFF:
        return []
    if choice.indexer and choice.indexer not in indexers:
        near = nearest(choice.indexer, indexers, most=1)
        ending = f"; did you mean {near[0]}?" if near else "."
        raise InvalidArgument(
            f"contexts.yaml: there is no indexer {choice.indexer}{ending}", known=sorted(indexers)
        )
    return [
        one
        for one in indexers.values()
        if not one.languages.isdisjoint(context.languages) and choice.indexer in ("", one.name)
    ]


def pick_indexer(
    context: SemanticContext, offered: Iterable[Indexer], toolbox: Toolbox, env: Mapping[str, str]
) -> Pick | None:
    """The first indexer that is installed; programs of the repository are started to ask for versions."""
    for one in offered:
        if (tool := one.find(toolbox, context.root)) is not None:
            return Pick(one, tool, env)
    return None


def find_contexts(contexts: Iterable[SemanticContext], names: Iterable[str]) -> list[SemanticContext]:
    """The contexts with some names: the family and the root, or one of them alone."""
    contexts = list(contexts)
    matches: dict[str, SemanticContext] = {}
    for name in names:
        hits = [one for one in contexts if name in (one.title, one.unit, *one.title.split(":", 1))]
        if not hits:
            titles = [one.title for one in contexts]
            near = nearest(name, titles, most=1)
            ending = f"; did you mean {near[0]}?" if near else "."
            raise InvalidArgument(f"There is no build context {name}{ending}", known=titles[:20])
        matches |= {one.unit: one for one in hits}
    return list(matches.values())
