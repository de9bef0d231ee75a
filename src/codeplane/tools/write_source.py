from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BeforeValidator, Field

from codeplane.answers.change import Delta, told
from codeplane.answers.checks import checks_told
from codeplane.core.errors import InvalidArgument, NotFound, PathRefused
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.mutation.placement.locate import SpanEdit
from codeplane.mutation.placement.requests import Action, Asked, Planner
from codeplane.names import Snapshot
from codeplane.search.read_targets import Finder, Wanted
from codeplane.session import Call
from codeplane.session.operation.edits import Intent, write
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED
from codeplane.verify import Check

MOST_EDITS = 200
_UPDATES = frozenset(("replace", "edit", "modify", "change"))
_BY_SYMBOL = (Action.REPLACE_SYMBOL, Action.INSERT_BEFORE, Action.INSERT_AFTER)


def _as_update(action: object) -> object:
    """Other programs' words for an update; with a symbol, that replaces it."""
    return Action.UPDATE if isinstance(action, str) and action in _UPDATES else action


class SourceEdit(Input):
    path: str | None = Field(
        default=None, max_length=4000, description="File; may be left out with `symbol`."
    )
    action: Annotated[Action, BeforeValidator(_as_update)] = Field(
        default=Action.UPDATE, description="What to do."
    )
    new_content: Annotated[
        str | None,
        synonyms(
            "new_string", "new_str", "new_text", "new", "replacement", "replace", "file_text", "text", "code"
        ),
    ] = Field(default=None, description="New text; empty deletes.")
    expected_content: Annotated[
        str | None,
        synonyms("old_string", "old_str", "old_text", "old_content", "old", "find", "search", "original"),
    ] = Field(default=None, description="Current text to replace; it also locates the edit.")
    start_line: int | None = Field(default=None, ge=1, description="First line that is replaced.")
    end_line: int | None = Field(
        default=None, ge=0, description="Last one; start_line - 1 inserts before start_line."
    )
    expected_file_sha256: Annotated[
        str | None, synonyms("sha256", "file_sha256", "expected_sha256", "hash")
    ] = Field(
        default=None,
        pattern=r"^[0-9a-fA-F]{64}$",
        description="Digest of the file that the lines refer to.",
        json_schema_extra=UNLISTED,
    )
    symbol: str | None = Field(
        default=None, max_length=4000, description="Definition; with a text, the one around it."
    )
    to: Annotated[str | None, synonyms("new_path", "destination", "target_path")] = Field(
        default=None, max_length=4000, description="New path of a moved file."
    )
    all: Annotated[bool, synonyms("replace_all")] = Field(
        default=False, description="Replace every occurrence of expected_content."
    )


class WriteSourceInput(Input):
    edits: Annotated[list[SourceEdit], synonyms("changes", "operations")] = Field(
        min_length=1, max_length=MOST_EDITS, description="Applied together or not at all."
    )
    dry_run: Annotated[bool, synonyms("preview")] = Field(default=False, description="Only show the diff.")
    verify: list[Check] | None = Field(
        default=None, max_length=3, description="With dry_run: checks to run.", json_schema_extra=UNLISTED
    )
    allow_ignored: bool = Field(
        default=False, description="Confirms edits of files that git ignores.", json_schema_extra=UNLISTED
    )


@tool(Effect.WRITE, "edits", standard=True)
def write_source(call: Call, args: WriteSourceInput) -> Delta:
    """Edits files: all edits of a call or none, each only where its place is unambiguous.

    Name the place by expected_content (best), lines or symbol; line numbers are those before the call. Small
    slips are corrected. The answer begins with what the edit broke.

    Examples:
    - By text: {"edits": [{"path": "app.py", "expected_content": "tries = 3", "new_content": "tries = 5"}]}
    - By symbol: {"edits": [{"action": "replace_symbol", "symbol": "Job.run", "new_content": "def run(self):
      ..."}]}
    """
    if args.verify and not args.dry_run:
        raise InvalidArgument("`verify` needs a preview.", hints=["Send dry_run: true as well."])
    result = write(
        call,
        lambda: call.ask(lambda snapshot: _make_intent(call, args.edits, snapshot)),
        ignored_ok=args.allow_ignored,
        dry_run=args.dry_run,
    )
    answer = told(call, result)
    if args.verify:
        # What runs tests and linters is loaded by the first call that tries something out.
        from codeplane.session.checks import verified

        verification = verified(call, result.intent.change, args.verify)
        answer = answer.model_copy(update={"verified": checks_told(verification)})
    return answer


