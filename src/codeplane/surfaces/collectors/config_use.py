"""Uses of configuration keys, as the collectors hand them over."""

from dataclasses import dataclass, field

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place


@dataclass(frozen=True)
class ConfigUse:
    """One place that reads or defines a key."""

    key: str
    path: RepoPath
    line: int
    pattern: str
    is_definition: bool = False
    default: str | None = None
    symbol: Place | None = None
    is_required: bool = False  # without it the program doesn't run


@dataclass
class ConfigSurface:
    """The keys of a state, and where keys are read whose names can't be worked out."""

    uses: list[ConfigUse] = field(default_factory=list)
    dynamic: dict[RepoPath, int] = field(default_factory=dict)

    def count_dynamic(self, path: RepoPath) -> None:
        """Notes a read whose key is only known at run time."""
        self.dynamic[path] = self.dynamic.get(path, 0) + 1
