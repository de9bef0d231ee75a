"""What a caller names as part of the task: files, lines, symbols, tickets, addresses."""

from dataclasses import dataclass, field
from typing import Final

from codeplane.controller.pack.gaps import Gap
from codeplane.controller.pack.prompt_facts import addresses_in, code_names, ticket_keys
from codeplane.core.errors import AmbiguousSymbol, CodePlaneError, NotFound
from codeplane.core.suggest import nearest
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.recon.candidates import Candidate, Lane
from codeplane.search.read_targets import Finder
from codeplane.working_tree import WorkingTree

_SURE, _LIKELY, _POSSIBLE = 1.0, 0.7, 0.5
_MOST_SHOWN: Final = 3


@dataclass
class NamedTargets:
    """What was named, found or not, and what is ambiguous."""

    candidates: list[Candidate] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TargetReader:
    """Finds what texts name in one snapshot."""

    snapshot: Snapshot
    tree: WorkingTree
    artifacts: frozenset[str]  # names of what this run has fetched
    has_connectors: bool = False

    def read_targets(self, texts: tuple[str, ...], required_by: str) -> NamedTargets:
        """Files, lines and symbols by their names; what is not there is a gap that is required."""
        targets = NamedTargets()
        for text in texts:
            if text in self.artifacts:
                continue
            if ticket_keys(text) == [text]:
                targets.gaps.append(self._not_fetched("ticket", text, required_by, _SURE))
            elif addresses_in(text) == [text]:
                targets.gaps.append(self._not_fetched("api_spec", text, required_by, _SURE))
            else:
                self._find_target(text, required_by, targets)
        return targets

    def _find_target(self, text: str, required_by: str, targets: NamedTargets) -> None:
        try:
            target = Finder(self.snapshot, self.tree).find(text)
            data = self.snapshot.source(target.path)  # what is ignored can't be cited
        except AmbiguousSymbol as error:
            targets.conflicts.append(error.message)
            return
        except CodePlaneError as error:
            targets.gaps.append(self._unresolved(text, required_by, error))
            return
        last = target.last or data.count(b"\n") + 1
        lines = (target.first, last) if target.symbol or target.first > 1 or target.last else (0, 0)
        symbol = target.symbol.removeprefix(f"{self.snapshot.module_name(target.path)}.")
        why = f"named by {required_by}"
        targets.candidates.append(Candidate(Lane.ARTIFACT, target.path, *lines, symbol, 2 * _SURE, why))

    def _unresolved(self, text: str, required_by: str, error: CodePlaneError) -> Gap:
        is_path = "/" in text or "." in text
        near = nearest(text, [shown(path) for path in self.snapshot.layout.blobs], most=1) if is_path else []
        if not is_path:
            near = [one["name"] for one in self.snapshot.names_near(text)[:1]]
        kind, sources = ("file", ("index",)) if is_path else ("symbol", ("definitions",))
        is_absent = isinstance(error, NotFound)
        why = "it is not in the repository" if is_absent else error.message.rstrip(".")
        return Gap(kind, shown(text), required_by, why, sources, _SURE, True, near[0] if near else "")

    def read_prompt(self, prompt: str) -> NamedTargets:
        """Tickets that were not fetched, names in code spans that nothing has or several things have."""
        targets = NamedTargets()
        for key in ticket_keys(prompt):
            if key not in self.artifacts:
                targets.gaps.append(self._not_fetched("ticket", key, "the prompt", _POSSIBLE))
        for name in code_names(prompt):
            last = name.rpartition(".")[2]
            if not self.snapshot.definitions(last) and not self.snapshot.paths_with(last):
                near = [one["name"] for one in self.snapshot.names_near(last)[:1]]
                why = "no file has this name"
                sources = ("definitions", "words of all files")
                gap = Gap("symbol", name, "the prompt", why, sources, _LIKELY, False, near[0] if near else "")
                targets.gaps.append(gap)
            elif (conflict := self._several(name)) is not None:
                targets.conflicts.append(conflict)
        return targets

    def _several(self, name: str) -> str | None:
        try:
            definitions = [one for one in self.snapshot.symbols(name) if self.snapshot.purpose(one.path) == 0]
        except CodePlaneError:
            return None
        if len(definitions) < 2:
            return None
        places = [f"{shown(one.path)}:{one.name_line}" for one in definitions[:_MOST_SHOWN]]
        more = f" and {len(definitions) - _MOST_SHOWN} more" if len(definitions) > _MOST_SHOWN else ""
        return f"{name} is defined {len(definitions)} times: {', '.join(places)}{more}"

    def _not_fetched(self, kind: str, name: str, required_by: str, confidence: float) -> Gap:
        why = "it has not been fetched in this run"
        is_required = confidence == _SURE
        sources = ("artifacts of the run",)
        return Gap(
            kind, name, required_by, why, sources, confidence, is_required, is_fetchable=self.has_connectors
        )
