"""Contexts: which root owns a file, for each language family.

`discover` finds candidates, `configured` puts in what the user says, `probe` settles each of them, and only
then can a `Router` be made. Globs of a context are relative to its root.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from heapq import nsmallest
from typing import Final, Generic, Literal, TypeVar

from codeplane.contexts.members import Listing, literal_glob, matcher, read_listing
from codeplane.core.paths import RepoPath
from codeplane.languages.families import FAMILIES, UNIVERSAL_EXCLUDES, Family

ProbeStatus = Literal["valid", "failed", "empty", "detached"]
Read = Callable[[RepoPath], bytes | None]
Check = Callable[[RepoPath, str], bool]

_MOST_SAMPLES: Final = 5


class Tier(IntEnum):
    """What a candidate stands on."""

    CONFIGURED = 0
    WORKSPACE = 1
    PACKAGE = 2
    AMBIENT = 3


@dataclass(frozen=True)
class _RootOfFamily:
    """A directory of one language family, what it stands on, and which files below it belong to it."""

    family: str
    root_path: RepoPath
    tier: Tier
    markers: tuple[str, ...]
    include_spec: tuple[str, ...]
    exclude_spec: tuple[str, ...]


@dataclass(frozen=True)
class Candidate(_RootOfFamily):
    """A root that may become a context. No two of one discovery share family and root."""

    detached: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Context(_RootOfFamily):
    """A candidate that has been settled."""

    probe_status: ProbeStatus
    reason: str

    @property
    def unit(self) -> str:
        """The name of the context that stays the same as long as family and root do."""
        return f"{self.family}:{self.root_path}"


@dataclass(frozen=True)
class Probed:
    """Every context of a repository, none of them pending."""

    contexts: tuple[Context, ...]


@dataclass(frozen=True)
class _Root:
    """A directory with markers of one family, and what the workspace files among them list."""

    family: Family
    path: RepoPath
    markers: tuple[str, ...]
    tier: Tier
    is_package: bool
    listings: tuple[tuple[str, Listing], ...]
    problems: tuple[str, ...]


def discover(paths: Iterable[RepoPath], read: Read) -> list[Candidate]:
    """Finds the candidates of a tree: markers, workspace fences, ambient families, hole punching."""
    matches = _find_markers(paths)
    roots = {key: _examine_root(*key, names, read) for key, names in matches.items()}
    candidates = [_make_candidate(root, _fenced_out(root, roots)) for root in roots.values()]
    marker_names = {(family, name) for (family, _), names in matches.items() for name in names}
    for family in FAMILIES.values():
        is_wanted = family.ambient and (family.name, family.ambient_unless) not in marker_names
        if is_wanted and (family.name, "") not in roots:
            candidates.append(_new_candidate(family, RepoPath(""), Tier.AMBIENT))
    return _punch_holes(candidates)


def _marker_table() -> Mapping[str, list[str]]:
    table = defaultdict(list)
    for family in FAMILIES.values():
        for marker in dict.fromkeys(family.workspace_markers + family.package_markers):
            table[marker].append(family.name)
    return dict(table)


_MARKERS: Final = _marker_table()


def is_marker(path: RepoPath) -> bool:
    """Whether a file may make a context by its name, or stands in a directory that may."""
    *folders, name = path.split("/")
    return _marker_of(name) in _MARKERS or any(f"{folder}/" in _MARKERS for folder in folders)


def _find_markers(paths: Iterable[RepoPath]) -> dict[tuple[str, RepoPath], list[str]]:
    """The names of markers by family and directory.

    A root in a universally excluded directory could own nothing, so none is made there.
    """
    matches: dict[tuple[str, RepoPath], list[str]] = defaultdict(list)
    pattern = matcher(UNIVERSAL_EXCLUDES)
    for path in _with_directories(paths):
        folder, _, name = path.removesuffix("/").rpartition("/")
        marker = f"{name}/" if path.endswith("/") else _marker_of(name)
        for family in _MARKERS.get(marker, ()):
            if not pattern.fullmatch(path):
                matches[family, RepoPath(folder)].append(name)
    return matches


def _with_directories(paths: Iterable[RepoPath]) -> Iterator[str]:
    """Each file once, and each directory once with `/` at its end."""
    directories = {""}
    for path in paths:
        while path not in directories:
            directories.add(path)
            yield path
            path = RepoPath(path[: path.rstrip("/").rfind("/") + 1])


def _marker_of(name: str) -> str:
    return name if name in _MARKERS else "*" + name[name.rfind(".") :]


def _examine_root(family_name: str, path: RepoPath, names: Sequence[str], read: Read) -> _Root:
    family = FAMILIES[family_name]
    listings, problems, is_workspace = [], [], False
    for name in sorted(names):
        if name in family.authorities:
            listing = read_listing(family.authorities[name], read(_join_path(path, name)))
            if isinstance(listing, Listing):
                listings.append((name, listing))
            problem = listing.problem if listing is not None else ""
            problems += [f"{name}: {problem}"] if problem else []
        elif not {_marker_of(name), f"{name}/"}.isdisjoint(family.workspace_markers):
            is_workspace = True
    return _Root(
        family,
        path,
        markers=tuple(sorted(names)),
        tier=Tier.WORKSPACE if is_workspace or listings else Tier.PACKAGE,
        is_package=any(_marker_of(name) in family.package_markers for name in names),
        listings=tuple(listings),
        problems=tuple(problems),
    )


def _fenced_out(root: _Root, roots: Mapping[tuple[str, RepoPath], _Root]) -> str:
    """Why the workspace in charge of a root leaves it out; `""` when it does not."""
    if root.tier is Tier.WORKSPACE:
        must_be_listed = root.is_package and not root.family.authority_owns_root
        return _unlisted_reason(root, root) if must_be_listed else ""
    for above in _parent_directories(root.path):
        fence = roots.get((root.family.name, above))
        if fence is not None and fence.tier is Tier.WORKSPACE:
            return _unlisted_reason(root, fence)
    return ""


def _unlisted_reason(root: _Root, fence: _Root) -> str:
    relative = _relative_to_root(root.path, fence.path)
    if not fence.listings or any(listing.lists(relative) for _, listing in fence.listings):
        return ""
    return "not listed in " + " or ".join(_join_path(fence.path, name) for name, _ in fence.listings)


def _make_candidate(root: _Root, fenced_out: str) -> Candidate:
    new = _new_candidate(root.family, root.path, root.tier)
    reason = "; ".join([*root.problems, *([fenced_out] if fenced_out else [])])
    return replace(new, markers=root.markers, detached=bool(fenced_out), reason=reason)


def _new_candidate(family: Family, root_path: RepoPath, tier: Tier) -> Candidate:
    return Candidate(family.name, root_path, tier, (), family.include, UNIVERSAL_EXCLUDES)


def _punch_holes(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Every candidate gives up what lies inside another of its family, detached ones included."""
    sorted_candidates = sorted(candidates, key=lambda one: (one.family, one.root_path))
    roots = defaultdict(list)
    for one in sorted_candidates:
        roots[one.family].append(one.root_path)
    return [replace(one, exclude_spec=_with_holes(one, roots[one.family])) for one in sorted_candidates]


