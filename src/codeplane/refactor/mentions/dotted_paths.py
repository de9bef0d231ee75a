"""Texts that name a definition by its whole path: `patch("pkg.store.load")`, `pkg.cli:main`."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.places import qualified
from codeplane.names import Snapshot
from codeplane.refactor.mentions.words import Word
from codeplane.refactor.plan import Site
from codeplane.refactor.rename_set import RenameSet

_MARKS: Final = re.compile(r"::?|/|#|->|\\")
_TEXTS: Final = ("string", "data")


def by_whole_path(
    snapshot: Snapshot, rename_set: RenameSet, sites: Collection[Site], mention_words: Collection[Word]
) -> Iterator[Site]:
    """The places in texts and data where the name stands behind all that leads to it."""
    words = [word for word in mention_words if word.where in _TEXTS and word.path_text]
    if not words or rename_set.is_local:
        return
    full = {qualified(snapshot, place) for place in rename_set.places}
    if not rename_set.is_member:
        shown_by = {site.path for site in sites if site.what == "import"}
        full |= {f"{qualified(snapshot, Place(path, -1))}.{rename_set.name}" for path in shown_by}
    for word in words:
        path = _MARKS.sub(".", word.path_text)
        if any("." in one and (path == one or path.startswith(f"{one}.")) for one in full):
            yield replace(word.site, tier=Tier.STRONG, what="attribute")
