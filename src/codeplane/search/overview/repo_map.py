"""The map of a repository: directories, languages, programs, dependencies, tests and what is public."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from codeplane.core.paths import RepoPath
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.languages import language_of
from codeplane.names import FileSize, Snapshot
from codeplane.search.overview.dependencies import dependencies, required
from codeplane.search.overview.entry_points import entry_points

Section = Literal["structure", "languages", "entry_points", "dependencies", "test_layout", "public_api"]
SECTIONS: Final[tuple[Section, ...]] = (
    "structure", "languages", "entry_points", "dependencies", "test_layout", "public_api",
)  # fmt: skip
_MOST_DIRECTORIES: Final = 60
_MOST_ITEMS: Final = 40
_MOST_BRIEF: Final = {"entry_points": 6, "test_layout": 4, "dependencies": 25}
_MOST_NAMES: Final = 150
_MOST_NAMES_BRIEF: Final = 24
_MOST_TEST_DIRECTORIES: Final = 20
_MOST_UNDER: Final = {"standard_library": 15}  # everybody knows it
# Files of build tools and linters in the outermost directory: what they define is for those alone.
_OF_TOOLS: Final = re.compile(r"(?:setup|noxfile|tasks|fabfile|hatch_build|gulpfile|[\w.-]+\.config)\.\w+")

Line = tuple[str, str]
"""What a line stands under, and the line."""


@dataclass
class RepoMap:
    """The lines of each part, all of them; `exporting` are the files whose names are public."""

    lines: dict[str, Sequence[Line]] = field(default_factory=dict)
    exporting: Sequence[RepoPath] = ()
    skipped: int = 0  # names of the first of these files that have been told
    deliberate: bool = True
    is_brief: bool = False  # whether it was drawn without saying which sections


@dataclass
class MapPage:
    """A page of a map that fits one answer: part → heading → lines, how much is left, and where to go on."""

    parts: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    rest: RepoMap | None = None


def map_repo(
    snapshot: Snapshot, sections: frozenset[Section], depth: int, check: Callable[[], None]
) -> RepoMap:
    """The sections, from the index alone; without any, a brief map of all of them."""
    repo_map = RepoMap(is_brief=not sections)
    sections = sections or frozenset(SECTIONS)
    files = _files(snapshot) if sections & {"structure", "languages"} else []
    if "structure" in sections:
        repo_map.lines["structure"] = [("", line) for line in _render_structure(files, depth)]
        valid = [one.unit for one in snapshot.units.probed.contexts if one.probe_status == "valid"]
        repo_map.lines["contexts"] = [("", _render_context(unit)) for unit in valid]
    if "languages" in sections:
        repo_map.lines["languages"] = [("", line) for line in _render_languages(files)]
    check()
    if "entry_points" in sections:
        entries = entry_points(snapshot)
        repo_map.lines["entry_points"] = [("", f"{one.name}: {one.at}  [{one.evidence}]") for one in entries]
    check()
    if "dependencies" in sections:
        repo_map.lines["dependencies"] = required(snapshot) if repo_map.is_brief else dependencies(snapshot)
    if "test_layout" in sections:
        repo_map.lines["test_layout"] = [("", line) for line in _render_tests(snapshot)]
    if "public_api" in sections:
        repo_map.exporting, repo_map.deliberate = _exporting(snapshot)
    return repo_map


def page(snapshot: Snapshot, repo_map: RepoMap) -> MapPage:
    """The next lines of every part."""
    map_page, rest = MapPage(), RepoMap(deliberate=repo_map.deliberate)
    for part, lines in repo_map.lines.items():
        most = _MOST_DIRECTORIES if part == "structure" else _MOST_ITEMS
        most = _MOST_BRIEF.get(part, most) if repo_map.is_brief else most
        headings: dict[str, list[str]] = {}
        left: list[Line] = []
        for under, line in lines:
            below = headings.setdefault(under, [])
            if under and not line:
                continue  # a heading with nothing below it
            if len(below) < _MOST_UNDER.get(under, most):
                below.append(line)
            else:
                left.append((under, line))
        map_page.parts[part] = headings
        if left:
            rest.lines[part], map_page.left[part] = left, len(left)
    if repo_map.exporting:
        map_page.parts["public_api"] = _public(snapshot, repo_map, rest)
        if rest.exporting:
            map_page.left["public_api"] = len(rest.exporting)
    if rest.lines or rest.exporting:
        map_page.rest = rest
    return map_page


def _files(snapshot: Snapshot) -> list[FileSize]:
    """Every file; while some are unread, languages are told by names and no lines are counted."""
    files = snapshot.overview.files()
    if not snapshot.coverage.unread:
        return files
    return [FileSize(one.path, language_of(one.path.rsplit("/", 1)[-1], b"") or "", 0) for one in files]


def _render_structure(files: list[FileSize], depth: int) -> list[str]:
    """Directories with what is below them, as a tree. Of too many, deeper and smaller ones follow by path."""
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for file in files:
        parts = file.path.split("/")[:-1][:depth]
        for at in range(len(parts) + 1):
            directory = "/".join(parts[:at])
            counts[directory] += 1
            lines[directory] += file.lines

    def size(directory: str) -> str:
        said = f", {lines[directory]} lines" if lines[directory] else ""
        return f"{counts[directory]} files{said}"

    directories = sorted(counts, key=lambda one: (one.count("/") if one else -1, -counts[one], one))
    rows = []
    for directory in sorted(directories[:_MOST_DIRECTORIES]):
        level = directory.count("/") + 1 if directory else 0
        name = f"{directory.rsplit('/', 1)[-1]}/" if directory else "./"
        rows.append(f"{'  ' * level}{shown(name)} {size(directory)}")
    return rows + [
        f"{shown(directory)}/ {size(directory)}" for directory in sorted(directories[_MOST_DIRECTORIES:])
    ]


def _render_context(unit: str) -> str:
    family, _, root = unit.partition(":")
    return f"{family}: {shown(root) or '.'}"


def _render_languages(files: list[FileSize]) -> list[str]:
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for file in files:
        counts[file.language] += 1
        lines[file.language] += file.lines
    return [
        f"{name or 'other'}: {count} files,{f' {lines[name]} lines,' if lines[name] else ''}"
        f" {100 * count / len(files):.1f}%"
        for name, count in counts.most_common()
    ]


def _render_tests(snapshot: Snapshot) -> list[str]:
    """Directories with tests: how many files and test functions. Of too many, those around them."""
    test_files = snapshot.tests()
    counts = {path: count for path, count in snapshot.overview.tests() if path in test_files}
    holding = {path: path.split("/")[:-1] for path in counts}
    deepest = max(map(len, holding.values()), default=0)
    for depth in range(deepest, -1, -1):
        outer = {path: "/".join(parts[:depth]) for path, parts in holding.items()}
        if len(set(outer.values())) <= _MOST_TEST_DIRECTORIES:
            break
    files, tests = Counter(outer.values()), Counter[str]()
    inner: dict[str, set[str]] = {}
    for path, directory in outer.items():
        tests[directory] += counts[path]
        inner.setdefault(directory, set()).add("/".join(holding[path]))
    return [
        f"{shown(one) or '.'}/ {count} files, {tests[one]} tests"
        + (f" in {len(inner[one])} directories" if len(inner[one]) > 1 else "")
        for one, count in files.most_common()
    ]


def _exporting(snapshot: Snapshot) -> tuple[list[RepoPath], bool]:
    """The source files that say what they export; where none does, those that show something."""
    purpose = snapshot.purposes.by_place
    for deliberate in (True, False):
        paths = snapshot.overview.exporting(deliberate=deliberate)
        sources = [
            path for path in paths if purpose(path) is Purpose.SOURCE and not _OF_TOOLS.fullmatch(path)
        ]
        if sources:
            return sources, deliberate
    return [], True


def _public(snapshot: Snapshot, repo_map: RepoMap, rest: RepoMap) -> dict[str, list[str]]:
    """The next names by the file that exports them, with what says so; `rest` gets the files after these."""
    names_by_file: dict[str, list[str]] = {}
    room, offset = _MOST_NAMES_BRIEF if repo_map.is_brief else _MOST_NAMES, repo_map.skipped
    for at, path in enumerate(repo_map.exporting):
        # A file that has the name of its directory, not its own, stands for what is in there.
        stem = path.rsplit("/", 1)[-1].partition(".")[0]
        is_face = not snapshot.module_name(path).endswith(stem)
        names = snapshot.overview.exports(path, deliberate=repo_map.deliberate, passes_on=is_face)[offset:]
        for one in names[:room]:
            below = names_by_file.setdefault(f"{shown(path)} [{one.evidence}]", [])
            below.append(shown(one.name) + ("" if one.certain else "?"))
        if len(names) > room:
            rest.exporting, rest.skipped = repo_map.exporting[at:], offset + room
            break
        room, offset = room - len(names), 0
    return names_by_file
