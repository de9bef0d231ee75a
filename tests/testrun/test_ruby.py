"""RSpec and Minitest, for real."""

import subprocess
from pathlib import Path

import pytest

from codeplane.testrun import Status
from codeplane.testrun.runners import RUNNERS
from tests.programs import needs, unavailable
from tests.testrun.real import found_targets, run_tests, written

SPECS = {
    ".rspec": "--require spec_helper\n",
    "spec/spec_helper.rb": "",
    "lib/toy.rb": "def half(n) = n / 2\n",
    "spec/toy_spec.rb": """require_relative "../lib/toy"

RSpec.describe "half" do
  it "halves" do
    expect(half(4)).to eq 2
  end

  it "is wrong" do
    expect(half(5)).to eq 3
  end

  it "comes later"

  it "breaks" do
    half(nil)
  end
end
""",
}
TESTS = {
    "lib/toy.rb": "def half(n) = n / 2\n",
    "test/toy_test.rb": """require "minitest/autorun"
require "toy"

class ToyTest < Minitest::Test
  def test_halves
    assert_equal 2, half(4)
  end

  def test_wrong
    assert_equal 3, half(5)
  end

  def test_later
    skip "later"
  end

  def test_breaks
    half(nil)
  end
end
""",
    "test/spec_test.rb": """require "minitest/autorun"

describe "numbers" do
  it "adds" do
    _(1 + 1).must_equal 2
  end
end
""",
}


@pytest.fixture(scope="module")
def minitest() -> None:
    ruby = needs("ruby")
    if subprocess.run([ruby, "-e", "require 'minitest'"], capture_output=True).returncode:
        unavailable("minitest is not installed")


def test_specs_are_targets(tmp_path: Path) -> None:
    [target] = found_targets(RUNNERS["rspec"], written(tmp_path, SPECS))
    assert (target.id, target.selector, target.language) == ("spec/toy_spec.rb", "spec/toy_spec.rb", "ruby")


def test_a_gemfile_shows_a_runner(tmp_path: Path) -> None:
    files = {
        "app/Gemfile": 'gem "rspec", "~> 3"\ngem "minitest"\n',
        "app/spec/a_spec.rb": "",
    }
    root = written(tmp_path, files)
    assert [one.root for one in found_targets(RUNNERS["rspec"], root)] == ["app"]
    assert found_targets(RUNNERS["minitest"], root) == []


def test_every_end_of_a_spec_is_told(tmp_path: Path) -> None:
    needs("rspec")
    cases = run_tests("rspec", written(tmp_path / "repo", SPECS), tmp_path / "reports")
    told = {name.partition("::half ")[2]: case for name, case in cases.items()}
    assert {name: case.status for name, case in told.items()} == {
        "halves": Status.PASSED,
        "is wrong": Status.FAILED,
        "comes later": Status.SKIPPED,
        "breaks": Status.FAILED,
    }
    wrong, breaks = told["is wrong"], told["breaks"]
    assert (wrong.target, wrong.path, wrong.line) == ("spec/toy_spec.rb", "spec/toy_spec.rb", 9)
    assert wrong.message == "expected: 3"
    assert (breaks.kind, breaks.path, breaks.line) == ("NoMethodError", "lib/toy.rb", 1)


def test_a_spec_that_cannot_be_loaded_is_shown(tmp_path: Path) -> None:
    needs("rspec")
    root = written(tmp_path / "repo", {**SPECS, "spec/toy_spec.rb": "require 'nowhere'\n"})
    [case] = run_tests("rspec", root, tmp_path / "reports").values()
    assert (case.status, case.path, case.line) == (Status.ERROR, "spec/toy_spec.rb", 1)
    assert "nowhere" in case.message


def test_every_end_of_a_minitest_is_told(tmp_path: Path, minitest: None) -> None:
    cases = run_tests("minitest", written(tmp_path / "repo", TESTS), tmp_path / "reports")
    assert {name: case.status for name, case in cases.items() if name.startswith("Toy")} == {
        "ToyTest#test_halves": Status.PASSED,
        "ToyTest#test_wrong": Status.FAILED,
        "ToyTest#test_later": Status.SKIPPED,
        "ToyTest#test_breaks": Status.ERROR,
    }
    wrong, breaks = cases["ToyTest#test_wrong"], cases["ToyTest#test_breaks"]
    assert (wrong.target, wrong.path, wrong.line) == ("test/toy_test.rb", "test/toy_test.rb", 10)
    assert (breaks.kind, breaks.path, breaks.line) == ("NoMethodError", "lib/toy.rb", 1)
    [spec] = [case for name, case in cases.items() if name.startswith("numbers")]
    assert (spec.target, spec.status) == ("test/spec_test.rb", Status.PASSED)


def test_a_minitest_that_cannot_be_loaded_is_shown(tmp_path: Path, minitest: None) -> None:
    root = written(tmp_path / "repo", {"test/a_test.rb": "require 'minitest/autorun'\nrequire 'nowhere'\n"})
    [case] = run_tests("minitest", root, tmp_path / "reports").values()
    assert (case.status, case.path, case.line) == (Status.ERROR, "test/a_test.rb", 2)
