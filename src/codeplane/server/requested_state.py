"""What the arguments of a call say of the state of the files that it reads; the same for every tool."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import CodePlaneError, InvalidArgument, StateUnsupported, WorkspaceRequired
from codeplane.core.suggest import snake
from codeplane.names import WORKING_TREE, StateRef
from codeplane.session import Call
from codeplane.session.requested_state import MOST_BYTES, MOST_FILES, RequestedState, VirtualFile
from codeplane.tools import Effect, Input, Output, Tool, all_tools
from codeplane.tools._registry import names_accepted
from codeplane.working_tree import no_files_on_disk

COMMIT: Final = ("commit", "commit_sha", "baseline_commit_sha", "at_commit")
FILES: Final = ("virtual_files", "virtual_file")
CONSISTENCY: Final = ("consistency", "consistency_mode")
_PATH: Final = ("path", "file_path", "file", "filename", "file_name", "relative_path")
_CONTENT: Final = ("content", "contents", "text", "new_content")
_DELETED: Final = ("deleted", "delete", "is_deleted", "removed")
_MODES: Final = ("committed", "workspace", "ephemeral")
NAMES: Final = frozenset((*COMMIT, *FILES, *CONSISTENCY))
_LONGEST_REVISION: Final = 250
_DIAGNOSED: Final = ("repo_status", "index_ensure_baseline")
# What tools of these families change are files alone, and they change them through the engine.
_IN_MEMORY: Final = frozenset(("edits", "refactoring", "tasks", "files", "workspaces"))
_DOCUMENTING: Final = "describe"
_REVISION: Final = re.compile(r"\S+")
_SHAPE: Final = (
    'virtual_files takes [{"path": "src/a.py", "content": "…"}, {"path": "b.py", "deleted": true}].'
)
PARAMETERS: Final[Mapping[str, Any]] = {
    "workspace": {"type": "string"},
    "commit": {"type": "string", "description": "Read at this commit."},
    "virtual_files": {
        "type": "array",
        "items": {"type": "object"},
        "description": "`{path, content}` or `{path, deleted: true}`: read as if written.",
    },
}
"""What the wider lists of tools say of the state: every tool that reads takes it, in every profile."""


def take_state(
    tool: Tool, arguments: Mapping[str, Any], *, in_workspace: bool
) -> tuple[RequestedState, Mapping[str, Any]]:
    """The state that a call reads, and its other arguments."""
    if not any(snake(key) in NAMES for key in arguments):
        return RequestedState(), arguments
    own = names_accepted(tool)
    files, rest = _taken(own, arguments, FILES)
    if files is not None and tool.reads_state:
        own = frozenset(tool.input.model_fields)  # a synonym of its own would name a state without the files
    commit, rest = _taken(own, rest, COMMIT)
    mode, rest = _taken(own, rest, CONSISTENCY)
    request = RequestedState(_revision(commit), _virtual_files(files))
    request = _of_mode(mode, request, in_workspace=in_workspace)
    check_supported(tool, request)
    return request, rest


def _taken(
    own: Collection[str], arguments: Mapping[str, Any], names: Iterable[str]
) -> tuple[Any, Mapping[str, Any]]:
    """The value of a parameter, unless the tool has one of that name itself, and the other arguments."""
    keys = [key for key in arguments if snake(key) in names and snake(key) not in own]
    if not keys:
        return None, arguments
    if len(keys) > 1:
        raise InvalidArgument(f"{' and '.join(map(repr, keys))} mean the same parameter.")
    return arguments[keys[0]], {key: value for key, value in arguments.items() if key not in keys}


def _revision(value: object) -> str | None:
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > _LONGEST_REVISION or not _REVISION.fullmatch(text):
        raise InvalidArgument("commit takes a branch, a tag or the id of a commit.")
    return text


def _of_mode(mode: object, request: RequestedState, *, in_workspace: bool) -> RequestedState:
    """`consistency` says which of the other parameters count."""
    if mode is None:
        return request
    name = mode.strip().lower() if isinstance(mode, str) else ""
    if name not in _MODES:
        raise InvalidArgument(f"consistency is one of {', '.join(_MODES)}.")
    if name != "ephemeral" and request.files:
        raise InvalidArgument(
            f"virtual_files don't count with consistency {name}.", hints=['Send "consistency": "ephemeral".']
        )
    if name == "committed":
        return request if request.commit is not None else RequestedState("HEAD")
    if not in_workspace:
        raise WorkspaceRequired(
            f"consistency {name} needs a workspace.",
            hints=['Send "workspace", or leave consistency out for the working tree.', "workspace_list {}"],
        )
    return request


def _virtual_files(value: object) -> tuple[VirtualFile, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except ValueError as error:
            raise InvalidArgument("virtual_files is not JSON.", hints=[_SHAPE]) from error
    if isinstance(value, Mapping):
        is_one = any(snake(key) in (*_CONTENT, *_DELETED) for key in value)
        value = [value] if is_one else [{"path": path, "content": text} for path, text in value.items()]
    if not isinstance(value, list):
        raise InvalidArgument("virtual_files is a list of files.", hints=[_SHAPE])
    if len(value) > MOST_FILES:
        raise InvalidArgument(f"virtual_files has {len(value)} files; the most is {MOST_FILES}.")
    files = tuple(_virtual_file(number, entry) for number, entry in enumerate(value))
    size = sum(len(file.data or b"") for file in files)
    if size > MOST_BYTES:
        raise InvalidArgument(f"virtual_files have {size} bytes; the most is {MOST_BYTES}.")
    return files


def _virtual_file(number: int, entry: object) -> VirtualFile:
    where = f"virtual_files.{number}"
    if not isinstance(entry, Mapping):
        raise InvalidArgument(f"{where} is no object.", hints=[_SHAPE])
    fields: dict[str, Any] = {}
    for key, value in entry.items():
        field = next((names[0] for names in (_PATH, _CONTENT, _DELETED) if snake(str(key)) in names), None)
        if field is None or field in fields:
            raise InvalidArgument(f"{where}: {str(key)[:100]!r} is not known or sent twice.", hints=[_SHAPE])
        fields[field] = value
    path, content, is_deleted = fields.get("path"), fields.get("content"), fields.get("deleted")
    if not isinstance(path, str) or not path:
        raise InvalidArgument(f"{where} has no path.", hints=[_SHAPE])
    if is_deleted not in (None, True, False):
        raise InvalidArgument(f"{where}: deleted is true or false.", hints=[_SHAPE])
    if content is None and (is_deleted or "content" in fields):
        return VirtualFile(path, None)
    if is_deleted or not isinstance(content, str):
        raise InvalidArgument(f"{where} needs content as text, or deleted alone.", hints=[_SHAPE])
    try:
        return VirtualFile(path, content.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{where}: the content is not Unicode text.") from error


def check_supported(tool: Tool, request: RequestedState) -> None:
    """Refuses a state for a tool that is not about states."""
    if request.is_default or tool.reads_state:
        return
    name = "virtual_files" if request.files else "commit"
    if tool.effect is Effect.READ:
        reason = f"{tool.name} answers about the checkout as it is; it takes no {name}."
        hints = [f"Leave {name} out."]
    else:
        reason = f"{tool.name} changes something, which only the current state can; it takes no {name}."
        hints = ["Write to a workspace instead: workspace_create {}", "Tools that read take it."]
    raise StateUnsupported(reason, hints=hints, tool=tool.name)


def state_meta(call: Call) -> dict[str, Any]:
    """What an answer is about: the commit below it, and the workspace with its revision."""
    meta: dict[str, Any] = {}
    workspace = call.workspace
    if call.reading.commit is not None:
        with suppress(CodePlaneError):
            meta["baseline_commit_sha"] = call.repo.tree.at(call.reading.commit).commit.oid
    elif workspace is not None:
        meta["baseline_commit_sha"] = workspace.base_commit
    elif call.epoch is not None:
        with suppress(CodePlaneError):  # of a repository that was deleted or closed since it was looked at
            head = call.repo.checkout.repository.head().commit
            meta |= {"baseline_commit_sha": head} if head is not None else {}
    if workspace is not None:
        meta["workspace_id"] = workspace.id
        meta["overlay_revision"] = (
            call.repo.tree.revision() if not call.repo.tree.is_on_disk else workspace.revision
        )
    return meta


def check_place(tool: Tool, call: Call) -> None:
    """Refuses what a workspace in memory can't do: whatever needs files on the disk, or a HEAD of its own."""
    if not (call.repo.tree.is_on_disk or _works_in_memory(tool)):
        raise no_files_on_disk(tool.name)


