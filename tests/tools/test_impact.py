"""Which tests a changed file concerns, by what the tests import."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.graph.tests.impact import Impact, affected_tests
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
    return [one.told for one in found.tests]


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


def test_a_dotted_import_brings_the_module_at_its_end(repo: Repo) -> None:
    repo.write("tests/test_dotted.py", "import shop.deep.part\n\n\ndef test_it(): ...\n")
    assert "high exact tests/test_dotted.py" in told(impact(repo, "shop/deep/part.py"))


def test_a_package_that_does_not_pass_the_file_on_says_nothing(repo: Repo) -> None:
    assert told(impact(repo, "shop/deep/part.py")) == ["high exact tests/test_part.py"]


def test_chains_of_imports_are_followed_with_their_length(repo: Repo) -> None:
    repo.write("shop/till.py", "from shop.cart import Cart\n\n\ndef pay(): ...\n")
    repo.write("shop/page.py", "from shop.till import pay\n\n\ndef page(): ...\n")
    repo.write("shop/site.py", "from shop.page import page\n\n\ndef site(): ...\n")
    for name in ("till", "page", "site"):
        repo.write(f"tests/test_{name}.py", f"from shop import {name}\n\n\ndef test_it(): ...\n")
    found = impact(repo, "shop/cart.py")
    chains = [
        "low chain:2 tests/test_till.py",
        "low chain:3 tests/test_page.py",
        "low chain:4 tests/test_site.py",
    ]
    assert told(found)[3:] == chains
    assert [one.module for one in found.tests][3:] == ["shop.till", "shop.page", "shop.site"]
    assert told(impact(repo, "shop/page.py")) == [
        "high exact tests/test_page.py",
        "low chain:2 tests/test_site.py",
    ]


def test_a_chain_that_is_too_long_is_said_to_be(repo: Repo) -> None:
    repo.write("shop/n0.py", "from shop.deep.part import part\n\n\ndef it(): ...\n")
    for number in range(1, 7):
        repo.write(f"shop/n{number}.py", f"from shop.n{number - 1} import it\n\n\ndef it{number}(): ...\n")
    assert impact(repo, "shop/deep/part.py").confidence == "complete"  # `it` is always that of the first
    for number in range(1, 7):
        text = f"import shop.n{number - 1}\n\n\ndef it{number}(): ...\n"
        repo.write(f"shop/n{number}.py", text)
    assert impact(repo, "shop/deep/part.py").reasons == ["chains of more than 5 imports are not followed"]
    repo.write("tests/test_n3.py", "import shop.n3\n\n\ndef test_it(): ...\n")
    repo.write("tests/test_n4.py", "import shop.n4\n\n\ndef test_it(): ...\n")
    assert told(impact(repo, "shop/deep/part.py"))[1:] == ["low chain:5 tests/test_n3.py"]


def test_imports_in_a_circle_come_to_an_end(repo: Repo) -> None:
    repo.write("shop/cart.py", "import shop.till\n\n\nclass Cart: ...\n")
    repo.write("shop/till.py", "import shop.cart\n\n\ndef pay(): ...\n")
    repo.write("tests/test_till.py", "from shop.till import pay\n\n\ndef test_it(): ...\n")
    assert "low chain:2 tests/test_till.py" in told(impact(repo, "shop/cart.py"))


def test_what_many_tests_import_does_not_lead_to_all_of_them(repo: Repo) -> None:
    repo.write("shop/help.py", "from shop.cart import Cart\n\n\ndef help(): ...\n")
    repo.write("shop/till.py", "from shop.cart import Cart\n\n\ndef pay(): ...\n")
    for number in range(30):
        repo.write(f"tests/test_n{number}.py", "from shop.help import help\n\n\ndef test_it(): ...\n")
    repo.write("tests/test_till.py", "from shop.till import pay\n\n\ndef test_it(): ...\n")
    found = impact(repo, "shop/cart.py")
    assert told(found)[3:] == ["low chain:2 tests/test_till.py"] and found.confidence == "partial"
    [reason] = found.reasons
    assert reason.startswith("tests that only reach it through shop/help.py are not listed")


def test_a_crowd_of_weak_matches_is_counted_and_not_listed(repo: Repo) -> None:
    for number in range(30):
        repo.write(f"shop/m{number}.py", "from shop.deep.part import part\n\n\ndef it(): ...\n")
        test = f"from shop.m{number} import it\n\n\ndef test_it(): ...\n"
        repo.write(f"tests/test_n{number}.py", test)
    found = impact(repo, "shop/deep/part.py")
    assert told(found) == ["high exact tests/test_part.py"]
    assert found.reasons == ["30 tests that are 2 or more imports away are not listed"]


def test_tests_of_the_same_package_need_no_import(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/shop\n",
        "cart/cart.go": "package cart\n\nfunc Add() int { return 1 }\n",
        "cart/other.go": "package cart\n\nfunc Other() int { return 1 }\n",
        "cart/cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { Add() }\n',
    }
    repo = Repo(tmp_path, files)
    try:
        assert told(impact(repo, "cart/cart.go")) == ["high exact cart/cart_test.go"]
        assert told(impact(repo, "cart/other.go")) == ["low parent cart/cart_test.go"]
    finally:
        repo.session.close()


def test_a_test_that_was_changed_concerns_itself(repo: Repo) -> None:
    assert told(impact(repo, "tests/test_other.py")) == ["high exact tests/test_other.py"]


def test_what_cannot_be_followed_makes_the_answer_partial(repo: Repo) -> None:
    found = impact(repo, "README.md", "shop/cart.py")
    assert (found.confidence, found.nameless_files) == ("partial", ["README.md"])
    repo.write("tests/test_late.py", "import importlib\n\n\ndef test_f(n):\n    importlib.import_module(n)\n")
    assert impact(repo, "shop/cart.py").reasons == ["1 test files import by names computed at run time"]


def test_nothing_changed_concerns_nobody(repo: Repo) -> None:
    found = impact(repo)
    assert (found.tests, found.confidence) == ((), "complete")


def test_a_name_like_that_of_a_test_makes_no_test_outside_of_their_places(repo: Repo) -> None:
    repo.write(
        "shop/client.py", "from shop.cart import Cart\n\n\nclass App:\n    def test_client(self): ...\n"
    )
    assert "shop/client.py" not in " ".join(told(impact(repo, "shop/cart.py")))


def test_a_stub_beside_the_source_does_not_hide_it(repo: Repo) -> None:
    repo.write("shop/deep/part.pyi", "def part() -> None: ...\n")
    repo.write("tests/test_inner.py", "from shop.deep.part import part\n\n\ndef test_it(): ...\n")
    found = ["high exact tests/test_inner.py", "high exact tests/test_part.py"]
    assert told(impact(repo, "shop/deep/part.py")) == found
    assert told(impact(repo, "shop/deep/part.pyi")) == found


UTILS = "LIMIT = 3\n\n\ndef cut(x):\n    return x[:2]\n\n\ndef join(x):\n    return ' '.join(x)\n"


def many_tests() -> dict[str, str]:
    """Twenty tests that import one module; two of them reach `cut`, one over another module."""
    files = {
        f"tests/test_{n}.py": "from pkg.utils import join\n\n\ndef test_it():\n    assert join(['a'])\n"
        for n in range(18)
    }
    return {
        **files,
        "pkg/__init__.py": "",
        "pkg/utils.py": UTILS,
        "pkg/more.py": "",
        "pkg/user.py": "from pkg.utils import cut\n\n\ndef short(x):\n    return cut(x)\n",
        "tests/test_cut.py": "from pkg.utils import cut\n\n\ndef test_cut():\n    assert cut('ab')\n",
        "tests/test_user.py": "from pkg.user import short\n\n\ndef test_user():\n    assert short('ab')\n",
        "tests/test_load.py": "import pkg.user\n\n\ndef test_load():\n    assert pkg.user\n",
    }


def chosen(repo: Repo) -> tuple[list[str], str]:
    found = repo.result("discover_test_targets", affected_by="changes")
    return sorted(one.split()[1] for one in found["targets"]), found["impact"]


def test_a_changed_function_chooses_the_tests_that_reach_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path, many_tests())
    repo.write("pkg/utils.py", UTILS.replace("x[:2]", "x[:3]"))
    tests, told = chosen(repo)
    assert tests == ["tests/test_cut.py", "tests/test_user.py"]
    assert told.startswith("partial: 19 test files that import it, or reach it indirectly, are not listed")


def test_a_moved_function_chooses_the_tests_that_reach_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path, many_tests())
    repo.result("refactor_move", symbol="pkg.utils.cut", to="pkg/more.py")
    assert "def cut" in (repo.root / "pkg/more.py").read_text()
    tests, _ = chosen(repo)
    assert tests == ["tests/test_cut.py", "tests/test_user.py"]


def test_a_change_outside_of_definitions_chooses_all_that_import_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path, many_tests())
    repo.write("pkg/utils.py", "print('loaded')\n" + UTILS.replace("x[:2]", "x[:3]"))
    assert len(chosen(repo)[0]) == 21


def test_a_function_that_no_test_is_known_to_reach_chooses_all_that_import_it(tmp_path: Path) -> None:
    code = "ALL = []\n\n\ndef handler(f):\n    ALL.append(f)\n\n\n@handler\ndef on_load():\n    return 1\n"
    repo = Repo(tmp_path, {**many_tests(), "pkg/utils.py": UTILS + "\n\n" + code})
    repo.write("pkg/utils.py", UTILS + "\n\n" + code.replace("return 1", "return 2"))
    assert len(chosen(repo)[0]) == 21


def test_a_file_that_is_only_named_chooses_all_that_import_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path, many_tests())
    found = repo.result("discover_test_targets", affected_by=["pkg/utils.py"])
    assert found["total"] == 21
