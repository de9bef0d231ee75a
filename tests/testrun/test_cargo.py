"""`cargo test`, for real."""

from pathlib import Path

from codeplane.testrun import Status
from codeplane.testrun.runners import RUNNERS
from tests.programs import needs
from tests.testrun.real import found_targets, run_tests, written

LIBRARY = """pub fn half(n: u32) -> u32 {
    n / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        assert_eq!(half(4), 2);
    }

    #[test]
    fn wrong() {
        assert_eq!(half(5), 3, "half of five");
    }

    #[test]
    #[ignore]
    fn later() {}

    #[test]
    #[should_panic]
    fn panics() {
        panic!("as it should");
    }
}
"""
CRATE = {
    "Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "toy"\nversion = "0.1.0"\n',
    "src/lib.rs": LIBRARY,
    "tests/whole.rs": (
        "#[test]\nfn outside() {\n    assert_eq!(toy::half(2), 1);\n}\n\n"
        "#[test]\nfn fails() {\n    None::<u8>.unwrap();\n}\n"
    ),
}


def test_programs_are_targets(tmp_path: Path) -> None:
    files = {**CRATE, "src/main.rs": "fn main() {}\n", "examples/x.rs": "fn main() {}\n"}
    targets = found_targets(RUNNERS["cargo"], written(tmp_path, files))
    assert [(one.id, one.selector, one.kind) for one in targets] == [
        ("src/lib.rs", "--lib", "unit"),
        ("tests/whole.rs", "--test whole", "integration"),
    ]


def test_a_package_of_a_workspace_is_a_root(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[workspace]\nmembers = ["toy"]\n', **{f"toy/{k}": v for k, v in CRATE.items()}}
    targets = found_targets(RUNNERS["cargo"], written(tmp_path, files))
    assert {one.root for one in targets} == {"toy"}


def test_every_end_of_a_test_is_told(tmp_path: Path) -> None:
    needs("cargo")
    root = written(tmp_path / "repo", {f"deep/toy/{name}": text for name, text in CRATE.items()})
    cases = run_tests("cargo", root, tmp_path / "reports")
    assert cases["deep/toy/src/lib.rs::tests::halves"].status is Status.PASSED
    assert cases["deep/toy/src/lib.rs::tests::later"].status is Status.SKIPPED
    assert cases["deep/toy/src/lib.rs::tests::panics"].status is Status.PASSED
    wrong = cases["deep/toy/src/lib.rs::tests::wrong"]
    assert (wrong.target, wrong.status) == ("deep/toy/src/lib.rs", Status.FAILED)
    assert (wrong.path, wrong.line) == ("deep/toy/src/lib.rs", 16)
    assert "half of five" in wrong.message
    fails = cases["deep/toy/tests/whole.rs::fails"]
    assert (fails.target, fails.path, fails.line) == ("deep/toy/tests/whole.rs", "deep/toy/tests/whole.rs", 8)
    assert cases["deep/toy/tests/whole.rs::outside"].status is Status.PASSED


def test_single_tests_are_run_alone(tmp_path: Path) -> None:
    needs("cargo")
    root = written(tmp_path / "repo", CRATE)
    one = ["src/lib.rs::tests::wrong"]
    assert set(run_tests("cargo", root, tmp_path / "one", one)) == {"src/lib.rs::tests::wrong"}
    two = ["src/lib.rs::tests::halves", "tests/whole.rs::fails"]
    assert set(run_tests("cargo", root, tmp_path / "two", two)) == set(two)


def test_tests_of_modules_of_a_program_are_those_of_the_program(tmp_path: Path) -> None:
    needs("cargo")
    module = "#[test]\nfn t() {}\n"
    files = {"Cargo.toml": CRATE["Cargo.toml"], "src/main.rs": "mod m;\nfn main() {}\n", "src/m.rs": module}
    root = written(tmp_path / "repo", files)
    [target] = found_targets(RUNNERS["cargo"], root)
    assert (target.id, sorted(target.files)) == ("src/main.rs", ["src/m.rs"])
    [case] = run_tests("cargo", root, tmp_path / "reports").values()
    assert (case.id, case.target, case.status) == ("src/main.rs::m::t", "src/main.rs", Status.PASSED)


def test_code_that_cannot_be_built_is_shown(tmp_path: Path) -> None:
    needs("cargo")
    root = written(
        tmp_path / "repo", {**CRATE, "src/lib.rs": "pub fn half() -> u32 { missing }\n#[test]\nfn t() {}\n"}
    )
    [case] = run_tests("cargo", root, tmp_path / "reports").values()
    assert (case.status, case.kind, case.path, case.line) == (Status.ERROR, "BuildFailed", "src/lib.rs", 1)
    assert "missing" in case.message
