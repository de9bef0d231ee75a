"""ty-scip: what its configuration leaves out, and a real run."""

import tomllib
from pathlib import Path

from codeplane.semantic.indexers import INDEXERS
from tests.programs import from_pypi
from tests.semantic.indexers.lab import SYSTEM, Run, context, written

TY = INDEXERS["ty-scip"]
FILES = {
    "pkg/__init__.py": "",
    "pkg/model.py": "class Model:\n    def save(self) -> None: ...\n",
    "pkg/migrations/0001_initial.py": "from pkg.model import Model\n\nModel().save()\n",
    "pkg/is/odd.py": "",
    "next-steps/[a]~{b}*?.py": "",
    "next-steps/two words.py": "",
    "back\\slash.py": "",
    "use.py": "from pkg.model import Model\n\nModel().save()\n",
}
ODD = [name for name in FILES if not name.startswith(("pkg/__init__", "pkg/model", "use"))]


def config_of(root: Path) -> dict[str, object]:
    return tomllib.loads((root / "ty.toml").read_text())


def test_files_that_no_import_can_name_are_excluded_and_told(tmp_path: Path) -> None:
    root = written(tmp_path / "r", FILES)
    prepared = TY.prepare(root, context(root))
    assert list(prepared.excluded) == sorted(ODD)
    assert config_of(root)["src"] == {
        "exclude": [
            "./next-steps/\\[a\\]\\~\\{b\\}\\*\\?.py",
            "./next-steps/two\\ words.py",
            "./pkg/is/odd.py",
            "./pkg/migrations/0001_initial.py",
        ]
    }
    assert not (root / "back\\slash.py").exists()


def test_what_the_project_configures_goes_on_to_hold(tmp_path: Path) -> None:
    table = '[tool.ty.src]\nexclude = ["gen"]\n[tool.ty.environment]\npython-version = "3.11"\n'
    root = written(tmp_path / "r", {"pyproject.toml": table, "a-b.py": ""})
    TY.prepare(root, context(root))
    assert config_of(root) == {
        "environment": {"python-version": "3.11"},
        "src": {"exclude": ["gen", "./a-b.py"]},
    }


def test_digests_depend_on_configuration_and_environment_alone(tmp_path: Path) -> None:
    root = written(tmp_path / "r", {"pyproject.toml": '[project]\nname = "x"\n', **FILES})
    before = TY.digests(root, context(root))
    written(root, {"3rd.py": "", "pyproject.toml": '[project]\nname = "x"\nversion = "2"\n'})
    assert TY.digests(root, context(root)) == before
    written(root, {"uv.lock": "version = 1\n"})
    locked = TY.digests(root, context(root))
    assert (locked.configuration, locked.environment != before.environment) == (before.configuration, True)
    written(root, {"pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=3.12"\n'})
    assert TY.digests(root, context(root)).configuration != before.configuration
    prepared = TY.prepare(root, context(root))
    assert prepared.digests.environment == locked.environment
    assert prepared.own_packages == {"x"}


def test_a_tree_with_odd_names_is_indexed(tmp_path: Path) -> None:
    programs = from_pypi("ty-scip", "0.1.0")
    root = written(tmp_path / "r", FILES)
    run = Run(TY, root, f"{programs}:{SYSTEM}")
    assert run.tool.version == "0.1.0"
    data = run.commands[0].output.read_bytes()
    assert b"use.py" in data and b"0001_initial" not in data
