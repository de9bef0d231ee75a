from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places, TrustRecord
from codeplane.git import locate
from codeplane.storage import StateDir, private_dir, read_trust_id, write_private


@command()
@click.option("--revoke", is_flag=True, help="Trust it no longer.")
@click.option("--show", is_flag=True, help="Only tell whether it is trusted.")
def trust(root: Path, as_json: bool, revoke: bool, show: bool) -> None:
    """Trust what this repository supplies.

    CodePlane obeys the settings in the repository's .codeplane/config.yaml, runs its tests and linters, and
    opens a repository that belongs to another user, only when you trust it. Trust is yours, not the
    repository's: it is kept in your user state, for this checkout only. A fresh clone at the same place is
    not trusted.
    """
    places = Places.of_user()
    record = TrustRecord(places.trust_file)
    found = locate(root)
    if not show:
        private_dir(places.state_dir)
        if revoke:
            record.revoke(found, write_private)
        else:
            record.grant(found, StateDir.create(found).new_trust_id(), write_private)
    trusted = record.trusts(found, read_trust_id(found))
    text = f"{found} is {'trusted' if trusted else 'not trusted'}."
    if not show:
        text += " A running server takes this up when it is started again."
    emit({"root": str(found), "trusted": trusted}, text, as_json=as_json)
