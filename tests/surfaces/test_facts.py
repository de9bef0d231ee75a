"""Registrations, middleware, exceptions, log messages and retries, by files under `facts`: one block a form.

A block is `# name`, files after `--- path`, and the facts after `=>`. `--update` writes what the code finds.
"""

from pathlib import Path
from typing import get_args

import pytest

from codeplane.config import Places
from codeplane.names import Snapshot
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.fact_lists import fact_surface
from codeplane.surfaces.facts import Fact, FactKind
from tests.drive import new_repo, user_env
from tests.surfaces.forms import blocks, files_of, write_block

CASES = Path(__file__).parent / "facts"


def _rendered(snapshot: Snapshot, fact: Fact) -> str:
    parts: list[str] = [fact.kind]
    parts += [f"{fact.position}."] if fact.position else []
    parts += [fact.detail] if fact.detail else []
    parts.append(f"`{fact.name}`")
    target = fact.target or (snapshot.qualified(fact.definition) if fact.definition else "")
    parts += [f"-> {target}"] if target and target != fact.name else []
    parts += (
        [f"in {snapshot.qualified(fact.symbol)}"] if fact.symbol and fact.symbol != fact.definition else []
    )
    parts += ["(conditional)"] if fact.is_conditional else []
    parts += [fact.tier.name.lower()] if fact.tier.name != "STRONG" else []
    return " ".join(parts)


def _rendered_facts(tmp_path: Path, files: dict[str, str], kind: FactKind | None) -> list[str]:
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            kinds = [kind] if kind else list(get_args(FactKind))
            return [_rendered(snapshot, fact) for one in kinds for fact in fact_surface(snapshot, one).facts]
    finally:
        session.close()


ALL = [(path, name, body) for path in sorted(CASES.glob("*.txt")) for name, body in blocks(path)]


@pytest.mark.parametrize(("path", "name", "body"), ALL, ids=[f"{path.stem}: {name}" for path, name, _ in ALL])
def test_a_form_gives_its_facts(
    tmp_path: Path, path: Path, name: str, body: str, request: pytest.FixtureRequest
) -> None:
    kind = path.stem.partition("_")[0]
    facts = _rendered_facts(tmp_path, files_of(body), kind)  # type: ignore[arg-type]
    expected = [line[3:] for line in body.splitlines() if line.startswith("=> ")]
    if facts != expected and request.config.getoption("--update"):
        write_block(path, name, body, facts)
    assert facts == [line for line in expected if line != "nothing"]
