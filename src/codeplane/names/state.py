"""Which state of the files is meant: the working tree, a commit, or either with other contents."""

from dataclasses import dataclass, field
from typing import Final

from codeplane.index.overlay_views import Files


@dataclass(frozen=True)
class Overlay:
    """Contents that paths have instead of what is below them; a name and a base mean one overlay."""

    name: str = ""
    files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class StateRef:
    """A state by its commit and what is different; without a commit, the working tree is below."""

    commit: str | None = None
    overlay: Overlay = Overlay()
    most_unread: int | None = None  # contents that may be read for it at once; more are an error


WORKING_TREE: Final = StateRef()
