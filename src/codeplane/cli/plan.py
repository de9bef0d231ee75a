import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.documents import Malformed
from codeplane.core.errors import InvalidArgument
from codeplane.plans.document import LARGEST_DOCUMENT
from codeplane.plans.edits import EDIT_KEYS
from codeplane.session.checkout import Checkout

if TYPE_CHECKING:
    from codeplane.server.answer import Answer

_ALL_ITEMS = 20_000
_TEXTS = ("title", "description", "key", "state", "parent")
_USAGE = {
    "new": "cpl plan new FILE",
    "show": "cpl plan show PLAN",
    "list": "cpl plan list",
    "edit": "cpl plan edit ITEM --set state=done, or cpl plan edit PLAN FILE",
    "drop": "cpl plan drop PLAN",
}


@command()
@click.argument("action", type=click.Choice(list(_USAGE)))
@click.argument("subject", required=False)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="With edit: a change (repeatable)."
)
@click.option("--plan", "plan_id", help="With show and edit: the plan, where SUBJECT is a key of an item.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), help="With show: the plan's document.")
@click.option("--yes", is_flag=True, help="With drop: don't ask for confirmation.")
def plan(
    root: Path,
    as_json: bool,
    action: str,
    subject: str | None,
    file: Path | None,
    changes: tuple[str, ...],
    plan_id: str | None,
    form: str | None,
    yes: bool,
) -> None:
    """Write, show and change plans of phases and tasks.

    new reads a plan from the file SUBJECT, YAML or JSON; `-` is standard input. show prints the plan or item
    SUBJECT, list all plans. edit changes the item SUBJECT by --set KEY=VALUE (title, state, fields.NAME,
    after, position, ...), or puts the document FILE in the place of the plan SUBJECT. drop deletes a plan.
    No file of the repository changes.
    """
    is_complete = (subject is None) == (action == "list")
    if not is_complete or (file is not None and action != "edit") or (bool(changes) and action != "edit"):
        raise InvalidArgument(f"{action} is not called like this.", hints=[_USAGE[action]])
    checkout = Checkout.find(root, Places.of_user())
    name = subject or ""
    if action == "new":
        answer = call_tool(checkout, "plan_create", {"text": _read_document(Path(name))})
    elif action == "list":
        answer = call_tool(checkout, "plan_show", {})
    elif action == "show":
        answer = _show(checkout, name, plan_id, form)
    elif action == "edit":
        answer = call_tool(checkout, "plan_update", _edit_arguments(name, plan_id, file, changes))
    else:
        _confirm(name, yes)
        answer = call_tool(checkout, "plan_update", {"updates": [{"item": name, "remove": True}]})
    if form is not None and not answer.is_error and not as_json:
        # Exactly as it is, whatever the terminal's encoding: it is meant to be read back.
        click.echo(answer.body["result"]["document"].encode(), nl=False)
    else:
        emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)


def _show(checkout: Checkout, name: str, plan_id: str | None, form: str | None) -> "Answer":
    arguments: dict[str, Any] = {"plan": plan_id, "item": name} if plan_id else {"plan": name}
    if form is not None:
        return call_tool(checkout, "plan_show", {"plan": plan_id or name, "format": form})
    return call_tool(checkout, "plan_show", {**arguments, "limit": _ALL_ITEMS})


def _edit_arguments(
    name: str, plan_id: str | None, file: Path | None, changes: tuple[str, ...]
) -> dict[str, Any]:
    if (file is None) == (not changes):
        raise InvalidArgument("edit takes either --set or a FILE.", hints=[_USAGE["edit"]])
    if file is not None:
        return {"plan": name, "document": _read_document(file)}
    update: dict[str, Any] = {"item": name}
    for change in changes:
        key, equals, value = change.partition("=")
        head, _, field = key.partition(".")
        if not equals or head not in EDIT_KEYS or bool(field) != (head == "fields"):
            raise InvalidArgument(
                f"--set {change[:80]} is not of the form KEY=VALUE.",
                hints=[f"Keys: {', '.join(key for key in EDIT_KEYS if key != 'fields')}, fields.NAME."],
            )
        if field:
            update.setdefault("fields", {})[field] = _parse_value(change, value)
        else:
            update[head] = value if head in _TEXTS else _parse_value(change, value)
    return {"updates": [update]} | ({"plan": plan_id} if plan_id else {})


def _parse_value(change: str, value: str) -> object:
    from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

    try:
        return parse_yaml(value)
    except Malformed as error:
        raise InvalidArgument(f"--set {change[:80]}: {error}.") from error


def _read_document(file: Path) -> str:
    try:
        with sys.stdin.buffer if str(file) == "-" else file.open("rb") as stream:
            data = stream.read(LARGEST_DOCUMENT * 4 + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidArgument(f"{file}: {reason}.", hints=[_USAGE["new"]]) from error
    if len(data) > LARGEST_DOCUMENT * 4:
        raise InvalidArgument(f"{file} is larger than {LARGEST_DOCUMENT * 4} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{file} is not UTF-8.") from error


def _confirm(name: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidArgument(f"This would delete {name[:60]}.", hints=[f"cpl plan drop {name[:60]} --yes"])
    click.confirm(f"Delete {name[:60]} and everything in it?", abort=True, err=True)