def _with_holes(candidate: Candidate, roots: Sequence[RepoPath]) -> tuple[str, ...]:
    """`roots` are sorted, so those inside the candidate's stand together."""
    prefix = f"{candidate.root_path}/" if candidate.root_path else ""
    spec = dict.fromkeys(candidate.exclude_spec)
    for index in range(bisect_left(roots, prefix), len(roots)):
        if not roots[index].startswith(prefix):
            break
        if roots[index] != candidate.root_path:
            spec[literal_glob(roots[index][len(prefix) :]) + "/**"] = None
    return tuple(spec)


def is_inside(path: str, root_path: str) -> bool:
    """Whether a path is a root or lies below it, by whole segments."""
    return root_path in ("", path) or path.startswith(f"{root_path}/")


def _parent_directories(path: str) -> Iterator[RepoPath]:
    """The directories that a path lies in, deepest first, the root of the repository last."""
    while path:
        path = path[: max(path.rfind("/"), 0)]
        yield RepoPath(path)


def _relative_to_root(path: RepoPath, root_path: RepoPath) -> str:
    assert is_inside(path, root_path), f"BUG: {path} is not inside {root_path}"
    return path[len(root_path) :].lstrip("/")


def _join_path(folder: RepoPath, name: str) -> RepoPath:
    return RepoPath(f"{folder}/{name}" if folder else name)


_Claim = TypeVar("_Claim", Candidate, Context)
_Match = Callable[[str, int], object]


class _Claims(Generic[_Claim]):
    """Who claims a path: by root, so that a path asks only the directories that it lies in."""

    def __init__(self, claims: Iterable[_Claim]) -> None:
        # Each claim stands behind the place in a path where its part below the root starts.
        self._at: dict[str, list[tuple[int, str, _Match, _Match, _Claim]]] = {}
        self._chains: dict[str, list[tuple[int, str, _Match, _Match, _Claim]]] = {}
        for claim in claims:
            start = len(claim.root_path) + 1 if claim.root_path else 0
            include, exclude = matcher(claim.include_spec), matcher(claim.exclude_spec)
            at_root = self._at.setdefault(claim.root_path, [])
            at_root.append((start, claim.family, include.fullmatch, exclude.fullmatch, claim))

    def owners(self, path: RepoPath, family: str | None = None) -> Iterator[_Claim]:
        """The deepest claim of each family, or of the one family."""
        folder = path[: path.rfind("/") + 1]
        chain = self._chains.get(folder)
        if chain is None:
            chain = [claim for root in _parent_directories(path) for claim in self._at.get(root, ())]
            self._chains[folder] = chain
        contexts_found = set()
        for start, name, includes, excludes, claim in chain:
            if name in contexts_found or (family is not None and name != family):
                continue
            if includes(path, start) and not excludes(path, start):
                contexts_found.add(name)
                yield claim


