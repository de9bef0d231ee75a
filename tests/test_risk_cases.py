"""Each risk of a refactoring has a case in `tests/cases/risks` in which it is found."""

from pathlib import Path

import pytest

from codeplane.graph.places import place_of
from codeplane.refactor.occurrences.search import find_occurrences
from codeplane.refactor.rename_set import rename_set_of, variable_set_of
from codeplane.refactor.risk import Question, Risk, risks
from codeplane.refactor.subject import find_subject
from codeplane.refactor.variables import Variable
from tests.case_files import parse_case
from tests.test_cases import run_case
from tests.tools.repo import Repo

FOLDER = Path(__file__).parent / "cases" / "risks"


def test_risks_are_told_in_one_order_and_each_has_a_sentence() -> None:
    orders = [risk.order for risk in risks().values()]
    assert orders == sorted(set(orders))
    for name, risk in risks().items():
        assert risk.kinds, name
        assert risk.sentence.endswith("."), name


def test_every_case_is_of_a_risk() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(risks())


@pytest.mark.parametrize(("name", "risk"), risks().items(), ids=list(risks()))
def test_a_risk_is_found_in_its_case(
    name: str, risk: Risk, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = FOLDER / f"{name}.txt"
    expected = parse_case(file.read_text())
    seen = run_case(expected, tmp_path / "told")
    if request.config.getoption("--update"):
        file.write_text(seen.render())
    assert seen.render() == expected.render()
    repo = Repo(tmp_path / "found", expected.files)
    repo.session.index.refresh()
    arguments = expected.steps[0].arguments
    with repo.session.index.snapshot() as snapshot:
        subject = find_subject(snapshot, arguments["symbol"], arguments.get("name", ""))
        if isinstance(subject, Variable):
            names = variable_set_of(snapshot, subject)
        else:
            names = rename_set_of(snapshot, place_of(subject))
        sites = find_occurrences(snapshot, names, arguments["new_name"]).sites
        found = list(risk.find(Question(snapshot, names, arguments["new_name"], sites)))
    repo.session.close()
    assert {one.kind for one in found} & set(risk.kinds)
