"""Every form in which tables are written, by files under `tables`: one block a form."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.db_tables import table_surface, tables_with_uses
from tests.drive import new_repo, user_env
from tests.surfaces.forms import blocks, files_of, write_block

CASES = Path(__file__).parent / "tables"


def _tables(tmp_path: Path, files: dict[str, str]) -> Iterator[str]:
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            surface = table_surface(snapshot)
            for table, uses, witnesses in tables_with_uses(surface, lambda _: True):
                schema = f"{table.schema}." if table.schema else ""
                entity = f" {snapshot.qualified(table.entity)}" if table.entity else ""
                where = f"({table.framework} {table.pattern}:{table.line})"
                users = ", ".join(
                    f"{use.statement} in "
                    f"{snapshot.qualified(use.symbol) if use.symbol else use.path}:{use.line}"
                    for use in uses
                )
                also = "".join(f" also {one.path}:{one.line}" for one in witnesses)
                yield f"{schema}{table.name}{entity} {where}{also} {users}".strip()
            if surface.dynamic:
                yield f"dynamic {sum(surface.dynamic.values())}"
    finally:
        session.close()


ALL = [(path, name, body) for path in sorted(CASES.glob("*.txt")) for name, body in blocks(path)]


@pytest.mark.parametrize(("path", "name", "body"), ALL, ids=[f"{path.stem}: {name}" for path, name, _ in ALL])
def test_a_form_gives_its_tables(
    tmp_path: Path, path: Path, name: str, body: str, request: pytest.FixtureRequest
) -> None:
    tables = list(_tables(tmp_path, files_of(body)))
    expected = [line[3:] for line in body.splitlines() if line.startswith("=> ")]
    if tables != expected and request.config.getoption("--update"):
        write_block(path, name, body, tables)
    assert tables == [line for line in expected if line != "nothing"]
