"""scip-python: its configuration, and a real run."""

import json
from pathlib import Path

from codeplane.semantic.indexers import INDEXERS
from tests.semantic.indexers.lab import Run, Sources, context, npm_tool, written

PYTHON = INDEXERS["scip-python"]
FILES = {
    "pyproject.toml": '[project]\nname = "toy"\n\n[tool.pyright]\ninclude = ["src"]\nstrict = ["src/toy"]\n',
    "src/toy/__init__.py": "",
    "src/toy/store.py": "class Store:\n    def save(self, name: str) -> None: ...\n",
    "tests/test_store.py": 'from toy.store import Store\n\n\ndef test_it() -> None:\n    Store().save("x")\n',
}


def test_code_outside_of_src_finds_what_it_imports(tmp_path: Path) -> None:
    root = written(tmp_path / "r", FILES)
    path = npm_tool(root, "scip-python", "@sourcegraph/scip-python", "0.6.6", "index.js")
    result = Run(PYTHON, root, path)
    sources = Sources(FILES, result.index)
    assert sources.target("tests/test_store.py", "Store().<save>(") == "src/toy/store.py:2"
    assert (result.tool.version, set(result.prepared.own_packages)) == ("0.6.6", {"toy"})


def test_roots_of_all_contexts_are_paths_and_the_project_s_settings_hold(tmp_path: Path) -> None:
    files = {f"a/{name}": text for name, text in FILES.items()} | {"b/setup.py": "", "b/src/other.py": ""}
    root = written(tmp_path / "r", files)
    PYTHON.prepare(root, context(root, "a", "a", "b"))
    config = json.loads((root / "a/pyrightconfig.json").read_text())
    assert config == {"strict": ["src/toy"], "extraPaths": ["src", ".", "../b/src", "../b"]}
