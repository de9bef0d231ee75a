"""Linters that come with toolchains, and one that stands alone."""

from pathlib import Path

from tests.lint.lab import Lab, after, installed, pypi_tool

GO = 'package main\n\nimport "fmt"\n\nfunc main() {\n  é := "x"; fmt.Printf("%d", é)\n}\n'
RUST = 'fn main() {\n  let é = "";\n  if é.len() == 0 { println!(); }\n}\n'


def test_gofmt_and_go_vet(tmp_path: Path) -> None:
    files = {"go.mod": "module x\n\ngo 1.19\n", "main.go": GO, "sub/s.go": 'package sub\n\nvar X int = "a"\n'}
    lab = Lab(tmp_path / "r", files, path=installed("gofmt"))
    assert [(one.path, one.line, one.column, one.rule) for one in lab.check().diagnostics] == [
        ("main.go", 6, 1, "format"),
        ("main.go", 6, 13, "printf"),
        ("sub/s.go", 3, 13, "compile"),
    ]
    fixed = GO.replace('  é := "x"; fmt', '\té := "x"\n\tfmt')
    assert after(lab.fixes("gofmt")) == {"main.go": fixed.encode()}


def test_clippy_and_rustfmt(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "r"\nversion = "0.1.0"\nedition = "2021"\n',
        "Cargo.lock": 'version = 3\n\n[[package]]\nname = "r"\nversion = "0.1.0"\n',
        "src/main.rs": RUST,
    }
    lab = Lab(tmp_path / "r", files, path=installed("cargo-clippy"))
    found = lab.check().diagnostics
    assert [(one.line, one.column, one.end_column, one.rule) for one in found] == [
        (2, 1, 34, "format"),
        (3, 6, 18, "clippy::len_zero"),
    ]
    assert lab.tree() == sorted(files)
    fixed = RUST.replace("  let", "    let").replace("  if é.len() == 0 { println!(); }", IF)
    assert after(lab.fixes("rustfmt")) == {"src/main.rs": fixed.encode()}


IF = "    if é.len() == 0 {\n        println!();\n    }"


def test_clippy_does_not_write_a_lock_file(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[package]\nname = "r"\nversion = "0.1.0"\n', "src/main.rs": "fn main() {}\n"}
    lab = Lab(tmp_path / "r", files, path=installed("cargo-clippy"))
    [note] = lab.check("clippy").notes
    assert "Cargo.lock" in note
    assert lab.tree() == sorted(files)


def test_shellcheck(tmp_path: Path) -> None:
    files = {".shellcheckrc": "", "a.sh": "#!/bin/sh\n\té=$1; echo $é $2\n"}
    lab = Lab(tmp_path / "r", files, path=installed("shellcheck"))
    assert "SC2086" in {one.rule for one in lab.check().diagnostics}


C = "int  x;\nint é( int a ){return a;}\n"


def test_clang_format_tells_the_lines_and_fixes_only_where_a_style_is_configured(tmp_path: Path) -> None:
    files = {
        "lib/.clang-format": "BasedOnStyle: LLVM\n",
        "lib/sub/a.c": C,
        "lib/good.h": "int x;\n",
        "other/a.c": C,
    }
    lab = Lab(tmp_path / "r", files, path=pypi_tool("clang-format", "23.1.3"))
    assert [(one.path, one.line, one.rule) for one in lab.check().diagnostics] == [
        ("lib/sub/a.c", 1, "format")
    ]
    assert after(lab.fixes()) == {"lib/sub/a.c": "int x;\nint é(int a) { return a; }\n".encode()}
    assert lab.tree() == sorted(files)


def test_a_style_that_clang_format_does_not_know_is_a_failed_run(tmp_path: Path) -> None:
    files = {"_clang-format": "BasedOnStyl: LLVM\n", "a.c": C}
    report = Lab(tmp_path / "r", files, path=pypi_tool("clang-format", "23.1.3")).check()
    assert (report.diagnostics, report.ran) == ((), ())
    [note] = report.notes
    assert note.startswith("clang-format failed with code 1: ") and "BasedOnStyl" in note
