from pathlib import Path

import pytest

from codeplane.testrun.runners import RUNNERS
from codeplane.testrun.usual import USUAL
from codeplane.tools.map_repo import MapRepoOutput
from tests.tools.conftest import Ask


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project"),
        ("pyproject.toml", 'project = 1\n[tool]\npoetry = ["x"]\n'),
        ("pyproject.toml", "[project]\nscripts = 3\ndependencies = [1, {}]\n"),
        ("package.json", "[" * 100_000),
        ("package.json", '{"bin": [1], "scripts": {"start": 5}, "dependencies": "x"}'),
        ("setup.cfg", "no section\n"),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    a\n    b = \n"),
        ("Cargo.toml", 'bin = ["x", {name = 1}]\n'),
        ("go.mod", "require (\n\tx v\n"),
        ("composer.json", "null"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_passed_over(ask: Ask, repo: Path, name: str, text: str) -> None:
    (repo / name).write_text(text)
    assert "result" in ask("map_repo")


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        ("package.json", '{"name": "x", "devDependencies": {"jest": "1"}}', True),
        ("package.json", '{"type": "module"}', False),
        ("package.json", '{"name": "x", "optionalDependencies": {"y": "1"}}', False),
        ("pyproject.toml", '[project]\nname = "x"\n', True),
        ("pyproject.toml", '[project]\nname = "x"\ndynamic = ["dependencies"]\n', False),
        ("pyproject.toml", "[tool.ruff]\n", False),
        ("Cargo.toml", '[package]\nname = "x"\n', True),
        ("Cargo.toml", '[package]\nname = "x"\n[target."cfg(unix)".dependencies]\nlibc = "1"\n', False),
        ("go.mod", "module example.com/x\n", True),
        ("go.mod", "module example.com/x\n\nrequire a/b v1 // indirect\n", False),
    ],
)
def test_a_manifest_that_needs_nothing_to_run_says_so(
    ask: Ask, repo: Path, name: str, text: str, is_told: bool
) -> None:
    (repo / name).write_text(text)
    found = ask("map_repo")["result"]
    told = f"needs ({name}): nothing at run time" in MapRepoOutput.model_validate(found).render().split("\n")
    assert told == is_told


def test_a_wide_repository_has_a_short_map(ask: Ask, repo: Path) -> None:
    for number in range(150):
        (repo / f"d{number}").mkdir()
        (repo / f"d{number}" / "test_x.py").write_text(
            f"import outside{number}\n\n\ndef test_a():\n    pass\n"
        )
    body = ask("map_repo", depth=99, include=["structure", "dependencies", "test_layout"])
    limit = {"depth": {"requested": 99, "hard_cap": 10}}
    assert len(str(body)) < 12_000 and body["meta"]["limits_applied"] == limit
    assert body["result"]["left"].keys() >= {"structure", "dependencies"}
    assert body["result"]["test_layout"] == ["./ 150 files, 150 tests in 150 directories"]


def test_an_empty_repository_has_a_map(ask: Ask, repo: Path) -> None:
    (repo / "README.md").unlink()
    result = ask("map_repo")["result"]
    assert result["structure"] == [] and result["languages"] == []


def test_what_only_looks_like_an_entry_point_is_none(ask: Ask, repo: Path) -> None:
    (repo / "notes.py").write_text(
        '"""\nUse if __name__ == "__main__" at the end.\n"""\n\n\ndef main():\n    pass\n'
    )
    (repo / "test_a.go").write_text("package a\n\ntype T struct{}\n\nfunc (t T) main() {}\n")
    assert ask("map_repo", include=["entry_points"])["result"]["entry_points"] == []


