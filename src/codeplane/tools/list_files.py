from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import offer
from codeplane.core.globs import Globs
from codeplane.core.proof import Absence
from codeplane.jail import shown
from codeplane.search.listing import MOST_DEPTH, Listed, Wish
from codeplane.search.listing import list_files as listed
from codeplane.search.missing_file import directory
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST = 1000


class ListFilesInput(Input):
    path: Annotated[str, synonyms("directory", "dir", "folder")] = Field(
        default=".", min_length=1, max_length=4000, description="Directory."
    )
    depth: int = Field(default=1, description="Levels of directories to enter.")
    pattern: Annotated[str | None, synonyms("glob", "include", "query")] = Field(
        default=None, max_length=500, description="Glob, such as `*.py` or `src/**/*.{ts,tsx}`; any depth."
    )
    limit: int = Field(default=200, description="Most entries, up to 1000.", json_schema_extra=UNLISTED)
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")


class ListFilesOutput(Output):
    files: int = Field(description="Files below the directory, or those that match.")
    tree: dict[str, list[str]] = Field(
        description="Directory and what is in it; `name/ (n)` has n files below it."
    )
    left: int | None = Field(default=None, description="Entries beyond the limit.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for more.")
    absence: Absence | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        if not self.tree:
            return f"No files ({self.absence})." if self.absence else "No more files."
        parts = [_directory(path, names) for path, names in self.tree.items()]
        return "\n".join([*parts, *([f"{self.left} more of {self.files} files"] if self.left else [])])


def _directory(path: str, names: list[str]) -> str:
    """A directory as `ls` lists it; one name a line where a name has a space."""
    lines = [name.replace("/ (", "/(") for name in names]
    between = "\n" if any(" " in name for name in lines) else " "
    return f"{path.rstrip('/')}/\n{between.join(lines)}"


@tool(Effect.READ, "files", standard=True)
def list_files(call: Call, args: ListFilesInput) -> ListFilesOutput:
    """Lists the indexed files of a directory, or those that match a glob.

    Not for:
    - an overview of the repository (map_repo)
    - what is inside files (search)
    Examples:
    - The top directory: {}
    - All test modules: {"pattern": "test_*.py"}
    - Two levels of a directory: {"path": "src", "depth": 2}
    """
    limit = clamped(call, "limit", args.limit, _MOST)
    if args.cursor is not None:
        return _page(call, call.session.cursors.resume(args.cursor, Listed), limit)
    with call.snapshot() as snapshot:
        path = directory(snapshot, snapshot.paths, args.path)
        depth = clamped(call, "depth", args.depth, MOST_DEPTH)
        globs = Globs([args.pattern]) if args.pattern else None
        result = listed(snapshot, Wish(path, depth, globs), snapshot.paths.links())
        absence = Absence.NOT_INDEXED if snapshot.coverage.hidden else Absence.PROVEN_NONE
        call.warn(snapshot.paths.why_hidden(path))
    return _page(call, result, limit, None if result.entries else absence)


def _page(call: Call, listing: Listed, limit: int, absence: Absence | None = None) -> ListFilesOutput:
    tree, rest = listing.page(limit)
    cursor = call.session.cursors.keep(rest) if rest else None
    if cursor is not None:
        call.next_actions.append(offer("list_files", cursor=cursor))
    return ListFilesOutput(
        files=listing.files,
        tree={shown(key): [shown(name) for name in names] for key, names in tree.items()},
        left=len(rest.entries) if rest else None,
        next_cursor=cursor,
        absence=absence,
    )
