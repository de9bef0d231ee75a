"""Which tests a changed file concerns, by what the tests import."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.graph.impact import Impact, affected_tests
from tests.tools.repo import Repo

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": "class Cart: ...\n",
    "shop/deep/__init__.py": "",
    "shop/deep/part.py": "def part(): ...\n",
    "tests/test_direct.py": "from shop.cart import Cart\n\n\ndef test_a(): ...\n",
    "tests/test_passed_on.py": "from shop import Cart\n\n\ndef test_b(): ...\n",
    "tests/test_package.py": "import shop\n\n\ndef test_c(): ...\n",
    "tests/test_part.py": "from shop.deep import part\n\n\ndef test_d(): ...\n",
    "tests/test_other.py": "import os\n\n\ndef test_e(): ...\n",
    "README.md": "# Shop\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, FILES)
    yield made
    made.session.close()


def impact(repo: Repo, *paths: str) -> Impact:
    repo.session.index.refresh()
    with repo.session.index.snapshot() as snapshot:
        return affected_tests(snapshot, [RepoPath(path) for path in paths])


def told(found: Impact) -> list[str]:
    return [f"{one.confidence} {one.match} {one.path}" for one in found.tests]


def test_imports_lead_to_the_file_through_what_passes_it_on(repo: Repo) -> None:
    found = impact(repo, "shop/cart.py")
    assert told(found) == [
        "high exact tests/test_direct.py",
        "high exact tests/test_passed_on.py",
        "low parent tests/test_package.py",
    ]
    assert found.confidence == "complete"


def test_a_changed_package_concerns_tests_of_what_is_inside(repo: Repo) -> None:
    assert told(impact(repo, "shop/__init__.py")) == [
        "high exact tests/test_package.py",
        "low child tests/test_direct.py",
        "low child tests/test_part.py",
        "low child tests/test_passed_on.py",
    ]


def test_a_test_that_was_changed_concerns_itself(repo: Repo) -> None:
    assert told(impact(repo, "tests/test_other.py")) == ["high exact tests/test_other.py"]


def test_what_cannot_be_followed_makes_the_answer_partial(repo: Repo) -> None:
    found = impact(repo, "README.md", "shop/cart.py")
    assert (found.confidence, found.unresolved) == ("partial", ["README.md"])
    repo.write("tests/test_late.py", "import importlib\n\n\ndef test_f(n):\n    importlib.import_module(n)\n")
    assert impact(repo, "shop/cart.py").reasons == ["1 test files import by names made at run time"]


def test_nothing_changed_concerns_nobody(repo: Repo) -> None:
    found = impact(repo)
    assert (found.tests, found.confidence) == ((), "complete")


def test_a_name_like_that_of_a_test_makes_no_test_outside_of_their_places(repo: Repo) -> None:
    repo.write(
        "shop/client.py", "from shop.cart import Cart\n\n\nclass App:\n    def test_client(self): ...\n"
    )
    assert "shop/client.py" not in " ".join(told(impact(repo, "shop/cart.py")))
