from typing import Annotated

from pydantic import Field

from codeplane.search.repomap import SECTIONS, Section
from codeplane.search.repomap import map_repo as mapped
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST_DEPTH = 10


class MapRepoInput(Input):
    include: Annotated[list[Section], synonyms("sections", "section")] = Field(
        default=[], description="Sections; all when empty."
    )
    depth: int = Field(default=2, description="Levels of directories, up to 10.")


class MapRepoOutput(Output):
    structure: list[str] | None = Field(default=None, description="Directories, with all that is below them.")
    contexts: list[str] | None = Field(default=None, description="Build contexts: language family and root.")
    languages: list[str] | None = Field(default=None, description="Files and lines by language.")
    entry_points: list[str] | None = Field(
        default=None, description="Where programs begin, with what says so."
    )
    dependencies: dict[str, list[str]] | None = Field(
        default=None,
        description="Packages by manifest, and `imported`: modules that are not in the repository.",
    )
    test_layout: list[str] | None = Field(default=None, description="Directories with tests.")
    public_api: dict[str, list[str]] | None = Field(
        default=None, description="Exported names by file and evidence; `?` where not certain."
    )
    left: dict[str, int] | None = Field(default=None, description="Items of sections that are not listed.")


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
    sections = frozenset(args.include or SECTIONS)
    depth = clamped(call, "depth", args.depth, _MOST_DEPTH)
    made = call.ask(lambda snapshot: mapped(snapshot, sections, depth, call.check))
    fields = {name: value for name, value in vars(made).items() if value is not None}
    return MapRepoOutput(**{**fields, "left": made.left or None})
