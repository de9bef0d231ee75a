from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import offer
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.overview.orientation import (
    documents,
    main_modules,
    often_imported,
    said_commands,
    summary,
)
from codeplane.search.overview.repo_map import RepoMap, Section, page
from codeplane.search.overview.repo_map import map_repo as mapped
from codeplane.session import Call
from codeplane.session.test_selection import discovered
from codeplane.testrun.runner import HIGH
from codeplane.testrun.usual import USUAL
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST_DEPTH = 10
_MOST_PROJECTS = 2
_LANGUAGES = 4
_MOST_INLINE = 10
_MOST_LINKED = 1500  # files of which all imports are followed
_INLINE = 2  # the level of directories from which on they stand behind those around them
_HEADED = ("dependencies", "public_api")


class MapRepoInput(Input):
    include: Annotated[list[Section], synonyms("sections", "section")] = Field(
        default=[], description="Sections; all when empty."
    )
    depth: int = Field(default=2, description="Levels of directories, up to 10.", json_schema_extra=UNLISTED)
    cursor: str | None = Field(
        default=None, description="`next_cursor`, for the rest of what is `left`.", json_schema_extra=UNLISTED
    )


class MapRepoOutput(Output):
    about: str | None = Field(default=None, description="Name and purpose, from the manifest.")
    read_first: list[str] | None = Field(
        default=None,
        description="Introductory documents, then the most imported source files.",
    )
    run_tests: list[str] | None = Field(
        default=None, description="Runner, directory and command; then commands of the repository itself."
    )
    structure: list[str] | None = Field(default=None, description="Directories, with everything below them.")
    contexts: list[str] | None = Field(default=None, description="Build contexts: language family and root.")
    languages: list[str] | None = Field(default=None, description="Files and lines by language.")
    entry_points: list[str] | None = Field(default=None, description="Entry points, with the evidence.")
    dependencies: dict[str, list[str]] | None = Field(
        default=None,
        description="Packages by manifest (none: none needed to run); imported modules by party, counted.",
    )
    test_layout: list[str] | None = Field(default=None, description="Directories with tests.")
    public_api: dict[str, list[str]] | None = Field(
        default=None, description="Exported names by file and evidence; `?` if uncertain."
    )
    left: dict[str, int] | None = Field(
        default=None, description="Lines left out of each section; for `public_api`, files."
    )
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for more.")

    def render(self) -> str:
        return map_text(self)


@tool(Effect.READ, "search", standard=True)
def map_repo(call: Call, args: MapRepoInput) -> MapRepoOutput:
    """Maps the repository: what to read first, structure, entry points, how to run its tests.

    Use when:
    - you are new to the repository, or look for the part that does something
    Not for:
    - the files of one directory (list_files)
    Examples:
    - Everything: {}
    - Entry points and dependencies: {"include": ["entry_points", "dependencies"]}
    """
    depth = clamped(call, "depth", args.depth, _MOST_DEPTH)
    return call.ask(lambda snapshot: _mapped(call, args, snapshot, depth))


def _mapped(call: Call, args: MapRepoInput, snapshot: Snapshot, depth: int) -> MapRepoOutput:
    if args.cursor is not None:
        repo_map = call.session.cursors.resume(args.cursor, RepoMap)
    else:
        repo_map = mapped(snapshot, frozenset(args.include), depth, call.check)
    call.warn(snapshot.coverage.why_hidden)
    map_page = page(snapshot, repo_map)
    is_whole = args.cursor is None and not args.include
    is_tested = args.cursor is None and (is_whole or "test_layout" in args.include)
    cursor = call.session.cursors.keep(map_page.rest) if map_page.rest else None
    if cursor is not None:
        call.next_actions.append(offer("map_repo", cursor=cursor))
    parts = {part: map_page.parts[part] for part in map_page.parts if part in _HEADED}
    lists = {part: lines.get("", []) for part, lines in map_page.parts.items() if part not in _HEADED}
    return MapRepoOutput.model_validate(
        {
            **parts,
            **lists,
            "about": summary(snapshot) or None if is_whole else None,
            "read_first": _read_first(snapshot) or None if is_whole else None,
            "run_tests": _run_tests(call, snapshot) or None if is_tested else None,
            "left": map_page.left or None,
            "next_cursor": cursor,
        }
    )


def _read_first(snapshot: Snapshot) -> list[str]:
    if len(snapshot.layout.ordered) > _MOST_LINKED or snapshot.coverage.unread:
        return [*documents(snapshot), *often_imported(snapshot)]
    return [*documents(snapshot), *main_modules(snapshot, links_of(snapshot).importers)]


def _run_tests(call: Call, snapshot: Snapshot) -> list[str]:
    """The outermost projects with their runners, then the repository's own commands.

    Where it has commands of its own, a runner that only file names suggest is named once, for the outermost.
    """
    own = list(said_commands(snapshot))
    projects = sorted(
        discovered(call, snapshot).projects, key=lambda one: len(one.root.split("/")) if one.root else 0
    )
    settled_projects = [one for one in projects if not own or one.rank <= HIGH]
    commands = []
    for one in (settled_projects or projects[:1])[:_MOST_PROJECTS]:
        place = f"cd {shown(one.root)} && " if one.root else ""
        commands.append(f"{place}{USUAL.get(one.runner, one.runner)} ({one.evidence})")
    return [*commands, *own]


def map_text(output: MapRepoOutput) -> str:
    """The map on one screen: each part under its name, what is short on one line."""
    lines = [output.about] if output.about else []
    language_lines = [one for one in output.languages or () if not one.startswith("other:")]
    lines += _line("languages", [one.rpartition(", ")[0] for one in language_lines[:_LANGUAGES]])
    lines += _line("read first", output.read_first)
    lines += _line("run tests", output.run_tests)
    lines += _structure_lines(output.structure or [])
    lines += ["entry points:", *(f"  {one}" for one in output.entry_points)] if output.entry_points else []
    lines += _line("tests", output.test_layout)
    for manifest, packages in (output.dependencies or {}).items():
        lines += _line(f"needs ({manifest})", packages or ["nothing at run time"])
    for place, names in (output.public_api or {}).items():
        lines += _line(f"exports of {place.partition(' [')[0]}", names)
    lines += _line("left out", [f"{part} {count}" for part, count in (output.left or {}).items()])
    return "\n".join(lines)


def _line(title: str, items: Sequence[str] | None) -> list[str]:
    between = "; " if any(", " in one or " " in one for one in items or ()) else ", "
    return [f"{title}: {between.join(items)}"] if items else []


def _structure_lines(structure: list[str]) -> list[str]:
    """A line for each directory of the top; those inside it behind it, with their number of files."""
    lines: list[str] = []
    inner: list[str] = []
    for one in [*structure, "./"]:
        level = (len(one) - len(one.lstrip())) // 2
        name, _, size = one.strip().partition(" ")
        if level >= _INLINE:
            inner += [f"{name} {size.split(' ')[0]}"] if level == _INLINE else []
            continue
        if inner:
            more = f", {len(inner) - _MOST_INLINE} more" if len(inner) > _MOST_INLINE else ""
            lines[-1] += f": {', '.join(inner[:_MOST_INLINE])}{more}"
            inner = []
        lines += [one] if not name.endswith(".egg-info/") else []
    return lines[:-1]
