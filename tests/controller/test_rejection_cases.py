"""Each code of plan validation has a case in `tests/cases/rejections`; what it offers is accepted."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import codeplane.controller
from codeplane.controller.plan_graph import CODES, PlanCheck, RejectionCode
from tests.controller.plan_lab import FILES, PROMPT, Choice, PlanLab, PlanRule, TracedChain, open_lab

FOLDER = Path(__file__).parent.parent / "cases" / "rejections"
RAISED = [code for code, entry in CODES.items() if "plan validation" in entry.raised_by]
SOURCES = Path(codeplane.controller.__file__).parent
_SUB_CODE = re.compile(r'"((?:fields|scope|evidence|atomicity|verification|strategy|ambiguous)\.[a-z_]+)"')
_HEADING = re.compile(r"^-- (.+) --$", re.MULTILINE)


def parse(text: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """The sentence, the files, and the other parts of a case."""
    about, *rest = _HEADING.split(text)
    parts = {
        name: body.removeprefix("\n").rstrip("\n") + "\n"
        for name, body in zip(rest[::2], rest[1::2], strict=True)
    }
    own = ("facts", "plan", "problems", "skeleton", "remedy")
    files = {name: body for name, body in parts.items() if name not in own}
    return about.strip(), files, {name: body for name, body in parts.items() if name in own}


def with_facts(lab: PlanLab, facts: dict[str, Any]) -> PlanLab:
    """A lab with what the case says of its run."""
    for place in facts.get("read", []):
        path, _, lines = place.partition(":")
        lab.read(path, *map(int, lines.split("-")))
    changes: dict[str, Any] = {"prompt": facts.get("prompt", PROMPT), "features": facts.get("features", {})}
    if "strategy" in facts:
        changes["strategy"] = Choice(facts["strategy"], facts.get("reasons", ["it was chosen"]))
    if "chains" in facts:
        chains = {name: TracedChain(name, broken_at) for name, broken_at in facts["chains"].items()}
        changes |= {"required_chains": list(chains), "chain": chains.get}
    expired_ids = facts.get("expired_memories", [])
    changes["expired_memories"] = lambda ids: [one for one in ids if one in expired_ids]
    changes["rules"] = [PlanRule(**rule) for rule in facts.get("rules", [])]
    changes["artifacts"] = facts.get("artifacts", {})
    changes["needs_contract"] = facts.get("needs_contract", False)
    return lab.having(**changes)


def render(about: str, files: dict[str, str], parts: dict[str, str], check: PlanCheck) -> str:
    lines = [f"{one.code}/{one.sub_code} {one.field}: {one.message}" for one in check.problems]
    parts = {name: parts[name] for name in ("facts", "plan") if name in parts}
    parts["problems"] = "\n".join(lines) + "\n"
    if check.remedy is not None:
        parts["remedy"] = f"{check.remedy.verb} {json.dumps(dict(check.remedy.args))}\n"
    else:
        parts["skeleton"] = json.dumps(check.skeleton, indent=1) + "\n"
    sections = [f"-- {name} --\n{body}" for name, body in (files | parts).items()]
    return "\n".join([f"{about}\n", *sections])


def test_every_code_of_the_validator_has_a_case() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == {code.value.lower() for code in RAISED}
    assert len(CODES) == len(RejectionCode) == 17


@pytest.mark.parametrize("code", RAISED)
def test_a_rejection_and_its_repair(
    code: RejectionCode, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = FOLDER / f"{code.value.lower()}.txt"
    about, files, parts = parse(file.read_text())
    with open_lab(tmp_path, files or FILES) as plain:
        lab = with_facts(plain, json.loads(parts.get("facts", "{}")))
        check = lab.check_document(json.loads(parts["plan"]))
        text = render(about, files, parts, check)
        if request.config.getoption("--update"):
            file.write_text(text)
        assert text == file.read_text()
        assert code in check.codes
        assert check.plan is None
        if check.remedy is None:
            assert lab.check_document(check.skeleton).problems == ()


def test_every_sub_code_that_is_raised_is_in_the_table() -> None:
    in_code = {match for file in SOURCES.rglob("*.py") for match in _SUB_CODE.findall(file.read_text())}
    assert in_code == {
        name for entry in CODES.values() for name in entry.sub_codes if _SUB_CODE.match(f'"{name}"')
    }
