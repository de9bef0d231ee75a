"""Every form in which a framework's routes are written: one file a framework under `cases`, one block a form.

A block is `# name`, files after `--- path`, and the endpoints after `=>`: method, route, handler, and how it
is mounted if not always. `=> dynamic N` is the number of routes that can't be composed.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.exclusion import is_of_tests
from tests.drive import new_repo, user_env

CASES = Path(__file__).parent / "cases"
FEWEST = 10


def _blocks(path: Path) -> Iterator[tuple[str, str]]:
    for block in ("\n" + path.read_text()).split("\n# ")[1:]:
        name, _, body = block.partition("\n")
        yield name, body


def _parse_block(body: str) -> tuple[dict[str, str], list[str]]:
    files: dict[str, str] = {}
    expected: list[str] = []
    path = ""
    for line in body.splitlines():
        if line.startswith("--- "):
            path = line[4:]
            files[path] = ""
        elif line.startswith("=> "):
            expected.append(line[3:])
        elif path and not expected:
            files[path] += f"{line}\n"
    return files, expected


def rendered_surface(session: RepoSession, files: dict[str, str]) -> list[str]:
    contents = {RepoPath(path): text.encode() for path, text in files.items()}
    with session.index.overlay(contents) as (_, code):
        surface = endpoints_of(code)
        rows = []
        for endpoint in surface.endpoints:
            if is_of_tests(code, endpoint):
                continue
            handler = code.qualified(endpoint.handler) if endpoint.handler else "-"
            mounted = "" if endpoint.mounted == "always" else f" ({endpoint.mounted})"
            rows.append(f"{endpoint.method} {endpoint.route} {handler}{mounted}")
        dynamic = sum(surface.dynamic.values())
        return rows + ([f"dynamic {dynamic}"] if dynamic else [])


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RepoSession]:
    """An empty repository; each form is laid over it."""
    tmp_path = tmp_path_factory.mktemp("forms")
    root = new_repo(tmp_path / "repo", {"README": ""})
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    session.index.refresh()
    yield session
    session.close()


ALL = [(path.stem, name, body) for path in sorted(CASES.glob("*.txt")) for name, body in _blocks(path)]


@pytest.mark.parametrize(
    "body", [body for _, _, body in ALL], ids=[f"{framework}: {name}" for framework, name, _ in ALL]
)
def test_a_form_gives_its_endpoints(session: RepoSession, body: str) -> None:
    files, expected = _parse_block(body)
    assert sorted(rendered_surface(session, files)) == sorted(expected)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.txt")), ids=lambda path: path.stem)
def test_a_framework_has_enough_forms(path: Path) -> None:
    assert len(list(_blocks(path))) >= FEWEST