def _works_in_memory(tool: Tool) -> bool:
    is_able = tool.reads_state or tool.category in _IN_MEMORY or tool.effect is Effect.SESSION
    return is_able or tool.name == _DOCUMENTING


def run_in_state(tool: Tool, call: Call, args: Input) -> Output:
    """Runs a tool. A cursor goes on in the state that it was made in, and one that is made remembers it."""
    check_place(tool, call)
    cursor = vars(args).get("cursor")
    if isinstance(cursor, str):
        call.reading = continued(call.reading, call.session.cursors.state_of(cursor), cursor)
    output = tool.run(call, args)
    if call.is_structured and tool.name in _DIAGNOSED:
        _diagnose(call, output)
    following = vars(output).get("next_cursor")
    if isinstance(following, str) and not call.reading.is_default:
        call.session.cursors.bind(following, call.reading)
    if call.workspace is not None or not call.reading.is_default:
        offers = [_in_state(one, call) for one in call.next_actions]
        call.next_actions[:] = [one for one in offers if one]
    return output


def _in_state(offer: str, call: Call) -> str:
    """An offered call as it goes on where this one was; "" where it can't."""
    name, _, text = offer.partition(" ")
    unit, reading = all_tools().get(name), call.reading
    try:
        arguments = decode_json(text)
    except ValueError:
        return offer  # words, or a shell command
    if unit is None or not isinstance(arguments, dict):
        return offer
    if not (call.repo.tree.is_on_disk or _works_in_memory(unit)):
        return ""
    if "cursor" not in arguments and not reading.is_default:
        if not unit.reads_state or reading.files:
            return ""
        arguments["commit"] = reading.commit
    if call.workspace is not None and "workspace" not in arguments:
        arguments["workspace"] = call.workspace.id
    return f"{name} {json.dumps(arguments, ensure_ascii=False)}"


def _diagnose(call: Call, output: Output) -> None:
    """Adds how well each build context could be read: of the answer's commit, or of the tree."""
    # Loaded by the few calls that tell it.
    from codeplane.session.diagnostics import project_diagnostics

    commit = getattr(output, "commit_sha", None)
    ref = StateRef(commit) if isinstance(commit, str) else WORKING_TREE
    with call.repo.index.snapshot_of(ref) as snapshot:
        call.diagnostics = project_diagnostics(snapshot)


def continued(reading: RequestedState, state: object, cursor: str) -> RequestedState:
    """The state that a cursor goes on in; an error where the call asks for another one."""
    if not isinstance(state, RequestedState):
        return reading
    if reading.is_default or reading == state:
        return state
    raise InvalidArgument(
        f"The cursor {cursor[:40]!r} goes on in the state that it was made in.",
        hints=["Leave commit and virtual_files out, or repeat the call without the cursor."],
    )
