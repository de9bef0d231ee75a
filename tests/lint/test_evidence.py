"""What says that a linter is used, and what does not."""

from collections.abc import Mapping

import pytest

from codeplane.config.settings import LintSettings
from codeplane.core.paths import RepoPath
from codeplane.lint.plan import Wanted, planned, uses

HOOKS = "repos:\n- repo: x\n  hooks:\n  - id: {}\n"


class Tree:
    """Files that are nowhere on disk."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def paths(self) -> list[RepoPath]:
        return sorted(map(RepoPath, self._files))

    def text(self, path: RepoPath) -> str | None:
        return self._files.get(path)


def used(files: Mapping[str, str]) -> dict[str, list[str]]:
    return {one.linter.name: [p.evidence for p in one.projects] for one in uses(Tree(files), LintSettings())}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "", "a.js": "", "a.sh": "", "README.md": "ruff check, eslint and mypy ."}, {}),
        ({"pyproject.toml": "[tool.ruff]\n"}, {"ruff": ["pyproject.toml: tool.ruff"]}),
        (
            {"in/pyproject.toml": "[tool.ruff.format]\n"},
            {
                "ruff": ["in/pyproject.toml: tool.ruff"],
                "ruff-format": ["in/pyproject.toml: tool.ruff.format"],
            },
        ),
        ({"pyproject.toml": "[tool.ruff"}, {}),
        ({"pyproject.toml": "[tool.black]\n[tool.mypy]\n"}, {"mypy": None, "black": None}),
        ({"setup.cfg": "[mypy]\n[mypy-x]\n"}, {"mypy": ["setup.cfg"]}),
        ({"setup.cfg": "[metadata]\n"}, {}),
        ({".pre-commit-config.yaml": HOOKS.format("black")}, {"black": [".pre-commit-config.yaml"]}),
        ({".pre-commit-config.yaml": HOOKS.format("ruff-format")}, {"ruff-format": None}),
        ({".github/workflows/ci.yml": "run: ruff check\n"}, {"ruff": [".github/workflows/ci.yml"]}),
        ({"pyrightconfig.json": "{}"}, {"pyright": None}),
        ({"pyproject.toml": "[tool.basedpyright]\n"}, {"basedpyright": None}),
        ({"package.json": '{"eslintConfig": {}, "prettier": {}}'}, {"eslint": None, "prettier": None}),
        ({"package.json": '{"scripts": {"f": "prettier --check ."}}'}, {"prettier": ["package.json"]}),
        ({"package.json": '{"devDependencies": {"eslint": "9"}}'}, {}),
        ({"web/eslint.config.ts": "", "x/.eslintrc.json": ""}, {"eslint": None}),
        ({"biome.jsonc": "", "prettier.config.mjs": ""}, {"biome": None, "prettier": None}),
        ({"tsconfig.json": "{}"}, {"tsc": ["tsconfig.json"]}),
        ({"tsconfig.json": '{"files": [], "references": [{"path": "../x"}]}'}, {}),
        ({"go.mod": ""}, {"govet": None, "gofmt": None}),
        ({"Cargo.toml": ""}, {"clippy": None, "rustfmt": None}),
        ({"in/.shellcheckrc": ""}, {"shellcheck": ["in/.shellcheckrc"]}),
    ],
)
def test_what_is_used_is_said_by_the_repository(
    files: Mapping[str, str], expected: Mapping[str, list[str] | None]
) -> None:
    found = used(files)
    assert set(found) == set(expected)
    assert {name: found[name] for name, said in expected.items() if said is not None} == {
        name: said for name, said in expected.items() if said is not None
    }


def test_the_edition_of_a_package_is_that_of_its_workspace() -> None:
    outer = '[workspace]\nmembers = ["a", "b"]\n[workspace.package]\nedition = "2024"\n'
    files = {
        "Cargo.toml": outer,
        "a/Cargo.toml": "[package]\nedition.workspace = true\n",
        "b/Cargo.toml": '[package]\nedition = "2018"\n',
        "c/Cargo.toml": "[package]\n",
    }
    [rustfmt] = [one for one in uses(Tree(files), LintSettings()) if one.linter.name == "rustfmt"]
    editions = {project.root: project.learnt for project in rustfmt.projects}
    assert editions == {"": "2024", "a": "2024", "b": "2018", "c": "2015"}


def test_a_workspace_is_one_run_and_inner_projects_are_runs_of_their_own() -> None:
    files = {
        **{f"{root}Cargo.toml": "" for root in ("", "a/", "b/")},
        **{f"{root}tsconfig.json": "{}" for root in ("", "web/")},
        **{f"{root}x.{kind}": "" for root in ("", "a/", "web/") for kind in ("rs", "ts")},
    }
    tree = Tree(files)
    plan = planned(tree, uses(tree, LintSettings()), Wanted())
    assert {(job.linter.name, job.project.root) for job in plan.jobs} == {
        ("clippy", ""),
        ("rustfmt", ""),
        ("rustfmt", "a"),
        ("tsc", ""),
        ("tsc", "web"),
    }
    narrow = planned(tree, uses(tree, LintSettings()), Wanted([RepoPath("web/x.ts")]))
    assert [(job.linter.name, job.project.root) for job in narrow.jobs] == [("tsc", "web")]


def test_more_projects_than_can_be_looked_at_are_told() -> None:
    files = {f"p{n:02}/{name}": "{}" for n in range(25) for name in ("tsconfig.json", "a.ts")}
    tree = Tree(files)
    plan = planned(tree, uses(tree, LintSettings()), Wanted())
    assert len(plan.jobs) == 20
    assert plan.notes == ["tsc has 5 more projects; name paths to check those."]
