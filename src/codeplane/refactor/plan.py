"""What a refactoring would change, and how far that is proven."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Literal

from codeplane.core.edits import Change
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.proof import Tier

Risk = Literal["low", "medium", "high"]
Confidence = Literal["high", "medium", "low"]
MENTIONS: Final = "mentions"  # is chosen like the id of a group: what speaks of it and was left alone


NOT_FRESH: Final = "semantic_not_fresh"  # the kind of a problem that a run of an indexer would solve
DIVERGENCE: Final = "divergence"  # the kind of a problem that build contexts disagree about


class Verdict(StrEnum):
    """What may be done with a plan."""

    OK = "ok"
    """Every edit is proven and every binding stays what it was."""
    OK_SYNTACTIC = "ok_syntactic"
    """The edits of low risk, by the look of them; somebody has asked for these although not all is proven."""
    BLOCKED = "blocked"
    """A file that is concerned is not read, or only in part."""
    NEEDS_DECISION = "needs_decision"
    """Some places may or may not be meant; whoever knows has to say."""
    REFUSED = "refused"
    """It would change what other names mean, or cannot be done at all."""
    UNSUPPORTED = "unsupported"
    """The language has no facts that could prove it."""


_HOPELESS: Final = (Verdict.BLOCKED, Verdict.REFUSED, Verdict.UNSUPPORTED)


@dataclass(frozen=True, order=True)
class Site:
    """A place in a file, by line and byte column, where one text is replaced by another."""

    path: RepoPath
    line: int
    column: int
    old: str
    new: str
    tier: Tier = Tier.PROVEN
    what: str = ""  # define, call, import …


def by_path(sites: Iterable[Site]) -> dict[RepoPath, list[Site]]:
    """Sites by the file that they are in."""
    groups: dict[RepoPath, list[Site]] = {}
    for site in sites:
        groups.setdefault(site.path, []).append(site)
    return groups


@dataclass(frozen=True)
class Piece:
    """A definition that goes to another file: its bytes in the old one, and in the text for the new one."""

    path: RepoPath
    name: str
    owner: str  # the type that it names as its own, where that is not around it
    old: tuple[tuple[int, int], ...]  # spans that hold the same text as those of `new`
    new: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Group:
    """Places that are alike in what is not known about them; they are taken or left together."""

    id: str
    about: str
    sites: tuple[Site, ...]
    risk: Risk
    reasons: tuple[str, ...]
    question: str  # the kind of decision capsule
    asks: bool = True  # somebody has to decide about it; a group that does not ask is left out, and listed


# How a name is written there: as code, in a sentence, or in what a program prints.
MentionForm = Literal["code", "prose", "output"]


@dataclass(frozen=True)
class Mention:
    """The name in a comment or a document."""

    site: Site
    confidence: Confidence
    is_taken: bool = False  # it is changed along
    is_past: bool = False  # it tells of the past, and stays as it is
    form: MentionForm = "prose"

    @property
    def group(self) -> str:
        """The id by which mentions of this form are chosen."""
        return f"{MENTIONS}:{self.form}"


@dataclass(frozen=True)
class Problem:
    """Why something cannot be done, or what has to be known about it."""

    kind: str  # collision, shadowing, binding, outside_base, decorated, dynamic …
    text: str
    path: RepoPath | None = None
    line: int | None = None
    asks: bool = True  # it keeps a plan from being applied at once


@dataclass(frozen=True)
class SemanticBasis:
    """What a plan has from indexers, beside the contents of files."""

    files: frozenset[RepoPath] = frozenset()  # with places that an indexer has decided
    last_run: int = 0  # when it did
    ambiguity: frozenset[str] = frozenset()  # kinds of ambiguity at places that it has left open


@dataclass(frozen=True)
class Plan:
    """An exact set of edits with everything that it rests on."""

    kind: str
    symbol: str
    uid: str
    old_name: str
    new_name: str
    verdict: Verdict
    sites: tuple[Site, ...] = ()  # proven and strong ones
    groups: tuple[Group, ...] = ()  # that somebody has to decide about
    mentions: tuple[Mention, ...] = ()
    problems: tuple[Problem, ...] = ()  # that stand in the way
    notes: tuple[Problem, ...] = ()  # that do not
    remarks: tuple[str, ...] = ()  # what is done besides, in sentences
    ways: tuple[Mapping[str, object], ...] = ()  # parameters by which what is refused can be done
    change: Change = field(default_factory=Change)  # of the sites and the mentions that go along
    shown_lines: Mapping[tuple[RepoPath, int], str] = field(default_factory=dict)  # around open places
    moves: Mapping[RepoPath, RepoPath] = field(default_factory=dict)  # old path → new path
    block: str = ""  # the text that goes from one file to another, with what sets it apart there
    pieces: tuple[Piece, ...] = ()  # the definitions in it
    target: RepoPath | None = None  # where it goes
    gone: frozenset[tuple[str, str]] = frozenset()  # path and local name of imports that are taken out
    words: tuple[str, ...] = ()  # whose files the verdict rests on, where these are others than the names
    read: Mapping[RepoPath, Digest] = field(default_factory=dict)  # every file that the verdict rests on
    rests_on: frozenset[RepoPath] = frozenset()  # files that semantic facts rest on
    semantic: SemanticBasis = field(default_factory=SemanticBasis)
    epoch: int = 0
    is_rest: bool = False  # the definition has its new name already

    def choosing(self, selected: Collection[str], epoch: int) -> "Plan":
        """The plan with groups of open places among its sites, on the state of an epoch."""
        extra = [site for group in self.groups if group.id in selected for site in group.sites]
        sites = tuple(sorted({*self.sites, *extra}))
        mentions_chosen = {one for one in self.offered if MENTIONS in selected or one.group in selected}
        mentions = tuple(
            replace(one, is_taken=one.is_taken or one in mentions_chosen) for one in self.mentions
        )
        return replace(self, sites=sites, mentions=mentions, verdict=Verdict.OK, epoch=epoch)

    @property
    def not_fresh(self) -> list[RepoPath]:
        """The files about which an indexer would have to be asked again."""
        return sorted(one.path for one in self.problems if one.kind == NOT_FRESH and one.path is not None)

    @property
    def asking(self) -> list[Group]:
        """The open places that are worth a question."""
        return [group for group in self.groups if group.asks]

    @property
    def left(self) -> list[Group]:
        """The open places that are not: hardly any place like these was ever meant."""
        return [group for group in self.groups if not group.asks]

    @property
    def offered(self) -> list[Mention]:
        """The mentions that are left alone unless somebody chooses `mentions`."""
        is_open = self.kind in ("rename", "move") and self.verdict not in _HOPELESS
        return [one for one in self.mentions if is_open and not one.is_taken and not one.is_past]

    @property
    def mention_groups(self) -> list[str]:
        """What can be chosen of the mentions: all, and each form where there are several."""
        forms = list(dict.fromkeys(one.group for one in self.offered))
        return [MENTIONS, *(forms if len(forms) > 1 else ())] if forms else []

    @property
    def taken(self) -> list[Site]:
        """Everything that is replaced: the sites, and the mentions that go along."""
        return [*self.sites, *(one.site for one in self.mentions if one.is_taken)]

    contexts: tuple[str, ...] = ()  # the build contexts that have a part in it
    within: RepoPath | None = None  # the one file that matters, where nothing outside can say the name
