"""What a move of a definition makes of imports, as it is put together."""

from dataclasses import dataclass, field

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.languages.facts import Import
from codeplane.languages.rules.carrying import Use, Wanted
from codeplane.refactor.moves.symbol_move import SymbolMove
from codeplane.refactor.plan import Problem, Site


@dataclass
class Need:
    """Something that a file has to import."""

    path: RepoPath
    wanted: Wanted
    edge: tuple[str, str] | None = None  # the files that the import leads from and to
    offsets: tuple[int, ...] = ()  # where it is used in the old file
    is_local: bool = False  # it is imported in the functions that use it


@dataclass
class ImportChanges:
    """The imports that a move adds and changes, and why it may not be possible."""

    move: SymbolMove
    sites: list[Site] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)  # why it cannot be done
    remarks: list[str] = field(default_factory=list)
    # Paths, and names that they no longer import.
    lost_imports: set[tuple[str, str]] = field(default_factory=set)
    # What files have to import, and the pieces of their imports that go or change, by path.
    needs: list[Need] = field(default_factory=list)
    sites_by_path: dict[RepoPath, list[Site]] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    imported_names: set[str] = field(default_factory=set)  # names that other files import from the target
    redirections: dict[RepoPath, list[tuple[Import, str | None]]] = field(default_factory=dict)

    def refuse(self, kind: str, text: str, line: int | None = None) -> None:
        self.problems.append(Problem(kind, text, self.move.source if line else None, line))

    def report_stuck(self, path: RepoPath, item: Import) -> None:
        self.problems.append(Problem("form", "This import cannot be written any more.", path, item.line))

    def local_imports(self, path: RepoPath) -> list[TextEdit]:
        """The imports that come into functions of the old file: those that move, or those that stay."""
        uses = [Use(need.wanted, need.offsets) for need in self.needs if need.is_local and need.path == path]
        data = self.move.data
        return list(self.move.language.import_locally(data, uses) or ()) if uses else []


def import_site(path: RepoPath, change: TextEdit) -> Site:
    """A change of imports that is proven."""
    return Site(path, *change, Tier.PROVEN, "import")
