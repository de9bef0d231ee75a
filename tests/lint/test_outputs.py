"""What linters have printed that CI does not install: from runs of the versions that are named, shortened."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.linter import Place, Project, unformatted
from codeplane.lint.linters import LINTERS
from codeplane.lint.sarif import sarif_findings
from codeplane.process import Finished, Programs
from codeplane.process.toolbox import Toolbox

BLACK_26 = """would reformat a.py
error: cannot parse: bad.py:1:11
    def broken(:
              ^
ParseError: bad input

Oh no! 💥 💔 💥
1 file would be reformatted, 1 file would fail to reformat.
"""
BLACK_23 = """would reformat a.py
error: cannot format bad.py: Cannot parse: 1:11: def broken(:

Oh no! 💥 💔 💥
1 file would be reformatted, 1 file would fail to reformat.
"""
PYRIGHT = r"""
{
    "version": "1.1.414",
    "generalDiagnostics": [
        {
            "file": "/repo/bad.py",
            "severity": "error",
            "message": "Expected parameter name",
            "range": {"start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 12}}
        },
        {
            "file": "/repo/t.py",
            "severity": "error",
            "message": "Type \"Literal['s']\" is not assignable\n  \"Literal['s']\"",
            "range": {"start": {"line": 0, "character": 19}, "end": {"line": 0, "character": 22}},
            "rule": "reportAssignmentType"
        }
    ],
    "summary": {"filesAnalyzed": 2, "errorCount": 2, "warningCount": 0}
}
"""
SHELLCHECK = (
    '{"comments":[{"file":"./s.sh","line":2,"endLine":2,"column":15,"endColumn":16,"level":"error","code":2296,'
    '"message":"Parameter expansions can\'t start with é. Double check syntax.","fix":null},{"file":"./s.sh",'
    '"line":2,"endLine":2,"column":18,"endColumn":20,"level":"info","code":2086,"message":"Double quote to '
    'prevent globbing and word splitting.","fix":{"replacements":[{"column":18,"endColumn":18,"endLine":2,'
    '"insertionPoint":"afterEnd","line":2,"precedence":7,"replacement":"\\""}]}}]}'
)
VET = """# x/sub
vet: sub/s.go:3:13: cannot use "a" (untyped string constant) as int value in variable declaration
# x
{
\t"x": {
\t\t"printf": [
\t\t\t{
\t\t\t\t"posn": "/repo/main.go:6:14",
\t\t\t\t"message": "fmt.Printf format %d has arg é of wrong type string"
\t\t\t}
\t\t]
\t}
}
"""
GOFMT = "./bad.go:3:6: expected 'IDENT', found '{'\n"
RUSTFMT = """error: expected expression, found `;`
 --> /repo/bad.rs:2:11
  |
2 |   let x = ;
  |           ^ expected expression

"""
CLIPPY = (
    '{"reason":"compiler-message","message":{"children":[],"level":"warning","message":"length comparison to '
    'zero","spans":[{"byte_end":73,"byte_start":60,"column_end":18,"column_start":6,"file_name":"src/main.rs",'
    '"is_primary":true,"line_end":3,"line_start":3}],"code":{"code":"clippy::len_zero","explanation":null}}}\n'
    '{"reason":"compiler-message","message":{"level":"warning","message":"1 warning emitted","spans":[],'
    '"code":null}}\n'
    '{"reason":"build-finished","success":true}\n'
)
TSC = """error TS5083: Cannot read file '/repo/tsconfig.base.json'.
src/a.ts(2,14): error TS2322: Type '{ inner: { a: string | number; }; }' is not assignable.
  The types of 'inner.a' are incompatible between these types.
    Type 'string' is not assignable to type 'number'.
"""
SYNTAX = "syntax-error"

RECORDED = [
    pytest.param(
        "black",
        "",
        BLACK_26,
        [unformatted("a.py"), Finding("bad.py", 1, 12, "The file cannot be parsed.", SYNTAX)],
        id="black 26.10.1",
    ),
    pytest.param(
        "black",
        "",
        BLACK_23,
        [unformatted("a.py"), Finding("bad.py", 1, 12, "def broken(:", SYNTAX)],
        id="black 23.12.1",
    ),
    pytest.param(
        "pyright",
        PYRIGHT,
        "",
        [
            Finding("/repo/bad.py", 1, 12, "Expected parameter name", SYNTAX, "error", 1, 13, unit="utf16"),
            Finding(
                "/repo/t.py",
                1,
                20,
                "Type \"Literal['s']\" is not assignable\n  \"Literal['s']\"",
                "reportAssignmentType",
                "error",
                1,
                23,
                unit="utf16",
            ),
        ],
        id="pyright 1.1.414",
    ),
    pytest.param(
        "shellcheck",
        SHELLCHECK,
        "",
        [
            Finding(
                "./s.sh",
                2,
                15,
                "Parameter expansions can't start with é. Double check syntax.",
                "SC2296",
                "error",
                2,
                16,
            ),
            Finding(
                "./s.sh",
                2,
                18,
                "Double quote to prevent globbing and word splitting.",
                "SC2086",
                "info",
                2,
                20,
            ),
        ],
        id="shellcheck 0.11.0",
    ),
    pytest.param(
        "govet",
        "",
        VET,
        [
            Finding(
                "/repo/main.go",
                6,
                14,
                "fmt.Printf format %d has arg é of wrong type string",
                "printf",
                "warning",
                unit="bytes",
            ),
            Finding(
                "sub/s.go",
                3,
                13,
                'cannot use "a" (untyped string constant) as int value in variable declaration',
                "compile",
                unit="bytes",
            ),
        ],
        id="go 1.19.8",
    ),
    pytest.param(
        "gofmt",
        "./main.go\n",
        GOFMT,
        [
            unformatted("./main.go"),
            Finding("./bad.go", 3, 6, "expected 'IDENT', found '{'", SYNTAX, unit="bytes"),
        ],
        id="gofmt 1.19.8",
    ),
    pytest.param(
        "rustfmt",
        "/repo/ok.rs\n",
        RUSTFMT,
        [
            unformatted("/repo/ok.rs"),
            Finding("/repo/bad.rs", 2, 11, "expected expression, found `;`", SYNTAX),
        ],
        id="rustfmt 1.9.0",
    ),
    pytest.param(
        "clippy",
        CLIPPY,
        "",
        [Finding("src/main.rs", 3, 6, "length comparison to zero", "clippy::len_zero", "warning", 3, 18)],
        id="clippy 0.1.95",
    ),
    pytest.param(
        "tsc",
        TSC,
        "",
        [
            Finding("", 0, 0, "Cannot read file '/repo/tsconfig.base.json'.", "TS5083", unit="utf16"),
            Finding(
                "src/a.ts",
                2,
                14,
                "Type '{ inner: { a: string | number; }; }' is not assignable. The types of 'inner.a' are "
                "incompatible between these types. Type 'string' is not assignable to type 'number'.",
                "TS2322",
                unit="utf16",
            ),
        ],
        id="typescript 6.0.3",
    ),
]


@pytest.mark.parametrize(("name", "out", "err", "expected"), RECORDED)
def test_what_was_printed_is_read(name: str, out: str, err: str, expected: list[Finding]) -> None:
    assert LINTERS[name].parse(Finished(1, out.encode(), err.encode())) == expected


def test_no_command_writes_and_no_file_is_taken_for_an_option(tmp_path: Path) -> None:
    """Each linter is started by its absolute path, with files that begin with `./`."""
    for name in [*{linter.program for linter in LINTERS.values()}, "cargo-clippy"]:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    toolbox = Toolbox(Programs({"PATH": str(tmp_path)}), tmp_path / "r")
    place = Place(tmp_path / "r", toolbox, tmp_path / "cache")
    project = Project(RepoPath("in"), "a test")
    for linter in LINTERS.values():
        path = RepoPath("in/-x.py")
        command = linter.command(place, project, [path])
        fixing = linter.fixing(place, project, path)
        assert (fixing is not None) == linter.fixes
        for one in (command, fixing, linter.formatting(place, project, path)):
            if one is not None:
                assert one.argv[0].startswith(str(tmp_path))
                assert not any(argument.startswith("-x") for argument in one.argv)
                assert not {"--fix", "-w", "--in-place"} & set(one.argv)
        # Only Biome calls it so that stdin is fixed, and then it prints.
        assert "--write" not in command.argv


def test_sarif_of_any_tool_is_read() -> None:
    rules = [
        {"id": "A", "defaultConfiguration": {"level": "error"}, "messageStrings": {"m": {"text": "No {0}."}}},
        {"id": "B", "shortDescription": {"text": "Be brief."}},
    ]
    location = {"uri": "src/a%20b.c", "uriBaseId": "ROOT"}
    region = {"startLine": 3, "startColumn": 2, "endColumn": 5}
    place = {"physicalLocation": {"artifactLocation": location, "region": region}}
    results = [
        {"ruleIndex": 0, "message": {"id": "m", "arguments": ["goto"]}, "locations": [place]},
        {"ruleId": "B", "message": {}, "level": "note", "locations": []},
        {"ruleId": "B", "message": {"text": "fine"}, "kind": "pass"},
        {"ruleId": "B", "message": {"text": "accepted"}, "suppressions": [{"kind": "inSource"}]},
    ]
    run = {
        "tool": {"driver": {"name": "any", "rules": rules}},
        "originalUriBaseIds": {"ROOT": {"uri": "file:///repo/"}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    assert sarif_findings({"version": "2.1.0", "runs": [run]}) == [
        Finding("/repo/src/a b.c", 3, 2, "No goto.", "A", "error", 3, 5),
        Finding("", 0, 0, "Be brief.", "B", "info"),
    ]