def _make_intent(call: Call, edits: Sequence[SourceEdit], snapshot: Snapshot) -> Intent:
    finder = Finder(snapshot, call.repo.tree)
    requests = [_asked(call, one, finder) for one in edits]
    actions = {one.path: one.action for one in requests if one.action is not Action.CREATE}

    def read(path: RepoPath) -> bytes:
        try:
            return call.repo.tree.read(path)
        except NotFound as error:
            if path not in actions:
                raise
            new = ["To create it: action create."] if actions[path] is Action.UPDATE else []
            raise NotFound(error.message, hints=[*finder.near(path), *new], path=shown(path)) from None

    plan = Planner(read, call.repo.earlier).plan(requests)
    return Intent("write_source", plan.change, corrections=plan.corrections)


def _asked(call: Call, one: SourceEdit, finder: Finder) -> Asked:
    action = _meant(one)
    span = SpanEdit(
        one.new_content or "", one.expected_content, one.start_line, one.end_line, everywhere=one.all
    )
    _check(one, action)
    jail = call.repo.tree.jail
    if action in _BY_SYMBOL:
        at = _symbol(one, finder)
        lines = at.first, at.last
        return Asked(action, at.path, span, _compute_digest(one), lines=lines)
    if action is Action.UPDATE and one.symbol:
        at = _symbol(one, finder)
        span = replace(span, within=(at.first, at.last))
        return Asked(
            action, at.path, span, _compute_digest(one), shown_digest=call.session.shown_digests.get(at.path)
        )
    path = finder.existing(one.path or "") or jail.enter(one.path or "")
    if action in (Action.DELETE, Action.MOVE):
        _check_no_link(jail.enter(one.path or ""), path)
    digest = call.session.shown_digests.get(path)
    to = jail.enter(one.to) if one.to else None
    return Asked(action, path, span, _compute_digest(one), to=to, shown_digest=digest)


def _check_no_link(named: RepoPath, path: RepoPath) -> None:
    """A link is followed to a text that is changed, not to a file that is to be gone."""
    if shown(named) != shown(path):
        raise PathRefused(
            f"{shown(named)} is a symbolic link to {shown(path)}.",
            hints=[f"To edit that file, name it: {shown(path)}."],
            path=shown(named),
        )


def _meant(one: SourceEdit) -> Action:
    """A symbol is replaced whole, unless a text in it or lines of it are named."""
    if one.symbol and one.action in (Action.UPDATE, Action.REPLACE_SYMBOL):
        is_lines = one.action is Action.UPDATE and one.start_line is not None
        return Action.UPDATE if one.expected_content or is_lines else Action.REPLACE_SYMBOL
    return one.action


def _symbol(one: SourceEdit, finder: Finder) -> Wanted:
    """The definition that is named; with a path, it has to be in that file."""
    at = finder.symbol(one.symbol or "")
    if one.path and finder.existing(one.path) != at.path:
        raise InvalidArgument(
            f"{shown(one.symbol or '')} is in {shown(at.path)}, not in {shown(one.path)}.",
            hints=[f"Send the path {shown(at.path)}, or a name that is in {shown(one.path)}."],
        )
    return at


def _compute_digest(one: SourceEdit) -> Digest | None:
    return Digest(one.expected_file_sha256.lower()) if one.expected_file_sha256 else None


def _check(one: SourceEdit, action: Action) -> None:
    """What an action needs and what it cannot do with."""
    needs: dict[str, object] = {}
    match action:
        case Action.DELETE:
            needs = {"path": one.path}
        case Action.MOVE:
            needs = {"path": one.path, "to": one.to}
        case Action.CREATE:
            needs = {"path": one.path, "new_content": one.new_content}
        case Action.UPDATE:
            needs = {"path": one.path or one.symbol, "new_content": one.new_content}
        case _:
            needs = {"symbol": one.symbol, "new_content": one.new_content}
    missing = [
        name for name, value in needs.items() if value is None or (value == "" and name != "new_content")
    ]
    if missing:
        raise InvalidArgument(f"An edit with action {action} needs {' and '.join(missing)}.")
    if action in _BY_SYMBOL and (one.start_line is not None or one.expected_content):
        raise InvalidArgument(
            f"An edit with action {action} is located by its symbol alone.",
            hints=["Omit lines and expected_content, or send them with action update."],
        )
    new = {Action.CREATE: one.path, Action.MOVE: one.to}.get(action)
    if new and new.endswith("/"):
        raise InvalidArgument(
            f"{shown(new)} names a directory, not a file.",
            hints=["Name a file in it; directories are created with their first file."],
        )
