"""Each file belongs to the build context that owns it, and only what moves contexts makes them anew."""

from pathlib import Path

import pytest

from codeplane.contexts.file import read_contexts
from codeplane.core.paths import RepoPath
from codeplane.index.view import units as units_module
from codeplane.names import Index
from tests.drive import git

FILES = {
    "app/pyproject.toml": "[project]\nname = 'app'\n",
    "app/a.py": "x = 1\n",
    "lib/pyproject.toml": "[project]\nname = 'lib'\n",
    "lib/b.py": "y = 1\n",
    "loose.py": "z = 1\n",
    "notes.unknown": "text\n",
    "run.sh": "f() { :; }\n",
}


@pytest.fixture
def tree(repo: Path) -> Path:
    for name, text in FILES.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    return repo


def unit(index: Index, path: str) -> str:
    index.refresh()
    with index.snapshot() as snapshot:
        return snapshot.unit_of(RepoPath(path))


def test_a_unit_is_the_family_and_the_root_of_the_context(index: Index, tree: Path) -> None:
    found = {path: unit(index, path) for path in FILES}
    assert found["app/a.py"] == "python:app" and found["lib/b.py"] == "python:lib"
    assert found["loose.py"] == "python:" and found["run.sh"] == "shell:" and found["notes.unknown"] == ":"
    assert found["app/pyproject.toml"] == "json_yaml:"


def test_contexts_are_found_again_when_a_marker_comes_or_goes(index: Index, tree: Path) -> None:
    assert unit(index, "loose.py") == "python:"
    (tree / "pyproject.toml").write_text("[project]\nname = 'all'\n")
    assert unit(index, "loose.py") == "python:" and unit(index, "app/a.py") == "python:app"
    (tree / "app" / "pyproject.toml").unlink()
    assert unit(index, "app/a.py") == "python:"


def test_an_edit_keeps_the_contexts(index: Index, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unit(index, "app/a.py") == "python:app"
    monkeypatch.setattr(units_module, "discover", lambda *_: pytest.fail("looked for contexts again"))
    (tree / "app" / "a.py").write_text("x = 2\n")
    assert unit(index, "app/a.py") == "python:app"


def test_a_commit_has_the_contexts_of_its_own_files(index: Index, tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "all")
    (tree / "app" / "pyproject.toml").unlink()
    assert unit(index, "app/a.py") == "python:"
    with index.commit_snapshot("HEAD") as snapshot:
        assert snapshot.unit_of(RepoPath("app/a.py")) == "python:app"


def test_what_the_user_says_counts(index: Index, tree: Path) -> None:
    said = "version: 1\ncontexts:\n- {family: python, root_path: lib, enabled: false, status: valid}\n"
    index.configure(read_contexts(said))
    assert unit(index, "lib/b.py") == "python:" and unit(index, "app/a.py") == "python:app"
