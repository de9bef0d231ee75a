from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places, TrustRecord
from codeplane.core.errors import InvalidArgument
from codeplane.git import locate
from codeplane.session.trust import give_trust
from codeplane.storage import private_dir, read_trust_id, write_private


@command()
@click.option("--secrets", is_flag=True, help="Also open the secrets that .cplignore lists now.")
@click.option("--revoke", is_flag=True, help="Withdraw trust and close secrets again.")
@click.option("--show", is_flag=True, help="Only show whether the repository is trusted.")
def trust(root: Path, as_json: bool, secrets: bool, revoke: bool, show: bool) -> None:
    """Trust this repository.

    Only in a trusted repository does CodePlane follow .codeplane/config.yaml and run tests, linters and
    hooks. A repository that belongs to another user is not opened without trust. Trust is recorded in your
    user state, for this checkout only; a fresh clone in the same place is not trusted. A running server
    applies the change to its next call. The commands of .codeplane/toolchain.toml run only as the file is at
    that moment; after a change of it, trust again.

    Files that look like secrets stay closed even then. To open some, add a line !PATH for each to .cplignore
    and run cpl trust --secrets. It opens what the file lists at that moment, not what is added later.
    """
    if revoke and secrets:
        raise InvalidArgument("--revoke closes secrets; --secrets opens them.", hints=["cpl trust --revoke"])
    places = Places.of_user()
    record = TrustRecord(places.trust_file)
    path = locate(root)
    if revoke and not show:
        private_dir(places.state_dir)
        record.revoke(path, write_private)
    elif not show:
        give_trust(path, places, opens_secrets=secrets)
    grant = record.of(path, read_trust_id(path))
    lines = list(grant.secrets) if grant is not None else []
    report: dict[str, Any] = {"root": str(path), "trusted": grant is not None, "secrets": lines}
    if grant is not None and grant.toolchain:
        report["toolchain"] = grant.toolchain
    emit(report, _text(report, asked=secrets and not show), as_json=as_json)


def _text(report: dict[str, Any], *, asked: bool) -> str:
    text = [f"{report['root']} is {'trusted' if report['trusted'] else 'not trusted'}."]
    if report["secrets"]:
        text.append(f"Opened secrets: {', '.join(report['secrets'])}")
    elif asked:
        text.append("No secret is open: .cplignore has no line that begins with !.")
    if "toolchain" in report:
        text.append(
            f"Commands of .codeplane/toolchain.toml may run, as it is now ({report['toolchain'][:12]})."
        )
    return "\n".join(text)
