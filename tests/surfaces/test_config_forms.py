"""Forms of configuration keys beyond plain reads, by files under `config`: one block a form."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.config_keys import config_surface
from tests.drive import new_repo, user_env
from tests.surfaces.forms import blocks, files_of, write_block

CASES = Path(__file__).parent / "config"


def _keys(tmp_path: Path, files: dict[str, str]) -> Iterator[str]:
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            surface = config_surface(snapshot)
            for use in surface.uses:
                role = "defined" if use.is_definition else "read"
                default = f" default {use.default}" if use.default is not None else ""
                yield f"{use.key}{default} {role} {use.path}:{use.line} {use.pattern}"
            if surface.dynamic:
                yield f"dynamic {sum(surface.dynamic.values())}"
    finally:
        session.close()


ALL = [(path, name, body) for path in sorted(CASES.glob("*.txt")) for name, body in blocks(path)]


@pytest.mark.parametrize(("path", "name", "body"), ALL, ids=[f"{path.stem}: {name}" for path, name, _ in ALL])
def test_a_form_gives_its_keys(
    tmp_path: Path, path: Path, name: str, body: str, request: pytest.FixtureRequest
) -> None:
    keys = list(_keys(tmp_path, files_of(body)))
    expected = [line[3:] for line in body.splitlines() if line.startswith("=> ")]
    if keys != expected and request.config.getoption("--update"):
        write_block(path, name, body, keys)
    assert keys == [line for line in expected if line != "nothing"]
