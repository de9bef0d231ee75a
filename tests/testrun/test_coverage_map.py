"""What a run under coverage shows about tests, and what is chosen by it after a change."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from codeplane.core.paths import RepoPath
from codeplane.graph.tests.by_coverage import Learnt, Parts, parts_of
from codeplane.graph.tests.impact import Definitions, Impact, Known, affected_tests
from codeplane.names.snapshot_tree import SnapshotTree
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun.coverage_map import CoverageMap
from codeplane.testrun.discover import discover
from codeplane.testrun.run import Options, Watch, Where, run
from codeplane.testrun.runners._lines import LEARNT
from tests.testrun.project import search_path
from tests.tools.repo import Repo

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "shop/__init__.py": "",
    "shop/cart.py": (
        "def add(a, b):\n    return a + b\n\n\n"
        "def double(a):\n    def twice():\n        return add(a, a)\n\n    return twice()\n\n\n"
        "def drop(a):\n    return a - 1\n\n\ndef made():\n    return [1, 2]\n"
    ),
    "shop/table.py": "from shop.cart import made\n\nTABLE = made()\n",
    "shop/hidden.py": "def quiet():\n    return 1\n",
    "tests/data.txt": "4\n",
    "tests/conftest.py": (
        "import pytest\n\nfrom shop.cart import drop\n\n\n"
        '@pytest.fixture(scope="session")\ndef less():\n    return drop(3)\n'
    ),
    "tests/test_cart.py": (
        "from shop import cart\n\n\ndef test_add():\n    assert cart.add(1, 2) == 3\n\n\n"
        "class TestDouble:\n    def test_it(self):\n        assert cart.double(2) == 4\n\n\n"
        "def test_drop():\n    assert cart.drop(2) == 1\n"
    ),
    "tests/test_less.py": (
        "def test_first(less):\n    assert less == 2\n\n\ndef test_second(less):\n    assert less == 2\n\n\n"
        "def test_neither():\n    pass\n"
    ),
    "tests/test_table.py": "from shop.table import TABLE\n\n\ndef test_table():\n    assert TABLE\n",
    "tests/test_hidden.py": (
        'import importlib\n\n\ndef test_quiet():\n    name = "hid" + "den"\n'
        '    assert importlib.import_module("shop." + name).quiet() == 1\n'
    ),
    "tests/test_data.py": (
        "import pathlib\n\n\ndef test_data():\n"
        '    assert pathlib.Path(__file__).with_suffix("").with_name("data.txt").read_text()\n'
    ),
    "tests/test_program.py": (
        "import subprocess, sys\n\nimport shop.cart\n\n\ndef test_program():\n"
        '    subprocess.run([sys.executable, "-c", "pass"], check=True)\n'
    ),
}


class Learner:
    """A repository whose tests are run under coverage."""

    def __init__(self, base: Path, files: Mapping[str, str] = FILES) -> None:
        self.repo = Repo(base, files)
        self._base, self._runs = base, 0

    @property
    def map(self) -> CoverageMap:
        return self.repo.session.coverage_map

    def learn(self, *only: str, failing: int = 0) -> int:
        index, root = self.repo.session.index, self.repo.root
        index.refresh()
        self._runs += 1
        scratch = self._base / f"reports{self._runs}"
        toolbox = Toolbox(Programs({"PATH": search_path(), "HOME": str(self._base)}), root)
        with index.snapshot() as snapshot:
            found = discover(SnapshotTree(snapshot), self.repo.session.checkout.settings.tests)
        targets = [one for one in found.targets if not only or one.path in only]
        report = run(
            targets,
            Where(root, toolbox, scratch),
            Options(2, 60, rerun_failures=False, coverage=(root,)),
            Watch(),
        )
        assert len(report.failures) == failing, report.failures
        with index.snapshot() as snapshot:
            return self.map.learn(snapshot, sorted(scratch.glob(f"*/{LEARNT}")))

    def impact(
        self, *paths: str, learnt: Learnt | None = None, definitions: Definitions = MappingProxyType({})
    ) -> Impact:
        self.repo.session.index.refresh()
        with self.repo.session.index.snapshot() as snapshot:
            known = Known(definitions, learnt or self.map.known())
            return affected_tests(snapshot, [RepoPath(path) for path in paths], known)

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.repo.root / path).read_text()
        assert old in text
        self.repo.write(path, text.replace(old, new))


def names(found: Impact) -> dict[str, tuple[str, ...]]:
    return {one.path.removeprefix("tests/test_").removesuffix(".py"): one.names for one in found.tests}


@pytest.fixture(scope="module")
def learnt_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learner]:
    """One run for all tests that put back what they change."""
    made = Learner(tmp_path_factory.mktemp("learnt"))
    made.learn()
    yield made
    made.repo.session.close()


@pytest.fixture
def learner(learnt_once: Learner) -> Iterator[Learner]:
    yield learnt_once
    for path, text in FILES.items():
        learnt_once.repo.write(path, text)


def test_only_tests_that_have_run_the_changed_function_are_chosen(learner: Learner) -> None:
    learner.change("shop/cart.py", "return a + b", "return b + a")
    found = learner.impact("shop/cart.py")
    assert names(found) == {"cart": ("TestDouble::test_it", "test_add"), "program": ()}
    assert found.confidence == "partial"  # a test imports by a name made at run time
    assert found.skip_count == 5 and "5 tests are left out" in found.told


def test_another_order_of_functions_concerns_all_who_import_the_file(learner: Learner) -> None:
    add = "def add(a, b):\n    return a + b\n\n\n"
    learner.change("shop/cart.py", add, "")
    learner.change("shop/cart.py", "def made()", f"{add}def made()")
    assert set(names(learner.impact("shop/cart.py"))) == {"cart", "less", "program", "table"}


def test_lines_above_a_function_do_not_change_it(learner: Learner) -> None:
    learner.change("shop/cart.py", "return a + b", "c = b\n    return a + c")
    assert "test_drop" not in names(learner.impact("shop/cart.py"))["cart"]


def test_a_function_that_begins_with_another_is_told_from_it(learner: Learner) -> None:
    learner.change("shop/cart.py", "return twice()", "return twice() + 0")
    assert names(learner.impact("shop/cart.py"))["cart"] == ("TestDouble::test_it",)


def test_a_fixture_that_tests_share_counts_for_each_of_them(learner: Learner) -> None:
    learner.change("shop/cart.py", "return a - 1", "return a - 2")
    found = names(learner.impact("shop/cart.py"))
    assert found == {"cart": ("test_drop",), "less": ("test_first", "test_second"), "program": ()}


def test_what_an_import_runs_concerns_those_who_import_it(learner: Learner) -> None:
    learner.change("shop/cart.py", "return [1, 2]", "return [2]")
    assert names(learner.impact("shop/cart.py")) == {"table": (), "program": ()}


def test_what_no_import_shows_is_found_by_what_was_run(learner: Learner) -> None:
    learner.change("shop/hidden.py", "return 1", "return 2")
    found = learner.impact("shop/hidden.py")
    assert [one.told for one in found.tests] == ["high run tests/test_hidden.py 1 tests"]


def test_a_file_that_a_test_has_read_concerns_it(learner: Learner) -> None:
    learner.repo.write("tests/data.txt", "5\n")
    learner.change("tests/test_data.py", '"data.txt"', '"data" ".txt"')  # its name is nowhere now
    learner.repo.session.index.refresh()
    assert "data" in names(learner.impact("tests/data.txt"))


def test_content_that_is_yet_to_be_changed_counts_as_a_whole(learner: Learner) -> None:
    assert names(learner.impact("shop/cart.py")) == dict.fromkeys(("cart", "less", "program", "table"), ())


def test_a_test_that_differs_since_its_run_is_not_left_out(learner: Learner) -> None:
    learner.change("tests/test_cart.py", "cart.drop(2) == 1", "cart.add(2, -1) == 1")
    learner.change("shop/cart.py", "return a + b", "return b + a")
    assert names(learner.impact("shop/cart.py"))["cart"] == ()


def test_a_record_that_is_behind_only_adds(learner: Learner) -> None:
    learner.change("shop/cart.py", "return add(a, a)", "return drop(a)")
    learner.repo.session.index.refresh()
    learner.change("shop/hidden.py", "return 1", "return 2")
    # What TestDouble runs now is not known: it is not left out of what leads to the other file.
    found = learner.impact("shop/hidden.py")
    assert "hidden" in names(found)
    learner.change("shop/cart.py", "return a - 1", "return a - 2")
    assert "TestDouble::test_it" in names(learner.impact("shop/cart.py"))["cart"]


def test_what_is_learnt_later_takes_the_place_of_what_was_known(tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    try:
        assert learner.learn() == 10
        learner.change("tests/test_cart.py", "cart.drop(2) == 1", "cart.add(2, -1) == 1")
        assert learner.learn("tests/test_cart.py") == 3
        learner.change("shop/cart.py", "return a - 1", "return a - 2")
        assert "cart" not in names(learner.impact("shop/cart.py"))
        (learner.repo.root / "tests/test_table.py").unlink()
        learner.learn("tests/test_data.py")
        assert not any("test_table" in test for test in learner.map.known().tests)
    finally:
        learner.repo.session.close()


def test_a_test_that_failed_in_the_run_is_not_left_out_by_it(tmp_path: Path) -> None:
    learner = Learner(tmp_path)
    try:
        learner.change("shop/cart.py", "return a - 1", "return a - 2")
        learner.learn(failing=3)
        learner.change("shop/cart.py", "return a + b", "return b + a")
        found = names(learner.impact("shop/cart.py"))
        assert found["cart"] == ()
        assert found["less"] == ("test_first", "test_second")
        assert "less" not in names(learner.impact("shop/hidden.py"))
    finally:
        learner.repo.session.close()


def test_content_that_is_again_as_it_was_run_counts_as_a_whole(learner: Learner) -> None:
    with learner.repo.session.index.snapshot() as snapshot:
        drop = snapshot.symbol("shop.cart.drop").position
    # What else was put back, a statement outside of definitions maybe, is not known.
    found = learner.impact("shop/cart.py", definitions={RepoPath("shop/cart.py"): (drop,)})
    assert set(names(found)) == {"cart", "less", "program", "table"}


def test_reports_that_cannot_be_read_teach_nothing(learner: Learner, tmp_path: Path) -> None:
    for number, text in enumerate(("", "[]", "{}", '{"files": {}}', "\0")):
        (tmp_path / f"{number}.json").write_text(text)
    with learner.repo.session.index.snapshot() as snapshot:
        files = [*tmp_path.iterdir(), tmp_path / "none"]
        assert learner.map.learn(snapshot, files) == 0


def test_blocks_are_functions_without_those_inside(learner: Learner) -> None:
    text = (
        "import a\n\n\ndef outer():\n    x = 1\n\n    def inner():\n        return x\n\n    return inner\n"
        "\n\n"
        "class C:\n    y = 2\n\n    @property\n    def p(self):\n        return self.y\n"
    )
    learner.repo.write("shop/hidden.py", text)

    def parts() -> Parts:
        learner.repo.session.index.refresh()
        with learner.repo.session.index.snapshot() as snapshot:
            return parts_of(snapshot, RepoPath("shop/hidden.py"))

    before = parts()
    assert [block.name for block in before.blocks] == ["", "outer", "outer.inner", "C.p"]
    assert [before.of_line(line) for line in (1, 5, 8, 10, 13, 14, 18)] == [0, 1, 2, 1, 0, 0, 3]
    for old, new, changed in (
        ("return x", "return 1", "outer.inner"), ("x = 1", "x = 2", "outer"), ("y = 2", "y = 3", ""),
        ("self.y", "1", "C.p"), ("@property", "@cached_property", "C.p"),
    ):  # fmt: skip
        learner.repo.write("shop/hidden.py", text.replace(old, new))
        differ = [one.name for one, other in zip(before.blocks, parts().blocks, strict=True) if one != other]
        assert differ == [changed]