def test_what_is_left_of_a_map_follows_by_its_cursor(ask: Ask, repo: Path) -> None:
    for number in range(70):
        (repo / f"d{number:02}").mkdir()
        names = ", ".join(f'"name{number}_{at}"' for at in range(5))
        (repo / f"d{number:02}" / "a.py").write_text(f"import outside{number}\n\n__all__ = [{names}]\n")
    parts: dict[str, list[str]] = {"structure": [], "third_party": [], "public_api": []}
    body, pages = ask("map_repo", include=["structure", "dependencies", "public_api"])["result"], 1
    while True:
        parts["structure"] += body.get("structure", [])
        parts["third_party"] += body.get("dependencies", {}).get("third_party", [])
        parts["public_api"] += [name for names in body.get("public_api", {}).values() for name in names]
        if "next_cursor" not in body:
            break
        body, pages = ask("map_repo", cursor=body["next_cursor"])["result"], pages + 1
    assert pages == 3 and "left" not in body
    assert len(set(parts["structure"])) == len(parts["structure"]) == 71
    assert sorted(parts["third_party"]) == sorted(f"outside{number} ×1" for number in range(70))
    assert len(set(parts["public_api"])) == len(parts["public_api"]) == 350


def test_many_directories_of_tests_are_folded_into_those_around(ask: Ask, repo: Path) -> None:
    for number in range(30):
        (repo / "tests" / f"t{number}").mkdir(parents=True)
        (repo / "tests" / f"t{number}" / "test_a.py").write_text(
            "def test_one(): ...\n\n\ndef test_two(): ...\n"
        )
    found = ask("map_repo", include=["test_layout"])["result"]["test_layout"]
    assert found == ["tests/ 30 files, 60 tests in 30 directories"]


def test_modules_are_of_the_language_of_others_or_of_the_repository(ask: Ask, repo: Path) -> None:
    texts = {
        "package.json": '{"name": "own-pkg"}',
        "a.py": "import os.path\nimport requests\nimport pkg.sub\n",
        "pkg/__init__.py": "",
        "pkg/sub.py": "",
        "a.ts": 'import "node:fs"; import "path"; import "url-parse"; import "own-pkg/x"; import "@s/y/z";\n',
        "a.go": 'package a\n\nimport (\n\t"net/http"\n\t"github.com/x/y"\n)\n',
        "a.rs": "use std::fs;\nuse serde::Serialize;\n",
        "A.java": "import java.util.List;\nimport org.x.Y;\n",
        "a.cpp": "#include <vector>\n#include <boost/x.hpp>\n",
    }
    for name, text in texts.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    found = ask("map_repo", include=["dependencies"])["result"]["dependencies"]
    told = {party: {line.split(" ×")[0] for line in lines} for party, lines in found.items()}
    assert told == {
        "package.json": set(),
        "standard_library": {"os", "node:fs", "path", "net", "std", "java.util", "vector"},
        "third_party": {"requests", "url-parse", "@s/y", "github.com/x/y", "serde", "org.x", "boost"},
        "first_party": {"pkg", "own-pkg"},
    }


def test_what_a_module_imports_is_not_its_own_unless_it_stands_for_a_package(ask: Ask, repo: Path) -> None:
    (repo / "shop").mkdir()
    (repo / "shop" / "__init__.py").write_text("import os\nfrom .cart import Cart\n\nlimit = 1\n")
    (repo / "shop" / "cart.py").write_text("import json\nfrom .line import Line\n\n\nclass Cart: ...\n")
    (repo / "shop" / "line.py").write_text("class Line: ...\n")
    found = ask("map_repo", include=["public_api"])["result"]["public_api"]
    assert found == {
        "shop/__init__.py [default_module]": ["Cart", "limit"],
        "shop/cart.py [default_module]": ["Cart"],
        "shop/line.py [default_module]": ["Line"],
    }


def test_a_list_of_exports_that_is_generated_is_public(ask: Ask, repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "a.ts").write_text("export const a = 1\n")
    (repo / "src" / "index.ts").write_text('// @generated\nexport * as a from "./a"\n')
    found = ask("map_repo", include=["public_api"])["result"]["public_api"]
    assert list(found) == ["src/index.ts [explicit_export]", "src/a.ts [explicit_export]"]


