"""Tests that a change concerns by more than imports: references, fixtures, data files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.graph.tests.by_coverage import Learnt, Record, Shape
from codeplane.graph.tests.impact import Impact, Known, affected_tests
from codeplane.graph.tests.uncovered import uncovered
from tests.tools.repo import Repo

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n    def add(self, item): ...\n\n    def drop(self, item): ...\n\n\n"
        "def total(cart): ...\n\n\ndef tax(cart):\n    return total(cart)\n\n\nRATE = tax\n"
    ),
    "tests/test_total.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([])\n",
    "tests/test_tax.py": (
        "from shop import cart\n\n\nclass TestTax:\n    def test_it(self):\n        cart.tax([])\n"
    ),
    "tests/test_add.py": "from shop.cart import Cart\n\n\ndef test_add():\n    Cart().add(1)\n",
}


@contextmanager
def repo_of(base: Path, files: Mapping[str, str]) -> Iterator[Repo]:
    made = Repo(base, files)
    try:
        yield made
    finally:
        made.session.close()


def impact(repo: Repo, *paths: str, definitions: Mapping[str, tuple[str, ...]] | None = None) -> Impact:
    repo.session.index.refresh()
    with repo.session.index.snapshot() as snapshot:
        numbers = {
            RepoPath(path): {snapshot.symbol(f"{path}:{name}").position for name in names}
            for path, names in (definitions or {}).items()
        }
        return affected_tests(snapshot, [RepoPath(path) for path in paths], Known(numbers))


def told(found: Impact) -> list[str]:
    return [one.told for one in found.tests]


def test_tests_that_reach_the_changed_function_come_first_and_no_other_is_dropped(tmp_path: Path) -> None:
    with repo_of(tmp_path, SHOP) as repo:
        found = impact(repo, "shop/cart.py", definitions={"shop/cart.py": ("total",)})
        assert told(found) == [
            "high exact tests/test_tax.py reaches",
            "high exact tests/test_total.py reaches",
            "high exact tests/test_add.py",
        ]
        assert found.confidence == "complete"
        found = impact(repo, "shop/cart.py", definitions={"shop/cart.py": ("Cart.add",)})
        assert told(found)[0] == "high exact tests/test_add.py reaches"
        assert [one.reaches for one in found.tests] == [True, False, False]


def test_a_method_that_the_language_calls_is_reached_through_its_class(tmp_path: Path) -> None:
    files = {
        **SHOP,
        "shop/cart.py": "class Cart:\n    def __len__(self):\n        return 1\n\n\ndef other(): ...\n",
        "tests/test_tax.py": "from shop.cart import other\n\n\ndef test_it():\n    other()\n",
        "tests/test_total.py": "import shop.cart\n\n\ndef test_it(): ...\n",
    }
    with repo_of(tmp_path, files) as repo:
        found = impact(repo, "shop/cart.py", definitions={"shop/cart.py": ("Cart.__len__",)})
        assert [one.path for one in found.tests if one.reaches] == ["tests/test_add.py"]


def test_parameters_that_another_file_gives_a_test_lead_to_it(tmp_path: Path) -> None:
    files = {
        "shop/cases.py": "def make():\n    return [1]\n\n\nCASES = make()\n",
        "shop/other.py": "X = 1\n",
        "tests/test_cases.py": (
            "import pytest\n\nfrom shop.cases import CASES\n\n\n"
            '@pytest.mark.parametrize("one", CASES)\ndef test_one(one): ...\n'
        ),
        "tests/test_no_use.py": "import shop.cases\n\n\ndef test_two(): ...\n",
    }
    with repo_of(tmp_path, files) as repo:
        found = impact(repo, "shop/cases.py", definitions={"shop/cases.py": ("make",)})
        assert told(found) == ["high exact tests/test_cases.py reaches", "high exact tests/test_no_use.py"]


FIXTURES = {
    "shop/cart.py": "class Cart: ...\n",
    "shop/other.py": "class Other: ...\n",
    "tests/conftest.py": (
        "import pytest\n\nfrom shop.cart import Cart\n\n\n"
        "@pytest.fixture\ndef cart():\n    return Cart()\n\n\n"
        '@pytest.fixture(name="full")\ndef _full(cart):\n    return cart\n'
    ),
    "tests/test_asks.py": "def test_a(cart): ...\n",
    "tests/test_deep.py": "def test_b(full): ...\n",
    "tests/test_words.py": 'import pytest\n\n\n@pytest.mark.usefixtures("cart")\ndef test_c(): ...\n',
    "tests/test_none.py": "def test_d(tmp_path): ...\n",
}


def test_a_test_gets_what_changed_through_a_fixture(tmp_path: Path) -> None:
    with repo_of(tmp_path, FIXTURES) as repo:
        assert told(impact(repo, "shop/cart.py")) == [
            "low fixture tests/test_asks.py",
            "low fixture tests/test_deep.py",
            "low fixture tests/test_words.py",
        ]
        assert told(impact(repo, "shop/other.py")) == []
        found = impact(repo, "shop/cart.py", definitions={"shop/cart.py": ("Cart",)})
        assert [one.path for one in found.tests if one.reaches] == [
            "tests/test_asks.py",
            "tests/test_deep.py",
            "tests/test_words.py",
        ]


@pytest.mark.parametrize("mark", ["@pytest.fixture(autouse=True)\ndef always", "def pytest_sessionstart"])
def test_a_fixture_for_all_concerns_every_test_below_and_none_beside(tmp_path: Path, mark: str) -> None:
    text = f"import pytest\n\nfrom shop.cart import Cart\n\n\n{mark}():\n    Cart()\n"
    files = {**FIXTURES, "tests/conftest.py": "", "tests/deep/conftest.py": text}
    files["tests/deep/test_below.py"] = "def test_e(): ...\n"
    with repo_of(tmp_path, files) as repo:
        assert told(impact(repo, "shop/cart.py")) == ["low fixture tests/deep/test_below.py"]


def test_a_changed_shared_file_concerns_all_tests_below(tmp_path: Path) -> None:
    with repo_of(tmp_path, FIXTURES) as repo:
        found = [one.path for one in impact(repo, "tests/conftest.py").tests]
        assert found == [f"tests/test_{name}.py" for name in ("asks", "deep", "none", "words")]


def test_fixtures_of_a_plugin_are_those_of_the_file_that_names_it(tmp_path: Path) -> None:
    files = {
        **FIXTURES,
        "tests/__init__.py": "",
        "tests/conftest.py": 'pytest_plugins = ["tests.plugin"]\n',
        "tests/plugin.py": FIXTURES["tests/conftest.py"],
    }
    with repo_of(tmp_path, files) as repo:
        paths = [one.path for one in impact(repo, "shop/cart.py").tests]
        assert paths == ["tests/test_asks.py", "tests/test_deep.py", "tests/test_words.py"]


DATA = {
    "tests/data/in.json": "{}\n",
    "tests/data/deep/case.toml": "a = 1\n",
    "tests/data/free.bin.txt": "x\n",
    "tests/other/in.json": "{}\n",
    "tests/test_named.py": 'def test_a():\n    open("tests/data/in.json")\n',
    "tests/test_other.py": 'def test_b():\n    open("other/in.json")\n',
    "tests/test_directory.py": 'import glob\n\n\ndef test_c():\n    glob.glob("deep/*")\n    "deep"\n',
    "tests/helper.py": 'def load():\n    return open("free.bin.txt")\n',
    "tests/test_helped.py": "from tests.helper import load\n\n\ndef test_d():\n    load()\n",
    "tests/__init__.py": "",
    "docs/note.txt": "x\n",
}


def test_a_data_file_concerns_the_tests_that_name_it(tmp_path: Path) -> None:
    with repo_of(tmp_path, DATA) as repo:
        found = impact(repo, "tests/data/in.json")
        assert (told(found), found.confidence) == (["low data tests/test_named.py"], "complete")
        assert told(impact(repo, "tests/other/in.json")) == ["low data tests/test_other.py"]
        assert told(impact(repo, "tests/data/deep/case.toml")) == ["low data tests/test_directory.py"]
        assert told(impact(repo, "tests/data/free.bin.txt")) == ["low data tests/test_helped.py"]


def test_a_file_that_nothing_names_is_told(tmp_path: Path) -> None:
    with repo_of(tmp_path, DATA) as repo:
        found = impact(repo, "docs/note.txt")
        assert (told(found), found.nameless_files, found.confidence) == ([], ["docs/note.txt"], "partial")


def test_other_languages_are_followed_by_their_links(tmp_path: Path) -> None:
    files = {
        "go.mod": "module example.com/shop\n\ngo 1.22\n",
        "cart/cart.go": "package cart\n\nfunc Add() int { return 1 }\n\nfunc Drop() int { return 2 }\n",
        "till/till.go": (
            'package till\n\nimport "example.com/shop/cart"\n\nfunc Pay() int { return cart.Add() }\n'
        ),
        "till/till_test.go": 'package till\n\nimport "testing"\n\nfunc TestPay(t *testing.T) { Pay() }\n',
    }
    with repo_of(tmp_path, files) as repo:
        found = impact(repo, "till/till.go", definitions={"cart/cart.go": ("Add",)})
        assert told(found) == ["high exact till/till_test.go reaches"]
        found = impact(repo, "cart/cart.go", definitions={"cart/cart.go": ("Drop",)})
        assert not any(one.reaches for one in found.tests)


GO = {
    "go.mod": "module example.com/shop\n\ngo 1.22\n",
    "cart/cart.go": "package cart\n\nfunc Add() int { return 1 }\n",
    "till/till.go": 'package till\n\nimport "example.com/shop/cart"\n\nfunc Pay() { cart.Add() }\n',
    "till/till_test.go": 'package till\n\nimport "testing"\n\nfunc TestPay(t *testing.T) { Pay() }\n',
    "till/more_test.go": 'package till_test\n\nimport "testing"\n\nfunc TestMore(t *testing.T) {}\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "mod cart;\nmod till;\nmod other;\n\nfn half() -> i32 { cart::add() }\n\n"
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn halves() { super::half(); }\n}\n"
    ),
    "src/cart.rs": "pub fn add() -> i32 { 1 }\n",
    "src/till.rs": (
        "pub fn pay() -> i32 { crate::cart::add() }\n\n#[test]\nfn pays() { assert_eq!(pay(), 1); }\n"
    ),
    "src/other.rs": "#[test]\nfn alone() {}\n",
}
JAVA = {
    "src/main/java/shop/Cart.java": "package shop;\n\nclass Cart {\n  int add() { return 1; }\n}\n",
    "src/main/java/shop/Till.java": (
        "package shop;\n\npublic class Till {\n  public int pay() { return new Cart().add(); }\n}\n"
    ),
    "src/main/java/shop/Other.java": "package shop;\n\npublic class Other {}\n",
    "src/test/java/checks/TillTest.java": (
        "package checks;\n\nimport shop.Till;\nimport org.junit.Test;\n\npublic class TillTest {\n"
        "  @Test public void pays() { new Till().pay(); }\n}\n"
    ),
    "src/test/java/checks/OtherTest.java": (
        "package checks;\n\nimport shop.Other;\nimport org.junit.Test;\n\npublic class OtherTest {\n"
        "  @Test public void is() { new Other(); }\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        (GO, "cart/cart.go", ["low chain:2 till/till_test.go"]),
        (RUST, "src/cart.rs", ["high exact src/lib.rs", "high exact src/till.rs"]),
        (JAVA, "src/main/java/shop/Cart.java", ["low chain:2 src/test/java/checks/TillTest.java"]),
    ],
    ids=["a test of the package", "a module by its path", "a class of the package"],
)
def test_what_is_used_without_an_import_leads_on(
    tmp_path: Path, files: Mapping[str, str], changed: str, expected: list[str]
) -> None:
    with repo_of(tmp_path, files) as repo:
        found = impact(repo, changed)
        assert (told(found), found.confidence) == (expected, "complete")


def test_modules_that_no_test_imports_are_uncovered(tmp_path: Path) -> None:
    files = {
        "shop/__init__.py": "from shop.cart import Cart\n\nNAME = 'shop'\n",
        "shop/cart.py": "from shop.till import pay\n\n\nclass Cart: ...\n",
        "shop/till.py": "def pay(): ...\n",
        "shop/part.py": "def part(): ...\n",
        "shop/given.py": "def given(): ...\n",
        "shop/nothing.py": "",
        "tests/conftest.py": "from shop.given import given\n",
        "tests/test_shop.py": "import shop\n\n\ndef test_it(): ...\n",
        "tools/run.sh": "echo\n",
    }
    with repo_of(tmp_path, files) as repo:
        repo.session.index.refresh()
        with repo.session.index.snapshot() as snapshot:
            assert uncovered(snapshot) == ["shop/part.py", "shop/till.py"]
            shape = Shape(RepoPath("shop/part.py"), "", ())
            learnt = Learnt({1: shape}, {"tests/test_shop.py::test_it": Record({1: frozenset((0,))})})
            assert uncovered(snapshot, learnt) == ["shop/till.py"]


def test_tests_of_what_is_built_make_the_list_partial(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "shop", "exports": {".": "./dist/index.js"}}',
        "src/index.ts": "export function total(): number {\n  return 1;\n}\n",
        "dist/index.js": "export function total() {\n  return 1;\n}\n",
        "test/total.test.ts": 'import { total } from "shop";\n\ntest("total", () => total());\n',
        "test/near.test.ts": 'import { total } from "../src/index";\n\ntest("near", () => total());\n',
    }
    with repo_of(tmp_path, files) as repo:
        found = impact(repo, "src/index.ts")
        assert told(found) == ["high exact test/near.test.ts"]
        assert found.told == "partial: 1 test files import build output, whose source is unknown"
