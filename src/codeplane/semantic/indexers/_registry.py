"""The indexers, found by reading the folder: `INDEXER` of each module."""

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from codeplane.semantic.indexer import Indexer


def _load_indexers() -> dict[str, Indexer]:
    """All indexers by name, the preferred ones first."""
    folder = Path(__file__).parent
    modules = pkgutil.iter_modules([str(folder)])
    names = sorted(one.name for one in modules if not one.name.startswith("_") and not one.ispkg)
    indexers: list[Indexer] = [import_module(f"codeplane.semantic.indexers.{name}").INDEXER for name in names]
    return {one.name: one for one in sorted(indexers, key=lambda one: (one.preference, one.name))}


INDEXERS: Final[Mapping[str, Indexer]] = _load_indexers()
