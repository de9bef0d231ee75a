"""PHPUnit, mix and CTest, for real."""

import subprocess
from pathlib import Path

from codeplane.testrun import Status
from codeplane.testrun.runners import RUNNERS
from tests.programs import needs
from tests.testrun.real import found_targets, run_tests, written

PHP = {
    "composer.json": '{"require-dev": {"phpunit/phpunit": "^9"}}\n',
    "src/half.php": "<?php\nfunction half(int $n): int { return intdiv($n, 2); }\n",
    "tests/HalfTest.php": """<?php
require_once __DIR__ . '/../src/half.php';
use PHPUnit\\Framework\\TestCase;

final class HalfTest extends TestCase
{
    public function testHalves(): void { $this->assertSame(2, half(4)); }

    public function testWrong(): void
    {
        $this->assertSame(3, half(5));
    }

    public function testLater(): void { $this->markTestSkipped('later'); }

    public function testBreaks(): void
    {
        throw new RuntimeException('broken');
    }
}
""",
    "tests/OtherTest.php": """<?php
final class OtherTest extends PHPUnit\\Framework\\TestCase
{
    public function testIt(): void { $this->assertTrue(true); }
}
""",
}
ELIXIR = {
    "mix.exs": """defmodule Toy.MixProject do
  use Mix.Project
  def project, do: [app: :toy, version: "0.1.0", elixir: "~> 1.10"]
end
""",
    "lib/toy.ex": "defmodule Toy do\n  def half(n), do: div(n, 2)\nend\n",
    "test/test_helper.exs": "ExUnit.start()\n",
    "test/toy_test.exs": """defmodule ToyTest do
  use ExUnit.Case

  test "halves" do
    assert Toy.half(4) == 2
  end

  test "is wrong" do
    assert Toy.half(5) == 3
  end

  @tag :skip
  test "comes later" do
    assert false
  end

  test "breaks" do
    Toy.half("x")
  end
end
""",
}
CMAKE = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.10)\nproject(toy C)\nenable_testing()\n"
        "add_executable(good good.c)\nadd_executable(bad bad.c)\n"
        "add_test(NAME good COMMAND good)\nadd_test(NAME bad COMMAND bad)\n"
    ),
    "good.c": "int main(void) { return 0; }\n",
    "bad.c": '#include <stdio.h>\nint main(void) { printf("bad.c:2: it is wrong\\n"); return 1; }\n',
}


def test_every_end_of_a_test_of_phpunit_is_told(tmp_path: Path) -> None:
    needs("phpunit")
    cases = run_tests("phpunit", written(tmp_path / "repo", PHP), tmp_path / "reports")
    assert {name: case.status for name, case in cases.items()} == {
        "HalfTest::testHalves": Status.PASSED,
        "HalfTest::testWrong": Status.FAILED,
        "HalfTest::testLater": Status.SKIPPED,
        "HalfTest::testBreaks": Status.ERROR,
        "OtherTest::testIt": Status.PASSED,
    }
    wrong, breaks = cases["HalfTest::testWrong"], cases["HalfTest::testBreaks"]
    assert (wrong.target, wrong.path, wrong.line) == ("tests/HalfTest.php", "tests/HalfTest.php", 11)
    assert (breaks.kind, breaks.line) == ("RuntimeException", 18)


def test_every_end_of_a_test_of_exunit_is_told(tmp_path: Path) -> None:
    needs("mix")
    cases = run_tests("mix", written(tmp_path / "repo", ELIXIR), tmp_path / "reports")
    told = {name.partition("::test ")[2]: case for name, case in cases.items()}
    assert {name: case.status for name, case in told.items()} == {
        "halves": Status.PASSED,
        "is wrong": Status.FAILED,
        "comes later": Status.SKIPPED,
        "breaks": Status.FAILED,
    }
    wrong, breaks = told["is wrong"], told["breaks"]
    assert (wrong.target, wrong.path, wrong.line) == ("test/toy_test.exs", "test/toy_test.exs", 9)
    assert wrong.message == "Assertion with == failed"
    assert (breaks.kind, breaks.path, breaks.line) == ("ArithmeticError", "lib/toy.ex", 2)


def test_a_module_that_cannot_be_built_is_shown(tmp_path: Path) -> None:
    needs("mix")
    root = written(
        tmp_path / "repo", {**ELIXIR, "lib/toy.ex": "defmodule Toy do\n  def half(n), do: (\nend\n"}
    )
    [case] = run_tests("mix", root, tmp_path / "reports").values()
    assert (case.status, case.path) == (Status.ERROR, "lib/toy.ex")


def test_a_project_is_built_anew_before_its_tests(tmp_path: Path) -> None:
    needs("ctest")
    root = written(tmp_path / "repo", CMAKE)
    subprocess.run(["cmake", "-B", "build"], cwd=root, check=True, capture_output=True)
    cases = run_tests("ctest", root, tmp_path / "reports")
    assert {name.rpartition("::")[2]: case.status for name, case in cases.items()} == {
        "good": Status.PASSED,
        "bad": Status.FAILED,
    }
    (root / "bad.c").write_text("int main(void) { return missing; }\n")
    [case] = run_tests("ctest", root, tmp_path / "again").values()
    assert (case.kind, case.path, case.line) == ("BuildFailed", "bad.c", 1)


def test_a_project_that_was_not_configured_says_what_to_do(tmp_path: Path) -> None:
    needs("ctest")
    from codeplane.core.errors import TestRunnerNotFound

    root = written(tmp_path / "repo", CMAKE)
    assert [one.id for one in found_targets(RUNNERS["ctest"], root)] == ["."]
    try:
        run_tests("ctest", root, tmp_path / "reports")
    except TestRunnerNotFound as error:
        assert "cmake -B build" in error.hints
    else:
        raise AssertionError
