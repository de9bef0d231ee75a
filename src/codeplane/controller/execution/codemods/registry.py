"""Every codemod by its id: built in, installed by the user, and data of a trusted repository."""

from codeplane.controller.execution.codemods.built_in import NAMES, PackCodemod
from codeplane.controller.execution.codemods.codemod import Codemod
from codeplane.controller.execution.codemods.data_files import read_codemods
from codeplane.controller.execution.codemods.installed import installed_codemods
from codeplane.core.errors import CodemodRefused
from codeplane.core.suggest import nearest
from codeplane.session import RepoSession

FOLDER = "codemods"


def all_codemods(repo: RepoSession) -> dict[str, Codemod]:
    """The codemods of a repository; one that is built in can't be replaced, an installed one not by data."""
    codemods: dict[str, Codemod] = {name: PackCodemod(name) for name in NAMES}
    for one in installed_codemods(repo.checkout.root):
        codemods.setdefault(one.codemod_id, one)
    if repo.checkout.trusted:
        for data in read_codemods(repo.state.path / FOLDER):
            codemods.setdefault(data.codemod_id, data)
    return codemods


def find_codemod(repo: RepoSession, codemod_id: str) -> Codemod:
    """A codemod by its id; an error with the nearest where there is none."""
    if codemod_id in NAMES:
        return PackCodemod(codemod_id)
    codemods = all_codemods(repo)
    if codemod_id in codemods:
        return codemods[codemod_id]
    near = nearest(codemod_id[:60], codemods, most=1)
    ending = f"; did you mean {near[0]}?" if near else "."
    hints = [f"Codemods: {', '.join(codemods)}."]
    if not repo.checkout.trusted and (repo.state.path / FOLDER).is_dir():
        hints.append(f"Those of .codeplane/{FOLDER}/ count in a trusted repository (cpl trust).")
    raise CodemodRefused(
        f"There is no codemod {codemod_id[:60]!r}{ending}", hints=hints, codemods=list(codemods)
    )
