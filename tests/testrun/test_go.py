"""`go test`, for real."""

from pathlib import Path

from codeplane.process import Finished, Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun import Ended, Place, Status
from codeplane.testrun.runners import RUNNERS
from tests.programs import needs
from tests.testrun.real import found_targets, run_tests, written

MODULE = {
    "go.mod": "module example.org/toy\n\ngo 1.18\n",
    "sum.go": "package toy\n\nfunc Sum(a, b int) int { return a + b }\n",
    "sum_test.go": (
        'package toy\n\nimport "testing"\n\n'
        "func TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal(1)\n\t}\n}\n\n"
        "func TestWrong(t *testing.T) {\n\tif got := Sum(2, 2); got != 5 {\n"
        '\t\tt.Errorf("got %d, not 5", got)\n\t}\n}\n\n'
        'func TestLater(t *testing.T) {\n\tt.Skip("later")\n}\n'
    ),
    "deep/list/list.go": "package list\n",
    "deep/list/list_test.go": (
        'package list\n\nimport "testing"\n\n'
        "func TestEach(t *testing.T) {\n"
        '\tt.Run("one", func(t *testing.T) {})\n'
        '\tt.Run("two", func(t *testing.T) { t.Error("no") })\n}\n\n'
        "func TestPanics(t *testing.T) {\n\tvar list []int\n\t_ = list[3]\n}\n"
    ),
    "broken/broken_test.go": 'package broken\n\nimport "testing"\n\nfunc TestIt(*testing.T) { missing() }\n',
}


def test_packages_are_targets(tmp_path: Path) -> None:
    targets = found_targets(RUNNERS["go"], written(tmp_path, MODULE))
    assert [(one.id, one.selector) for one in targets] == [
        (".", "."),
        ("broken", "./broken"),
        ("deep/list", "./deep/list"),
    ]


def test_a_module_inside_another_is_its_own(tmp_path: Path) -> None:
    files = {**MODULE, "tools/go.mod": "module example.org/tools\n", "tools/x_test.go": "package tools\n"}
    targets = found_targets(RUNNERS["go"], written(tmp_path, files))
    assert [(one.root, one.selector) for one in targets if one.path == "tools"] == [("tools", ".")]


def test_every_end_of_a_test_is_told(tmp_path: Path) -> None:
    needs("go")
    root = written(tmp_path / "repo", MODULE)
    cases = run_tests("go", root, tmp_path / "reports")
    assert cases[".::TestSum"].status is Status.PASSED
    assert cases[".::TestLater"].status is Status.SKIPPED
    wrong = cases[".::TestWrong"]
    assert (wrong.target, wrong.status, wrong.path, wrong.line) == (".", Status.FAILED, "sum_test.go", 13)
    assert wrong.message == "got 4, not 5"
    inner = cases["deep/list::TestEach/two"]
    assert (inner.target, inner.path, inner.message) == ("deep/list", "deep/list/list_test.go", "no")
    assert "deep/list::TestEach" not in cases  # its part is told, and it has nothing to add
    panic = cases["deep/list::TestPanics"]
    assert (panic.status, panic.kind, panic.path, panic.line) == (
        Status.ERROR,
        "panic",
        "deep/list/list_test.go",
        12,
    )
    assert "index out of range" in panic.message
    unbuilt = cases["broken"]
    assert (unbuilt.target, unbuilt.kind, unbuilt.path, unbuilt.line) == (
        "broken",
        "BuildFailed",
        "broken/broken_test.go",
        5,
    )
    assert "missing" in unbuilt.message


def test_single_tests_are_run_alone_with_their_parts(tmp_path: Path) -> None:
    needs("go")
    root = written(tmp_path / "repo", MODULE)
    assert set(run_tests("go", root, tmp_path / "one", ["deep/list::TestEach/two"])) == {
        "deep/list::TestEach/one",
        "deep/list::TestEach/two",
    }
    two = [".::TestSum", "deep/list::TestEach"]
    assert ".::TestWrong" not in run_tests("go", root, tmp_path / "two", two)


def test_what_cannot_be_fetched_is_told_and_not_that_it_is_fetched(tmp_path: Path) -> None:
    files = {
        "go.mod": "module x\n\ngo 1.19\n\nrequire example.invalid/y v1.0.0\n",
        "x_test.go": "package x\n",
    }
    said = "go: downloading example.invalid/y v1.0.0\nx.go:3:2: example.invalid/y@v1.0.0: no such host\n"
    runner = RUNNERS["go"]
    root = written(tmp_path / "repo", files)
    place = Place(root, Toolbox(Programs({}), root), tmp_path)
    finished = Finished(1, b"", said.encode())
    [case] = runner.parse(Ended(finished, tmp_path, place, tuple(found_targets(runner, root))))
    assert case.message == "x.go:3:2: example.invalid/y@v1.0.0: no such host"


def test_a_test_that_ends_its_process_is_told(tmp_path: Path) -> None:
    needs("go")
    text = 'package x\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestExit(t *testing.T) { os.Exit(1) }\n'
    root = written(tmp_path / "repo", {"go.mod": "module x\n\ngo 1.18\n", "x_test.go": text})
    [case] = run_tests("go", root, tmp_path / "reports").values()
    assert (case.id, case.status, case.kind) == (".::TestExit", Status.ERROR, "NotEnded")