@pytest.mark.parametrize(
    "entry_points",
    [
        '{"console_scripts": ["tool = app.cli:main", "other=app.other:run [extra]"]}',
        "{'console_scripts': [\n        'tool = app.cli:main',\n        'other = app.other:run',\n    ]}",
        '"""\n[console_scripts]\ntool = app.cli:main\nother = app.other:run\n[x]\ny = z:w\n"""',
    ],
)
def test_console_scripts_of_a_setup_py_are_entry_points(ask: Ask, repo: Path, entry_points: str) -> None:
    (repo / "app").mkdir()
    (repo / "app" / "cli.py").write_text("\n\ndef main():\n    pass\n")
    (repo / "setup.py").write_text(
        "from setuptools import setup\n\nsetup(\n    name='app', description=\"Does it.\",\n"
        f"    install_requires=['a>=1', 'b'],\n    entry_points={entry_points},\n)\n"
    )
    result = ask("map_repo")["result"]
    assert result["entry_points"][:2] == [
        "tool: app/cli.py:3  [console script, setup.py]",
        "other: app.other:run  [console script, setup.py]",
    ]
    assert result["about"] == "app: Does it."
    assert result["dependencies"] == {"setup.py": ["a>=1", "b"]}


def test_the_map_tells_how_tests_are_run(ask: Ask, repo: Path) -> None:
    (repo / "tests").mkdir()
    (repo / "tests" / "test_a.py").write_text("def test_a():\n    pass\n")
    (repo / "tox.ini").write_text(
        "[testenv]\nchangedir = tests\ncommands =\n    {envpython} run.py {posargs}\n    other\n"
    )
    assert ask("map_repo")["result"]["run_tests"] == [
        "python -m pytest (default)",
        "cd tests && python run.py (tox.ini)",
    ]
    (repo / "pytest.ini").write_text("[pytest]\n")
    assert ask("map_repo")["result"]["run_tests"][0] == "python -m pytest (pytest.ini)"


def test_every_runner_has_a_usual_command() -> None:
    assert USUAL.keys() == RUNNERS.keys()


@pytest.mark.parametrize(
    ("name", "text", "needed"),
    [
        (
            "pyproject.toml",
            (
                '[project]\ndependencies = ["anyio >= 4, < 5; python_version < \'3.13\'", "h11[x]",'
                ' "colorama; sys_platform == \'win32\'", "a @ https://u:secret@host/a.zip"]\n'
                '[project.optional-dependencies]\nhttp2 = ["h2>=3"]\n'
            ),
            ["anyio>=4,<5 (python<3.13)", "h11", "colorama (win32)", "a", "h2>=3 (extra http2)"],
        ),
        (
            "setup.py",
            "setup(install_requires=['lxml[css]>=4', \"six; python_version<'3'\"])",
            ["lxml>=4", "six (python<3)"],
        ),
        ("setup.cfg", "[options]\ninstall_requires =\n    a >= 1\n    b\n", ["a>=1", "b"]),
        (
            "package.json",
            '{"dependencies": {"a": "^1.2", "b": "git+https://u:secret@host/b", "c": "*"}}',
            ["a ^1.2", "b", "c"],
        ),
        (
            "Cargo.toml",
            '[dependencies]\nserde = "1"\nlog = {version = "0.4", optional = true}\nx = {path = "../x"}\n',
            ["serde 1", "log 0.4 (optional)", "x"],
        ),
        ("go.mod", "require (\n\tgithub.com/a/b v1.2.3\n)\n", ["github.com/a/b v1.2.3"]),
    ],
)
def test_packages_are_needed_in_versions(
    ask: Ask, repo: Path, name: str, text: str, needed: list[str]
) -> None:
    (repo / name).write_text(text)
    assert ask("map_repo")["result"]["dependencies"] == {name: needed}
