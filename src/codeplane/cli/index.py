from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from codeplane.cli._command import command, emit
from codeplane.cli._progress import ProgressLine
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.fact_store import PullReport, PushReport
from codeplane.session.checkout import Checkout
from codeplane.session.shared_facts import (
    StoreStatus,
    describe_store,
    export_file,
    import_file,
    opened_index,
    pull_commit,
    push_commit,
)


@command()
@click.argument("action", type=click.Choice(["export", "import", "push", "pull", "status"]))
@click.argument("where", required=False)
@click.option("--commit", default="HEAD", help="With export, push and pull: the commit; by default HEAD.")
@click.option(
    "--again", is_flag=True, help="With import and pull: use a source that gave wrong facts before."
)
def index(root: Path, as_json: bool, action: str, where: str | None, commit: str, again: bool) -> None:
    """Share what has been read of a commit: through a file, or a store.

    export writes the facts of a commit to the file WHERE, and import takes them from it. push brings them
    into the store WHERE, and pull takes those that this checkout needs. A store is a directory, or a bucket
    such
    as s3://bucket/folder (extra fleet); without WHERE it is the setting index.store. status shows what the
    store
    has of this repository. Only committed files are shared, without secrets and what .cplignore excludes.
    Facts are taken for files whose contents are here, after a part of them was compared with the files.
    """
    if (commit != "HEAD" and action in ("import", "status")) or (again and action not in ("import", "pull")):
        option = "--again" if again else "--commit"
        raise InvalidArgument(f"{action} takes no {option}.", hints=["cpl index --help"])
    checkout = Checkout.find(root, Places.of_user())
    place = where or ("" if action in ("export", "import") else checkout.settings.index.store)
    if not place:
        raise InvalidArgument(
            f"{action} needs {_NEEDS[action]}.", hints=[f"cpl index {action} {_EXAMPLES[action]}"]
        )
    report = _ACTIONS[action](checkout, place, commit, again)
    emit(_to_json(report), "\n".join(_RENDERERS[action](report, place)), as_json=as_json)


_NEEDS: Final = {"export": "a file", "import": "a file"} | dict.fromkeys(
    ("push", "pull", "status"), "a store, or the setting index.store"
)
_EXAMPLES: Final = {"export": "facts.tar", "import": "facts.tar"} | dict.fromkeys(
    ("push", "pull", "status"), "/srv/facts"
)


def _run_export(checkout: Checkout, place: str, commit: str, _again: bool) -> PushReport:
    with opened_index(checkout) as (database, _):
        return export_file(checkout, database, commit, Path(place).absolute(), ProgressLine("Indexing"))


def _run_push(checkout: Checkout, place: str, commit: str, _again: bool) -> PushReport:
    with opened_index(checkout) as (database, _):
        return push_commit(checkout, database, commit, place, ProgressLine("Indexing"))


def _run_import(checkout: Checkout, place: str, _commit: str, again: bool) -> PullReport:
    with opened_index(checkout) as (database, tree):
        report = import_file(checkout, database, tree, Path(place).absolute(), again=again)
        database.commits.view_of(tree.at(report.commit), ProgressLine("Indexing"))
        return report


def _run_pull(checkout: Checkout, place: str, commit: str, again: bool) -> PullReport:
    with opened_index(checkout) as (database, tree):
        report = pull_commit(checkout, database, tree.at(commit), place, again=again)
        database.commits.view_of(tree.at(commit), ProgressLine("Indexing"))
        return report


def _show_status(checkout: Checkout, place: str, _commit: str, _again: bool) -> StoreStatus:
    return describe_store(checkout, place)


_ACTIONS: Final[dict[str, Callable[[Checkout, str, str, bool], Any]]] = {
    "export": _run_export,
    "import": _run_import,
    "push": _run_push,
    "pull": _run_pull,
    "status": _show_status,
}


def _to_json(report: Any) -> dict[str, Any]:
    data: dict[str, Any] = asdict(report)
    return data | {"left": report.left} if isinstance(report, PullReport) else data


def _render_push(report: PushReport, place: str) -> list[str]:
    size = f"{report.bytes / 1e6:.1f} MB"
    news = (
        f"{report.new_contents} of {report.contents} contents are new ({report.segments} segments, {size})."
    )
    lines = [f"{place}: commit {report.commit[:12]} with {report.files} files; {news}"]
    if report.gaps:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.gaps.items()))
        lines.append(f"Without content of their own: {kinds}.")
    if report.left_out:
        lines.append(f"{report.left_out} contents are not shared: this machine could not read them.")
    if not report.is_head:
        lines.append("The store's pointer stays at a commit that this one does not follow.")
    return lines


def _render_pull(report: PullReport, place: str) -> list[str]:
    commit = report.commit[:12]
    if not report.missing:
        return [f"The index has the facts of commit {commit} already."]
    share = f"{report.from_store} of {report.missing} contents of commit {commit} taken"
    lines = [f"{report.store}: {share}, {report.samples} of them compared with the files."]
    if report.manifest is None:
        lines.append(f"{place} has no commit of this repository.")
    elif report.manifest != report.commit:
        lines.append(
            f"The commit is not there; {report.manifest[:12]} was used, which is the last one pushed."
        )
    if report.stale:
        version = f"another version of CodePlane ({report.made_by})"
        lines.append(f"{report.stale} contents are there only as {version} reads them.")
    if report.left:
        lines.append(f"{report.left} contents were read here.")
    return lines


def _render_status(status: StoreStatus, _place: str) -> list[str]:
    commit = status.commit[:12] or "none"
    lines = [
        f"store: {status.store}",
        f"last pushed: {status.head or 'nothing of this repository'}",
        f"commit {commit}: {'in the store' if status.has_commit else 'not in the store'}",
    ]
    if status.contents is None:
        lines.append("index: none yet")
    else:
        lines.append(f"index: {status.missing} of {status.contents} contents of the commit are not read yet")
    return [*lines, f"not used: {status.distrust}"] if status.distrust else lines


_RENDERERS: Final[dict[str, Callable[[Any, str], list[str]]]] = {
    "export": _render_push,
    "import": _render_pull,
    "push": _render_push,
    "pull": _render_pull,
    "status": _render_status,
}
