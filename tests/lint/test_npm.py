"""ESLint, TypeScript, Prettier and Biome as npm has them, with the Node of the tests."""

import platform
import sys
from pathlib import Path

from tests.lint.lab import Lab, after, npm_tool

ESLINT = """export default [{
  files: ["**/*.js"], rules: {"no-unused-vars": "warn", "prefer-const": "error", "eqeqeq": "error"},
}];
"""
SCRIPT = 'let é𝒳 = "😀", used = 1;\nif (used == 2) console.log(used);\n'


def eslint(root: Path) -> str:
    return npm_tool(root, "eslint", "eslint", "9.39.5", "bin/eslint.js")


def test_eslint_tells_columns_in_code_points_and_fixes_without_writing(tmp_path: Path) -> None:
    root = tmp_path / "r"
    files = {"eslint.config.mjs": ESLINT, "a.js": SCRIPT, "bad.js": "function ( {\n", "b.ts": "let x = 1;\n"}
    lab = Lab(root, files, path=eslint(root))
    assert lab.told() == [
        "a.js:1:5-7 warning no-unused-vars: 'é𝒳' is assigned a value but never used. (eslint)",
        "a.js:1:5-7 error prefer-const: 'é𝒳' is never reassigned. Use 'const' instead. (eslint)",
        "a.js:1:15-19 error prefer-const: 'used' is never reassigned. Use 'const' instead. (eslint, fixable)",
        "a.js:2:10-12 error eqeqeq: Expected '===' and instead saw '=='. (eslint)",
        "bad.js:1:10 error syntax-error: Parsing error: Unexpected token ( (eslint)",
    ]
    assert after(lab.fixes()) == {"a.js": SCRIPT.replace("let", "const").encode()}
    assert (root / "a.js").read_text() == SCRIPT


def test_a_configuration_that_fails_is_told_with_what_eslint_says(tmp_path: Path) -> None:
    root = tmp_path / "r"
    lab = Lab(root, {"eslint.config.mjs": 'import "no-such-plugin";\n', "a.js": SCRIPT}, path=eslint(root))
    report = lab.check()
    assert not report.diagnostics
    [note] = report.notes
    assert note.startswith("eslint failed with code 2: ") and "no-such-plugin" in note


def test_tsc_checks_projects_and_those_that_a_configuration_only_names(tmp_path: Path) -> None:
    root = tmp_path / "r"
    options = '"compilerOptions": {"strict": true, "composite": true, "target": "es2022", "types": []}'
    files = {
        "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]} // only names\n',
        "tsconfig.app.json": f'{{{options}, "include": ["src/*.ts"],}}',
        "src/a.ts": 'const é𝒳: string = "😀"; const b: string = 2;\nexport {};\n',
    }
    path = npm_tool(root, "tsc", "typescript", "5.9.3", "bin/tsc")
    lab = Lab(root, files, path=path)
    told = "error TS2322: Type 'number' is not assignable to type 'string'. (tsc)"
    assert lab.told() == [f"src/a.ts:1:31 {told}"]
    assert [one for one in lab.tree() if not one.startswith("node_modules")] == sorted(files)


def test_an_error_in_the_options_of_tsc_is_a_failed_run(tmp_path: Path) -> None:
    root = tmp_path / "r"
    options = '{"compilerOptions": {"emitDeclarationOnly": true, "types": []}}'
    files = {"tsconfig.json": options, "a.ts": "export const a: string = 1;\n"}
    report = Lab(root, files, path=npm_tool(root, "tsc", "typescript", "5.9.3", "bin/tsc")).check()
    assert (report.diagnostics, report.ran) == ((), ())
    [note] = report.notes
    assert note.startswith(
        "tsc stopped at its options and checked no types: tsconfig.json(1,22): error TS5069"
    )


def test_prettier_tells_the_lines_and_formats_what_eslint_has_fixed(tmp_path: Path) -> None:
    root = tmp_path / "r"
    files = {".prettierrc": "{}", ".prettierignore": "gen\n", "a.css": "a{b:c}\n", "gen/a.js": "x  =  1\n"}
    files |= {"eslint.config.mjs": 'export default [{ rules: { "prefer-const": "error" } }];\n'}
    files |= {"a.js": "let a  =  1;\nuse(a);\n", "b.js": "let b = 1;\nuse(b);\n"}
    npm_tool(root, "prettier", "prettier", "3.6.2", "bin/prettier.cjs")
    lab = Lab(root, files, path=eslint(root))
    assert [(one.path, one.line, one.tool) for one in lab.check().diagnostics] == [
        ("a.css", 1, "prettier"),
        ("a.js", 1, "prettier"),
        ("a.js", 1, "eslint"),
        ("b.js", 1, "eslint"),
    ]
    fixed = {"a.js": b"const a = 1;\nuse(a);\n", "b.js": b"const b = 1;\nuse(b);\n"}
    assert after(lab.fixes()) == {**fixed, "a.css": b"a {\n  b: c;\n}\n"}


def test_biome_lints_formats_and_fixes(tmp_path: Path) -> None:
    root = tmp_path / "r"
    name = f"cli-{sys.platform}-{'x64' if platform.machine() == 'x86_64' else 'arm64'}"
    path = npm_tool(root, "biome", f"@biomejs/{name}", "2.6.6", "biome")
    lab = Lab(root, {"biome.json": "{}\n", "a.js": SCRIPT}, path=path)
    assert [(one.line, one.column, one.rule, one.has_fix) for one in lab.check().diagnostics] == [
        (1, 1, "lint/style/useConst", True),
        (1, 1, "format", True),
        (1, 5, "lint/correctness/noUnusedVariables", False),
        (2, 10, "lint/suspicious/noDoubleEquals", False),
    ]
    fixed = 'const é𝒳 = "😀",\n\tused = 1;\nif (used == 2) console.log(used);\n'
    assert after(lab.fixes()) == {"a.js": fixed.encode()}
