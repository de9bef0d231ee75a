"""Domain anchors: the folders of a repository, which memories are tied to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate

from codeplane.config.settings import MemorySettings
from codeplane.memory.records import ROOT_ANCHOR


@dataclass(frozen=True)
class DomainAnchor:
    """A folder, the folder that contains it, and how deep it is; the root has depth 0."""

    id: str
    parent: str | None
    depth: int


class AnchorRules:
    """Which folders are anchors: down to a depth, and none that is excluded or in an excluded one."""

    def __init__(self, max_depth: int, exclude_patterns: Sequence[str]) -> None:
        self._max_depth = max_depth
        self._excluded = re.compile("|".join(map(translate, exclude_patterns))) if exclude_patterns else None

    @classmethod
    def of_settings(cls, settings: MemorySettings) -> "AnchorRules":
        return cls(settings.anchor_auto_seed_max_depth, settings.anchor_exclude_patterns)

    def anchors_of_file(self, path: str) -> tuple[str, ...]:
        """The anchors of a file, the most specific first and the root last."""
        return self._chain(path.split("/")[:-1])

    def anchors_of_folder(self, path: str) -> tuple[str, ...]:
        """The anchors of a folder, itself first where it is one, and the root last."""
        return self._chain([part for part in path.split("/") if part not in ("", ROOT_ANCHOR)])

    def seed_anchors(self, paths: Iterable[str]) -> list[DomainAnchor]:
        """Every anchor of a list of files, parents before their children."""
        folders = {path.rpartition("/")[0] for path in paths}
        ids = {anchor for folder in folders for anchor in self.anchors_of_folder(folder)}
        return [_describe_anchor(anchor) for anchor in sorted(ids | {ROOT_ANCHOR}, key=_order_anchor)]

    def _chain(self, parts: Sequence[str]) -> tuple[str, ...]:
        anchors = [ROOT_ANCHOR]
        for depth, name in enumerate(parts[: self._max_depth], 1):
            if self._excluded is not None and self._excluded.match(name):
                break
            anchors.append("/".join(parts[:depth]))
        return tuple(reversed(anchors))


def anchors_of_files(rules: AnchorRules, paths: Iterable[str]) -> tuple[str, ...]:
    """The anchors of several files together, deep ones first."""
    anchors = {anchor for path in paths for anchor in rules.anchors_of_file(path)} | {ROOT_ANCHOR}
    return tuple(sorted(anchors, key=lambda anchor: (-anchor_depth(anchor), anchor)))


def anchor_depth(anchor: str) -> int:
    """How many folders down an anchor is."""
    return 0 if anchor == ROOT_ANCHOR else anchor.count("/") + 1


def common_anchor(anchors: Iterable[str]) -> str:
    """The deepest folder that contains all of them."""
    ways = [[] if anchor == ROOT_ANCHOR else anchor.split("/") for anchor in anchors]
    shared: list[str] = []
    for names in zip(*ways, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared) or ROOT_ANCHOR


def is_below(path: str, anchor: str) -> bool:
    """Whether a file or folder is in the folder of an anchor."""
    return anchor == ROOT_ANCHOR or path == anchor or path.startswith(f"{anchor}/")


def _describe_anchor(anchor: str) -> DomainAnchor:
    if anchor == ROOT_ANCHOR:
        return DomainAnchor(ROOT_ANCHOR, None, 0)
    return DomainAnchor(anchor, anchor.rpartition("/")[0] or ROOT_ANCHOR, anchor_depth(anchor))


def _order_anchor(anchor: str) -> tuple[int, str]:
    return anchor_depth(anchor), anchor
