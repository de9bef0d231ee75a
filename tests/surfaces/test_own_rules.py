"""Rules that a trusted repository brings along in `.codeplane/surfaces/`."""

import re
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.errors import PackInvalid
from codeplane.names import Codebase
from codeplane.session import Checkout, RepoSession
from codeplane.session.surface_rules import heed_surface_rules
from codeplane.session.trust import give_trust
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.fact_lists import fact_surface
from codeplane.surfaces.rule_set import read_rules
from codeplane.surfaces.rule_source import use_rules
from tests.drive import new_repo, user_env

PAGE = Path(__file__).parents[2] / "docs" / "surfaces.md"


def example(kind: str) -> str:
    """A block of the user page."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert blocks
    return "\n".join(blocks)


def rules_folder(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "surfaces"
    folder.mkdir()
    (folder / "mine.yaml").write_text(text)
    return folder


def test_the_example_of_the_page_gives_surfaces_of_every_kind(tmp_path: Path) -> None:
    folder = rules_folder(tmp_path, example("yaml"))
    root = new_repo(tmp_path / "repo", {"app.py": example("python")})
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            assert surfaces_of(snapshot) == []
            use_rules(snapshot, lambda: read_rules(folder))
            assert surfaces_of(snapshot) == [
                "GET /orders",
                "APP_REGION default eu",
                "orders",
                "di Orders",
                "log started {name}",
                "retry app.fetch",
            ]
    finally:
        session.close()


def surfaces_of(code: Codebase) -> list[str]:
    rows = [f"{one.method} {one.route}" for one in endpoints_of(code).endpoints]
    rows += [f"{use.key} default {use.default}" for use in config_surface(code).uses]
    rows += [table.name for table in table_surface(code).tables]
    for kind in ("di", "log", "retry"):
        rows += [f"{kind} {fact.name}" for fact in fact_surface(code, kind).facts]
    return rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("facts:\n  - framework: x\n    facts:\n      - kind: nothing\n", ":4: facts.0.facts.0.kind"),
        ("facts:\n  - framework: x\n    wrong: 1\n", ":3: facts.0.wrong"),
        ("endpoints: 3\n", ":1: endpoints"),
        ("unknown: []\n", ":1: unknown"),
        ("a: [\n", "mine.yaml"),
        ("\0", "mine.yaml"),
        ("- 1\n", "mine.yaml"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PackInvalid, match=re.escape(message)):
        read_rules(rules_folder(tmp_path, text))


def test_a_link_or_a_large_file_is_refused(tmp_path: Path) -> None:
    folder = rules_folder(tmp_path, "facts: []\n")
    (tmp_path / "secret").write_text("facts: []\n")
    (folder / "link.yaml").symlink_to(tmp_path / "secret")
    with pytest.raises(PackInvalid, match="plain file"):
        read_rules(folder)
    (folder / "link.yaml").unlink()
    (folder / "large.yaml").write_text("#" * (300 << 10))
    with pytest.raises(PackInvalid, match="plain file"):
        read_rules(folder)


def test_rules_that_are_equal_have_one_digest(tmp_path: Path) -> None:
    folder = rules_folder(tmp_path, "facts: []\n")
    first = read_rules(folder).digest
    assert first == read_rules(folder).digest
    (folder / "mine.yaml").write_text("facts: [] # other\n")
    assert first != read_rules(folder).digest


def test_rules_count_only_where_the_repository_is_trusted(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {"app.py": example("python")})
    places = Places.of_user(user_env(tmp_path / "home"))
    for is_trusted, names in ((False, []), (True, ["/orders"])):
        if is_trusted:
            give_trust(root, places, opens_secrets=False)
        session = RepoSession.open(Checkout.find(root, places))
        try:
            folder = session.checkout.state.surfaces
            folder.mkdir(exist_ok=True)
            (folder / "mine.yaml").write_text(example("yaml"))
            session.index.refresh()
            with session.index.snapshot() as snapshot:
                heed_surface_rules(session.checkout, snapshot)
                assert [one.route for one in endpoints_of(snapshot).endpoints] == names
        finally:
            session.close()


def test_wrong_rules_fail_only_who_asks_for_surfaces(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {"app.py": "def f(): ..."})
    places = Places.of_user(user_env(tmp_path / "home"))
    give_trust(root, places, opens_secrets=False)
    session = RepoSession.open(Checkout.find(root, places))
    try:
        session.checkout.state.surfaces.mkdir()
        (session.checkout.state.surfaces / "mine.yaml").write_text("facts: 1")
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            heed_surface_rules(session.checkout, snapshot)
            assert snapshot.definitions("f")
            with pytest.raises(PackInvalid, match=r"mine\.yaml:1"):
                endpoints_of(snapshot)
    finally:
        session.close()