def probe(candidates: Iterable[Candidate], paths: Iterable[RepoPath], check: Check) -> Probed:
    """Settles every candidate by a few of the files that would be its own.

    `check` says whether a file is a sound one of the family. It is not asked again after it has agreed.
    """
    sorted_candidates = sorted(candidates, key=lambda one: (one.family, one.root_path))
    claims = _Claims([one for one in sorted_candidates if not one.detached])
    files: dict[tuple[str, str], list[RepoPath]] = defaultdict(list)
    for path in set(paths):
        for one in claims.owners(path):
            files[one.family, one.root_path].append(path)
    return Probed(
        tuple(_settle_candidate(one, files[one.family, one.root_path], check) for one in sorted_candidates)
    )


def _settle_candidate(candidate: Candidate, files: Sequence[RepoPath], check: Check) -> Context:
    status, why = _probe_status(candidate, files, check)
    return Context(
        candidate.family,
        candidate.root_path,
        candidate.tier,
        candidate.markers,
        candidate.include_spec,
        candidate.exclude_spec,
        status,
        "; ".join(part for part in (candidate.reason, why) if part),
    )


def _probe_status(candidate: Candidate, files: Sequence[RepoPath], check: Check) -> tuple[ProbeStatus, str]:
    if candidate.detached:
        return "detached", ""
    samples = nsmallest(_MOST_SAMPLES, files, key=lambda path: (len(path), path))
    if not samples:
        return "empty", "no file of its own"
    if any(check(path, candidate.family) for path in samples):
        return "valid", ""
    return "failed", f"no sampled file is sound: {', '.join(samples)}"


class Router:
    """Answers which context owns a file. Only valid contexts own anything."""

    def __init__(self, probed: Probed) -> None:
        self._claims = _Claims([one for one in probed.contexts if one.probe_status == "valid"])

    def context_for(self, path: RepoPath, family: str) -> Context | None:
        """The one context of a family that owns a file."""
        return next(self._claims.owners(path, family), None)

    def units_of(self, path: RepoPath) -> list[Context]:
        """The contexts that own a file, at most one of each family, by family."""
        return sorted(self._claims.owners(path), key=lambda one: one.family)


@dataclass(frozen=True)
class Detection:
    """How the contexts of one family stand to each other."""

    family: str
    mode: Literal["single", "multi", "ambiguous"]  # ambiguous: the user has to say, in contexts.yaml
    roots: tuple[RepoPath, ...]
    signal: str


def detect(probed: Probed) -> list[Detection]:
    """Classifies each family that has a valid context."""
    valid = defaultdict(list)
    for one in probed.contexts:
        if one.probe_status == "valid":
            valid[one.family].append(one)
    workspaces = {(one.family, one.root_path) for one in probed.contexts if one.tier is Tier.WORKSPACE}
    return [_detect_family(family, contexts, workspaces) for family, contexts in sorted(valid.items())]


def _detect_family(
    family: str, contexts: Sequence[Context], workspaces: set[tuple[str, RepoPath]]
) -> Detection:
    roots = tuple(one.root_path for one in contexts)
    for one in contexts:
        rivals = _rival_markers(one)
        if len(rivals) > 1:
            signal = f"{one.root_path or '.'} has {', '.join(rivals)}"
            return Detection(family, "ambiguous", roots, signal)
    alone = [
        root
        for root in roots
        if not any((family, above) in workspaces for above in _parent_directories(root))
    ]
    signal = f"{len(alone)} roots that no workspace unites" if len(alone) > 1 else ""
    return Detection(family, "multi" if len(roots) > 1 else "single", roots, signal)


def _rival_markers(context: Context) -> list[str]:
    """Workspace files of one kind that claim the same root, unless the user has settled it."""
    if context.tier is Tier.CONFIGURED:
        return []
    marker_names = FAMILIES[context.family].workspace_markers
    return [name for name in context.markers if name not in marker_names and _marker_of(name) in marker_names]


@dataclass(frozen=True)
class Override:
    """What the user says of one context. `added`: it exists because the user says so."""

    family: str
    root_path: RepoPath
    enabled: bool = True
    added: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


def configured(candidates: Iterable[Candidate], overrides: Iterable[Override]) -> list[Candidate]:
    """Switches contexts off, and puts in those that the user adds, also over a detached root."""
    by_key = {(one.family, one.root_path): one for one in candidates}
    for override in overrides:
        key = (override.family, override.root_path)
        if override.added:
            by_key[key] = _added_candidate(override, by_key.get(key))
        if not override.enabled and key in by_key:
            by_key[key] = replace(by_key[key], detached=True, reason="switched off in contexts.yaml")
    return _punch_holes(by_key.values())


def _added_candidate(override: Override, found: Candidate | None) -> Candidate:
    family = FAMILIES[override.family]
    return Candidate(
        family=family.name,
        root_path=override.root_path,
        tier=Tier.CONFIGURED,
        markers=found.markers if found else (),
        include_spec=override.include or family.include,
        exclude_spec=UNIVERSAL_EXCLUDES + override.exclude,
        reason="added in contexts.yaml",
    )
