"""The map of a repository: directories, languages, programs, dependencies, tests and what is public."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from codeplane.index import Purpose, Snapshot
from codeplane.index.overview import FileSize
from codeplane.jail import shown
from codeplane.search.entries import entry_points
from codeplane.search.manifests import needs

Section = Literal["structure", "languages", "entry_points", "dependencies", "test_layout", "public_api"]
SECTIONS: Final[tuple[Section, ...]] = (
    "structure", "languages", "entry_points", "dependencies", "test_layout", "public_api",
)  # fmt: skip
_MOST_DIRECTORIES: Final = 60
_MOST_ITEMS: Final = 40
_MOST_NAMES: Final = 150
_EXAMPLES: Final = 3
_TOP: Final = re.compile(r"@[^/]+/[^/]+|<?[^./:\\\\]+")


@dataclass
class RepoMap:
    """Each section that was asked for; `left` says how many items of a section had no place."""

    structure: list[str] | None = None
    contexts: list[str] | None = None
    languages: list[str] | None = None
    entry_points: list[str] | None = None
    dependencies: dict[str, list[str]] | None = None
    test_layout: list[str] | None = None
    public_api: dict[str, list[str]] | None = None
    left: dict[str, int] = field(default_factory=dict)


def map_repo(
    snapshot: Snapshot, sections: frozenset[Section], depth: int, check: Callable[[], None]
) -> RepoMap:
    """The sections, from the index alone."""
    made = RepoMap()
    files = snapshot.overview.files() if sections & {"structure", "languages"} else []
    if "structure" in sections:
        made.structure = _structure(files, depth, made)
        made.contexts = [
            _context(one.unit) for one in snapshot.units.probed.contexts if one.probe_status == "valid"
        ]
        made.contexts = _cut("contexts", made.contexts, made)
    if "languages" in sections:
        made.languages = _languages(files)
    check()
    if "entry_points" in sections:
        told = [f"{one.name}: {one.at}  [{one.evidence}]" for one in entry_points(snapshot)]
        made.entry_points = _cut("entry_points", told, made)
    check()
    if "dependencies" in sections:
        made.dependencies = _dependencies(snapshot, made)
    if "test_layout" in sections:
        made.test_layout = _tests(snapshot, made)
    if "public_api" in sections:
        made.public_api = _public(snapshot, made)
    return made


def _structure(files: list[FileSize], depth: int, made: RepoMap) -> list[str]:
    """Directories with what is below them. Of too many, the deeper and smaller ones are left out."""
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for file in files:
        parts = file.path.split("/")[:-1][:depth]
        for at in range(len(parts) + 1):
            directory = "/".join(parts[:at])
            counts[directory] += 1
            lines[directory] += file.lines
    ranked = sorted(counts, key=lambda one: (one.count("/") if one else -1, -counts[one], one))
    kept = set(ranked[:_MOST_DIRECTORIES])
    if len(ranked) > len(kept):
        made.left["structure"] = len(ranked) - len(kept)
    told = []
    for directory in sorted(kept):
        level = directory.count("/") + 1 if directory else 0
        name = f"{directory.rsplit('/', 1)[-1]}/" if directory else "./"
        told.append(f"{'  ' * level}{shown(name)} {counts[directory]} files, {lines[directory]} lines")
    return told


def _context(unit: str) -> str:
    family, _, root = unit.partition(":")
    return f"{family}: {shown(root) or '.'}"


def _languages(files: list[FileSize]) -> list[str]:
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for file in files:
        counts[file.language] += 1
        lines[file.language] += file.lines
    return [
        f"{name or 'other'}: {count} files, {lines[name]} lines, {100 * count / len(files):.1f}%"
        for name, count in counts.most_common()
    ]


def _dependencies(snapshot: Snapshot, made: RepoMap) -> dict[str, list[str]]:
    """What manifests ask for, and the modules that are imported and are not in the repository."""
    told = {shown(one.manifest): list(one.packages[:_MOST_ITEMS]) for one in needs(snapshot)}
    outside = _outside(snapshot)
    told["imported"] = _cut("dependencies", [f"{name} ×{count}" for name, count in outside], made)
    return {key: names for key, names in told.items() if names}


def _outside(snapshot: Snapshot) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    inside: set[str] = set()
    tried: Counter[str] = Counter()
    for one in snapshot.overview.imports():
        match = _TOP.match(one.module)
        if match is None:
            continue
        top = match[0].removeprefix("<")
        counts[top] += one.times
        if top not in inside and tried[top] < _EXAMPLES:
            tried[top] += 1
            if snapshot.linker.named_module(one.path, one.module, one.kind):
                inside.add(top)
    return [(top, count) for top, count in counts.most_common() if top not in inside]


def _tests(snapshot: Snapshot, made: RepoMap) -> list[str]:
    """Directories with tests: how many files and test functions."""
    files: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    known = snapshot.linker.sources.tests()
    for path, count in snapshot.overview.tests():
        if path not in known:
            continue
        directory = path.rpartition("/")[0]
        files[directory] += 1
        tests[directory] += count
    if len(files) > _MOST_ITEMS:
        files, tests = _outer(files), _outer(tests)
    told = [f"{shown(one) or '.'}/ {count} files, {tests[one]} tests" for one, count in files.most_common()]
    return _cut("test_layout", told, made)


def _outer(counts: Counter[str]) -> Counter[str]:
    """The same by the first two directories of each path."""
    folded: Counter[str] = Counter()
    for path, count in counts.items():
        folded["/".join(path.split("/")[:2])] += count
    return folded


def _public(snapshot: Snapshot, made: RepoMap) -> dict[str, list[str]]:
    """What files say that they export; where none does, what the outermost ones show."""
    overview = snapshot.overview
    for deliberate in (True, False):
        paths = overview.exporting(deliberate=deliberate)
        if paths := [path for path in paths if snapshot.purpose(path) is Purpose.SOURCE]:
            break
    told: defaultdict[str, list[str]] = defaultdict(list)
    room = _MOST_NAMES
    for at, path in enumerate(paths):
        names = overview.exports(path, deliberate=deliberate)
        if not room:
            made.left["public_api"] = len(paths) - at
            break
        for one in names[:room]:
            told[f"{shown(path)} [{one.evidence}]"].append(shown(one.name) + ("" if one.certain else "?"))
        room -= len(names[:room])
    return dict(told)


def _cut(section: str, items: list[str], made: RepoMap) -> list[str]:
    if len(items) > _MOST_ITEMS:
        made.left[section] = len(items) - _MOST_ITEMS
    return items[:_MOST_ITEMS]
