from typing import Annotated

from pydantic import Field

from codeplane.core.proof import Absence
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.search.listing import MOST_DEPTH, Wish
from codeplane.search.listing import list_files as listed
from codeplane.search.missing import directory
from codeplane.search.scope import Globs
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST = 1000


class ListFilesInput(Input):
    path: Annotated[str, synonyms("directory", "dir", "folder")] = Field(
        default=".", min_length=1, max_length=4000, description="Directory."
    )
    depth: int = Field(default=1, description="Levels of directories to enter.")
    pattern: Annotated[str | None, synonyms("glob", "include", "query")] = Field(
        default=None, max_length=500, description="Glob, such as `*.py` or `src/**/*.{ts,tsx}`; any depth."
    )
    limit: int = Field(default=200, description="Most entries, up to 1000.")


class ListFilesOutput(Output):
    files: int = Field(description="Files below the directory, or those that match.")
    tree: dict[str, list[str]] = Field(
        description="Directory and what is in it; `name/ (n)` has n files below it."
    )
    left: int | None = Field(default=None, description="Entries beyond the limit.")
    absence: Absence | None = Field(default=None, description="Why there are none.")


@tool(Effect.READ, "files", standard=True)
def list_files(call: Call, args: ListFilesInput) -> ListFilesOutput:
    """Lists the indexed files of a directory, or those that match a glob.

    Use when:
    - you look for a file by its name, or want to know what a directory holds
    Not for:
    - an overview of the repository (map_repo)
    - what is inside files (search)
    Examples:
    - The top directory: {}
    - All test modules: {"pattern": "test_*.py"}
    - Two levels of a directory: {"path": "src", "depth": 2}
    """
    with call.snapshot() as snapshot:
        return _list(call, args, snapshot)


def _list(call: Call, args: ListFilesInput, snapshot: Snapshot) -> ListFilesOutput:
    path = directory(snapshot, call.repo.tree, args.path)
    depth = clamped(call, "depth", args.depth, MOST_DEPTH)
    globs = Globs([args.pattern]) if args.pattern else None
    wish = Wish(path, depth, clamped(call, "limit", args.limit, _MOST), globs)
    found = listed(snapshot, wish, call.repo.tree.links())
    absence = None
    if not found.files:
        absence = Absence.NOT_INDEXED if snapshot.coverage.hidden else Absence.PROVEN_NONE
    return ListFilesOutput(
        files=found.files,
        tree={shown(key): [shown(name) for name in names] for key, names in found.tree.items()},
        left=found.left or None,
        absence=absence,
    )
