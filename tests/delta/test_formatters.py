"""What transforms write gets the form of the project: the whole file, the touched lines, or nothing."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codeplane.config.settings import LintSettings
from codeplane.core.paths import RepoPath
from codeplane.delta.formatters import Normaliser
from tests.conformance.node import node
from tests.delta.plans import PlanRepo, element
from tests.lint.lab import Lab, npm_tool, program, pypi_tool, quiet
from tests.programs import needs
from tests.tools.repo import trust

CARGO = '[package]\nname = "r"\nversion = "0.1.0"\nedition = "2021"\n'
LLVM = "BasedOnStyle: LLVM\n"
STORE = {"operation": "replace_match", "pattern": "load($A)", "with": "store( $A,1 )"}


class FormatterRepo(PlanRepo):
    """A repository whose formatters are in its own environment."""

    @classmethod
    def prepare(cls, base: Path, files: Mapping[str, str], *, is_trusted: bool = True) -> "FormatterRepo":
        repo = PlanRepo(base, {**files, ".gitignore": "node_modules\n.venv\n"})
        repo.session.close()
        if is_trusted:
            trust(repo.root, base)
        return cls.at(repo.root, base)

    def add_prettier(self) -> None:
        add_prettier(self.root)

    def add_clang_format(self) -> None:
        link_program(self.root, clang_format())

    def add_rustfmt(self) -> None:
        # The program may be a proxy that looks for its toolchain in the home directory.
        home = os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup"
        script = f'RUSTUP_HOME={home} exec {needs("rustfmt")} "$@"'
        program(self.root / ".venv" / "bin", "rustfmt", script)

    def validate(self, *elements: Mapping[str, Any]) -> tuple[str, str]:
        """The plan, and what its validation says."""
        plan = self.create(list(elements))
        return plan, self.ask("validate_deltas", plan=plan).text

    def execute(self, *elements: Mapping[str, Any]) -> str:
        """Executes a plan; what its validation said before."""
        plan, text = self.validate(*elements)
        assert "green" in text, text
        self.result("execute_deltas", plan=plan, confidence="structural")
        self.git("commit", "-qm", "Plan")
        return text


def link_program(root: Path, target: Path) -> None:
    place = root / ".venv" / "bin" / target.name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def add_prettier(root: Path) -> None:
    npm_tool(root, "prettier", "prettier", "3.6.2", "bin/prettier.cjs")
    link_program(root, node())


def clang_format() -> Path:
    return Path(pypi_tool("clang-format", "23.1.3").partition(":")[0]) / "clang-format"


def test_a_file_in_the_form_of_prettier_stays_in_it(tmp_path: Path) -> None:
    script = 'const a = "é😀";\n\nfunction f() {\n  return load(a);\n}\n'
    repo = FormatterRepo.prepare(tmp_path, {".prettierrc": "{}\n", "a.js": script, "b.ts": script})
    repo.add_prettier()
    assert "note" not in repo.execute(element("a.js", STORE), element("b.ts", STORE))
    assert repo.read("a.js") == repo.read("b.ts") == script.replace("load(a)", "store(a, 1)")


def test_prettier_formats_only_touched_lines_of_a_file_in_another_form(tmp_path: Path) -> None:
    script = 'const e = {x:"é😀"};\nfunction f( a ) {\n    g( 1 );\n    return load( a )\n}\nlet  y = 1;\n'
    repo = FormatterRepo.prepare(tmp_path, {".prettierrc": "{}\n", "a.js": script})
    repo.add_prettier()
    signature = {"operation": "replace_match", "pattern": "let y = 1;", "with": "let  y = load( 2 )"}
    repo.execute(element("a.js", STORE), element("a.js", signature))
    changed = script.replace("return load( a )", "return store(a, 1);")
    assert repo.read("a.js") == changed.replace("let  y = 1;", "let y = load(2);")


def test_a_signature_is_formatted_without_the_body_below_it(tmp_path: Path) -> None:
    script = "function f( a ) {\n  g( 1 );\n  return   a\n}\n"
    repo = FormatterRepo.prepare(tmp_path, {".prettierrc": "{}\n", "a.js": script})
    repo.add_prettier()
    wider = {"operation": "replace_match", "query": "(formal_parameters) @p", "with": "( a,b )"}
    repo.execute(element("a.js", wider))
    assert repo.read("a.js") == script.replace("f( a )", "f(a, b)")


def test_a_file_in_the_form_of_clang_format_stays_in_it(tmp_path: Path) -> None:
    code = "int f(int a) {\n  a++;\n  return load(a);\n}\n"
    repo = FormatterRepo.prepare(tmp_path, {".clang-format": LLVM, "a.c": code})
    repo.add_clang_format()
    exact = {"query": "(argument_list) @a", "expect": "capture_equals", "value": "(a, 1)", "capture": "@a"}
    # Assertions are about the text that the formatter leaves.
    repo.execute(element("a.c", STORE, assertions=[exact]))
    assert repo.read("a.c") == code.replace("load(a)", "store(a, 1)")


def test_clang_format_formats_only_touched_lines_of_a_file_in_another_form(tmp_path: Path) -> None:
    code = "int  x=1;\r\nint f( int a ){\r\n\tint  y = load( a );\r\n\treturn  y;}\r\n"
    repo = FormatterRepo.prepare(tmp_path, {".clang-format": LLVM, ".gitattributes": "*.c -text\n"})
    repo.add_clang_format()
    (repo.root / "a.c").write_bytes(code.encode())
    repo.git("add", "-A")
    repo.git("commit", "-qm", "C")
    repo.execute(element("a.c", STORE))
    expected = code.replace("\tint  y = load( a );", "  int y = store(a, 1);")
    assert (repo.root / "a.c").read_bytes() == expected.encode()


def test_rustfmt_formats_whole_files_that_were_in_its_form_and_no_others(tmp_path: Path) -> None:
    code = "fn f(a: u8) -> u8 {\n    load(a)\n}\n"
    files = {"Cargo.toml": CARGO, "src/lib.rs": code, "src/other.rs": f"{code}fn  g( ) {{ }}\n"}
    repo = FormatterRepo.prepare(tmp_path, files)
    repo.add_rustfmt()
    text = repo.execute(element("src/lib.rs", STORE), element("src/other.rs", STORE))
    assert repo.read("src/lib.rs") == code.replace("load(a)", "store(a, 1)")
    assert repo.read("src/other.rs") == files["src/other.rs"].replace("load(a)", "store( a,1 )")
    assert text.count("rustfmt formats whole files, and the file was not in its form before.") == 1


def test_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    repo = FormatterRepo.prepare(tmp_path, {".clang-format": LLVM, "a.c": "int x = load(1);\n"})
    repo.add_clang_format()
    repo.execute(element("a.c", STORE))
    before = repo.read("a.c")
    (repo.root / ".venv" / "bin" / "clang-format").unlink()
    program(repo.root / ".venv" / "bin", "clang-format", f"touch {tmp_path / 'mark'}; exec cat")
    _, text = repo.validate(element("a.c", STORE))
    assert "structural" in text
    assert (repo.read("a.c"), (tmp_path / "mark").exists()) == (before, False)


def test_a_formatter_of_an_untrusted_repository_is_not_run(tmp_path: Path) -> None:
    repo = FormatterRepo.prepare(
        tmp_path, {".clang-format": LLVM, "a.c": "int x = load(1);\n"}, is_trusted=False
    )
    program(repo.root / ".venv" / "bin", "clang-format", f"touch {tmp_path / 'mark'}; exec cat")
    _, text = repo.validate(element("a.c", STORE))
    assert "clang-format was not run: the user has not trusted this repository." in text
    assert not (tmp_path / "mark").exists()


def test_a_missing_formatter_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    repo = FormatterRepo.prepare(tmp_path, {".prettierrc": "{}\n", "a.js": "load(1);\n"})
    assert "prettier is not installed (npm install --save-dev prettier)." in repo.execute(
        element("a.js", STORE)
    )
    assert repo.read("a.js") == "store( 1,1 );\n"


def test_a_project_that_does_not_use_the_formatter_is_left_alone(tmp_path: Path) -> None:
    repo = FormatterRepo.prepare(tmp_path, {"a.c": "int x = load(1);\n", "sub/.clang-format": LLVM})
    repo.add_clang_format()
    assert "note" not in repo.execute(element("a.c", STORE))
    assert repo.read("a.c") == "int x = store( 1,1 );\n"


COUNTING = 'echo "$*" >> {log}\ncase "$*" in *--dry-run*) exit 0;; esac\nexec sed "s/  */ /g"'


def normaliser_for(lab: Lab, expected: Sequence[str] = ()) -> Normaliser:
    return Normaliser(lambda: lab, lab.where, quiet(), True, list(map(RepoPath, expected)))


def format_c(normaliser: Normaliser, path: str, before: bytes, after: bytes) -> bytes:
    return normaliser(RepoPath(path), "c", before, after).data


def test_files_are_looked_at_in_one_run_and_the_same_bytes_once(tmp_path: Path) -> None:
    names = [f"f{number}.c" for number in range(20)]
    log = tmp_path / "log"
    lab = Lab(tmp_path / "r", {".clang-format": LLVM, **dict.fromkeys(names, "int x;\n")})
    program(lab.root / ".venv" / "bin", "clang-format", COUNTING.format(log=log))
    normaliser = normaliser_for(lab, names)
    for name in names:
        assert format_c(normaliser, name, b"int x;\n", b"int  y;\n") == b"int y;\n"
        assert format_c(normaliser, name, b"int x;\n", b"int  y;\n") == b"int y;\n"
        assert format_c(normaliser, name, b"int y;\n", b"int  z;\n") == b"int z;\n"
    assert len(log.read_text().splitlines()) == 1 + 2 * len(names)


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("exit 3", "clang-format failed with code 3."),
        ("exec sleep 60", "clang-format did not finish in time (lint.timeout_sec)."),
        ("cat > /dev/null", "clang-format printed nothing."),
        ("kill -9 $$", "clang-format was ended by signal 9."),
        ("head -c 50000000 /dev/zero", "clang-format printed more than is read."),
    ],
    ids=["fails", "hangs", "silent", "killed", "floods"],
)
def test_a_formatter_that_fails_leaves_the_text_and_says_so(tmp_path: Path, script: str, note: str) -> None:
    files = {".clang-format": LLVM, "a.c": "int x;\n", "b.c": "int x;\n"}
    lab = Lab(tmp_path / "r", files, settings=LintSettings(timeout_sec=1))
    log = tmp_path / "log"
    program(lab.root / ".venv" / "bin", "clang-format", f"echo x >> {log}\n{script}")
    normaliser = normaliser_for(lab)
    for name in ("a.c", "b.c"):
        formatting = normaliser(RepoPath(name), "c", b"int x;\n", b"int  y;\n")
        assert (formatting.data, formatting.obstacle) == (b"int  y;\n", "failed")
        assert formatting.note is not None and formatting.note.startswith(note)
        assert len(formatting.note) < 1_000
    # One that hangs or floods is not waited for again.
    assert log.read_text().count("x") == (1 if "time" in note or "more" in note else 2)


def test_lines_that_would_mean_something_else_alone_stay_as_they_were_written(tmp_path: Path) -> None:
    # A formatter that changes words: of the lines that were asked for, and others of the whole file.
    script = 'case "$*" in *--lines=*) exec sed "s/y/yy/; s/x/xx/";; esac\nexec sed "s/  */ /g; s/x/z/"'
    lab = Lab(tmp_path / "r", {".clang-format": LLVM, "a.c": "int  x;\n"})
    program(lab.root / ".venv" / "bin", "clang-format", script)
    formatting = normaliser_for(lab)(RepoPath("a.c"), "c", b"int  x;\n\n\n", b"int  x;\n\n\nint  y;\n")
    assert (formatting.data, formatting.obstacle) == (b"int  x;\n\n\nint  y;\n", "lines")


@pytest.mark.parametrize(
    "after", [b"int  x;\r\nint  y;\n", b"int  x;\nint  y; // \xff\n"], ids=["mixed line ends", "latin-1"]
)
def test_lines_of_a_file_that_could_be_damaged_are_not_formatted(tmp_path: Path, after: bytes) -> None:
    lab = Lab(tmp_path / "r", {".clang-format": LLVM, "a.c": "int  x;\n"})
    link_program(lab.root, clang_format())
    formatting = normaliser_for(lab)(RepoPath("a.c"), "c", after.splitlines(keepends=True)[0], after)
    assert (formatting.data, formatting.obstacle) == (after, "lines")


def test_lines_that_only_went_away_need_no_formatter(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "r", {".clang-format": LLVM, "a.c": "int  x;\n"})
    link_program(lab.root, clang_format())
    formatting = normaliser_for(lab)(RepoPath("a.c"), "c", b"int  x;\nint  y;\n", b"int  x;\n")
    assert formatting == (b"int  x;\n", None, None)


def test_other_files_of_a_project_wide_operation_are_formatted_by_the_same_rule(tmp_path: Path) -> None:
    files = {
        ".prettierrc": "{}\n",
        "load.js": "export function load(url) {\n  return url;\n}\n",
        "tidy.js": 'import { load } from "./load.js";\n\nload("a");\n',
        "own.js": 'import { load } from "./load.js";\nlet  y = 1;\nload( "b" )\nlet  z = 1;\n',
    }
    repo = FormatterRepo.prepare(tmp_path, files)
    repo.add_prettier()
    parameter = {"operation": "add_parameter", "target": "load", "name": "rest", "call_sites": True}
    repo.execute(element("load.js", {**parameter, "argument": "{a:1}"}))
    assert repo.read("load.js") == files["load.js"].replace("url)", "url, rest)")
    assert repo.read("tidy.js") == files["tidy.js"].replace('"a")', '"a", { a: 1 })')
    assert repo.read("own.js") == files["own.js"].replace('load( "b" )', 'load("b", { a: 1 });')


def test_a_note_names_the_other_file_that_its_formatter_has_left(tmp_path: Path) -> None:
    library = "mod user;\n\npub fn load(url: u8) -> u8 {\n    url\n}\n"
    user = "use crate::load;\npub fn run( ) -> u8 {\n    load( 1 )\n}\n"
    repo = FormatterRepo.prepare(tmp_path, {"Cargo.toml": CARGO, "src/lib.rs": library, "src/user.rs": user})
    repo.add_rustfmt()
    parameter = {"operation": "add_parameter", "target": "load", "name": "rest", "type": "u8"}
    text = repo.execute(element("src/lib.rs", {**parameter, "argument": "2", "call_sites": True}))
    assert "note: src/user.rs: rustfmt formats whole files" in text
    assert repo.read("src/user.rs") == user.replace("load( 1 )", "load( 1, 2 )")
