from typing import Annotated

from pydantic import Field

from codeplane.index import Snapshot
from codeplane.search.repomap import SECTIONS, RepoMap, Section, page
from codeplane.search.repomap import map_repo as mapped
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST_DEPTH = 10
_HEADED = ("dependencies", "public_api")


class MapRepoInput(Input):
    include: Annotated[list[Section], synonyms("sections", "section")] = Field(
        default=[], description="Sections; all when empty."
    )
    depth: int = Field(default=2, description="Levels of directories, up to 10.")
    cursor: str | None = Field(default=None, description="`next_cursor`, for the rest of what is `left`.")


class MapRepoOutput(Output):
    structure: list[str] | None = Field(default=None, description="Directories, with all that is below them.")
    contexts: list[str] | None = Field(default=None, description="Build contexts: language family and root.")
    languages: list[str] | None = Field(default=None, description="Files and lines by language.")
    entry_points: list[str] | None = Field(
        default=None, description="Where programs begin, with what says so."
    )
    dependencies: dict[str, list[str]] | None = Field(
        default=None,
        description="Packages by manifest; imported modules by party, with how often.",
    )
    test_layout: list[str] | None = Field(default=None, description="Directories with tests.")
    public_api: dict[str, list[str]] | None = Field(
        default=None, description="Exported names by file and evidence; `?` where not certain."
    )
    left: dict[str, int] | None = Field(
        default=None, description="Lines of sections that are not listed; of `public_api`, files."
    )
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for more of them.")


@tool(Effect.READ, "search", standard=True)
def map_repo(call: Call, args: MapRepoInput) -> MapRepoOutput:
    """Draws the map of the repository: structure, languages, entry points, dependencies, tests, public names.

    Use when:
    - you are new to the repository, or look for the part that does something
    Not for:
    - the files of one directory (list_files)
    Examples:
    - Everything: {}
    - Where programs begin and what they need: {"include": ["entry_points", "dependencies"]}
    """
    depth = clamped(call, "depth", args.depth, _MOST_DEPTH)
    return call.ask(lambda snapshot: _mapped(call, args, snapshot, depth))


def _mapped(call: Call, args: MapRepoInput, snapshot: Snapshot, depth: int) -> MapRepoOutput:
    if args.cursor is not None:
        made = call.session.cursors.resume(args.cursor, RepoMap)
    else:
        made = mapped(snapshot, frozenset(args.include or SECTIONS), depth, call.check)
    told = page(snapshot, made)
    parts = {part: told.parts[part] for part in told.parts if part in _HEADED}
    lists = {part: lines.get("", []) for part, lines in told.parts.items() if part not in _HEADED}
    return MapRepoOutput.model_validate(
        {
            **parts,
            **lists,
            "left": told.left or None,
            "next_cursor": call.session.cursors.keep(told.rest) if told.rest else None,
        }
    )
