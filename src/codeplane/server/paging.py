"""Cursors that outlive the call that made them, for callers whose every call is a conversation of its own.

A cursor is kept as the calls that led to it. To go on from it, these calls are made again; where one of them
no longer answers what it did, the repository has changed and the cursor is gone. Nothing that a shipped
`state.db` could hold is executed: arguments are checked as those of any call.
"""

import hashlib
import json
import time
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from codeplane.core.documents import parse_json
from codeplane.core.errors import CursorGone, InvalidArgument
from codeplane.core.ids import new_request_id
from codeplane.session import Call
from codeplane.session.requested_state import RequestedState
from codeplane.storage.database import Database
from codeplane.tools import Effect, Input, Output, Tool

_MOST: Final = 100
_LIFE_MS: Final = 3_600_000
_MOST_PAGES: Final = 200

Step = tuple[dict[str, Any], str]  # what was asked, and the digest of the answer
_STATE: Final = "codeplane/state"  # beside what was asked: the state of the files that was read


def paged(tool: Tool) -> Tool:
    """The tool, taking and making cursors that are kept in the state directory."""
    if tool.effect is not Effect.READ:
        return tool
    code = tool.code()

    def run(call: Call, args: Input) -> Output:
        cursor = getattr(args, "cursor", None)
        steps: list[Step] = []
        if cursor is not None:
            steps = _find_steps(call.repo.state_db, tool.name, cursor)
            call.reading = _state_of(steps, call.reading, cursor)
            args = args.model_copy(update={"cursor": _again(tool, call, steps, cursor)})
        output = code.run(call, args)
        if (following := getattr(output, "next_cursor", None)) is not None:
            arguments = args.model_dump(mode="json", exclude_unset=True, exclude={"cursor"})
            if not call.reading.is_default:
                arguments[_STATE] = [call.reading.commit, call.reading.digest()]
            _keep_cursor(
                call.repo.state_db, following, tool.name, [*steps, (arguments, _compute_digest(output))]
            )
        return output

    return replace(tool, code=lambda: replace(code, run=run))


def _again(tool: Tool, call: Call, steps: list[Step], cursor: str) -> str:
    """Makes the calls once more; returns the cursor of this process that the last of them gives."""
    here: str | None = None
    for arguments, digest in steps:
        page_arguments = {key: value for key, value in arguments.items() if key != _STATE}
        page_arguments |= {} if here is None else {"cursor": here}
        try:
            args = tool.input.model_validate(page_arguments)
        except ValidationError as error:
            raise _gone(cursor) from error
        inner = Call(
            call.repo,
            call.session,
            new_request_id(),
            workspace=call.workspace,
            reading=call.reading,
        )
        output = tool.run(inner, args)
        call.check()
        here = getattr(output, "next_cursor", None)
        if here is None or _compute_digest(output) != digest:
            raise _gone(cursor, "The data it continues has changed.")
    if here is None:
        raise _gone(cursor)
    return here


def _state_of(steps: list[Step], reading: RequestedState, cursor: str) -> RequestedState:
    """The state that a cursor goes on in. Virtual files are kept nowhere: they have to be sent again."""
    state = steps[-1][0].get(_STATE) if steps else None
    if state is None:
        return reading
    commit, digest = state
    if reading.is_default and RequestedState(commit).digest() == digest:
        return RequestedState(commit)
    if reading.digest() != digest:
        raise InvalidArgument(
            f"The cursor {cursor[:40]!r} goes on in the state that it was made in.",
            hints=["Send the same commit and virtual_files with it."],
        )
    return reading


def _keep_cursor(database: Database, cursor: str, tool: str, steps: list[Step]) -> None:
    if len(steps) > _MOST_PAGES:
        return
    now = int(time.time() * 1000)
    with database.write() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO cursor (cursor, tool, steps, made_ms) VALUES (?, ?, ?, ?)",
            (cursor, tool, json.dumps(steps), now),
        )
        connection.execute(
            "DELETE FROM cursor WHERE made_ms < ? OR cursor NOT IN"
            " (SELECT cursor FROM cursor ORDER BY made_ms DESC, rowid DESC LIMIT ?)",
            (now - _LIFE_MS, _MOST),
        )


def _find_steps(database: Database, tool: str, cursor: str) -> list[Step]:
    oldest = int(time.time() * 1000) - _LIFE_MS
    with database.read() as connection:
        rows = connection.execute(
            "SELECT steps FROM cursor WHERE cursor = ? AND tool = ? AND made_ms >= ?", (cursor, tool, oldest)
        ).fetchall()
    try:
        return [(dict(arguments), str(digest)) for arguments, digest in parse_json(rows[0][0])[:_MOST_PAGES]]
    except (IndexError, ValueError, TypeError) as error:
        raise _gone(cursor) from error


def _gone(cursor: str, reason: str = "") -> CursorGone:
    message = f"There is no cursor {cursor[:40]!r}." + (f" {reason}" if reason else "")
    return CursorGone(message, hints=["Cursors last an hour. Repeat the call without one."])


def _compute_digest(output: Output) -> str:
    text = output.model_dump_json(exclude={"next_cursor"})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
