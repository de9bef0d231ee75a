"""Any state of the files is answered about as if it were on the disk."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.drive import git
from tests.states.questions import ask_all
from tests.tools.repo import Repo

FILES = {
    "README.md": "# Demo\n\nRuns `helper`.\n",
    "app.py": "from lib.util import Base, helper\n\n\n"
    "class App(Base):\n    def run(self):\n        return helper(1)\n",
    "lib/__init__.py": "",
    "lib/util.py": "class Base:\n    def run(self):\n        return 0\n\n\ndef helper(x):\n    return x\n",
    "lib/web.py": "import os\n\nfrom fastapi import FastAPI\n\nweb = FastAPI()\n"
    "KEY = os.environ['APP_KEY']\n\n\n@web.get('/items')\ndef items():\n    return []\n",
    "tests/test_app.py": "from app import App\n\n\ndef test_run():\n    assert App().run() == 1\n",
    "pyproject.toml": "[project]\nname = 'demo'\n",
}
# Contents that make and break links between files, change interfaces or nothing that others see.
CONTENTS = (
    "",
    "x = 1\n",
    "def helper(x, y=2):\n    return y\n",
    "from lib.util import helper as again\n\n\ndef go():\n    return again(3)\n",
    "from app import App\n\n\nclass Other(App):\n    def run(self):\n        return super().run()\n",
    "class Base:\n    def run(self):\n        return 7\n\n\ndef helper(x):\n    return x * 2\n",
    "def broken(:\n",
    "from lib import util\n\n\ndef test_helper():\n    assert util.helper(2)\n",
    "[project]\nname = 'other'\ndependencies = ['flask']\n",
)
PATHS = (*FILES, "new.py", "lib/deep/more.py", "tests/test_new.py", "lib2/util.py")
Edits = dict[str, str | None]
edits = st.dictionaries(st.sampled_from(PATHS), st.none() | st.sampled_from(CONTENTS), max_size=4)
SETTINGS = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


def change(root: Path, changes: Mapping[str, str | None]) -> None:
    for path, text in changes.items():
        file = root / path
        if text is None:
            file.unlink(missing_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def virtual(changes: Mapping[str, str | None], files: Mapping[str, object]) -> list[dict[str, object]]:
    """The same changes as virtual files; what is not there can't be deleted."""
    return [
        {"path": path, "content": text} if text is not None else {"path": path, "deleted": True}
        for path, text in changes.items()
        if text is not None or path in files
    ]


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "step", "--allow-empty")


@SETTINGS
@given(before=edits, after=edits)
def test_virtual_files_are_answered_about_as_if_they_were_written(
    base: Path, before: Edits, after: Edits
) -> None:
    place = Path(mkdtemp(dir=base))
    repo = Repo(place, FILES)
    git(repo.root, "tag", "v1")
    change(repo.root, before)
    there = {path: text for path, text in {**FILES, **before}.items() if text is not None}
    expected_before = ask_all(repo)
    answers = ask_all(repo, virtual_files=virtual(after, there))
    assert ask_all(repo) == expected_before  # nothing of it stays
    repo.session.close()
    change(repo.root, after)
    shutil.rmtree(repo.root / ".codeplane")
    fresh = Repo.at(repo.root, place)
    assert answers == ask_all(fresh)
    fresh.session.close()


@SETTINGS
@given(step=edits, dirty=edits, files=edits)
def test_a_commit_is_answered_about_as_a_checkout_of_it(
    base: Path, step: Edits, dirty: Edits, files: Edits
) -> None:
    place = Path(mkdtemp(dir=base))
    repo = Repo(place, FILES)
    change(repo.root, step)
    commit(repo.root)
    git(repo.root, "tag", "v1")
    change(repo.root, dirty)
    commit(repo.root)
    change(repo.root, step)
    there = {path for path, text in {**FILES, **step}.items() if text is not None}
    on_top = virtual(files, dict.fromkeys(there))
    git(repo.root, "checkout", "-q", "-f", "main")
    answers = ask_all(repo, commit="v1"), ask_all(repo, commit="v1", virtual_files=on_top)
    repo.session.close()
    other = Path(mkdtemp(dir=base))
    git(repo.root, "clone", "-q", "-b", "v1", str(repo.root), str(other / "repo"))
    fresh = Repo.at(other / "repo", other)
    assert answers[0] == ask_all(fresh)
    change(fresh.root, files)
    assert answers[1] == ask_all(fresh)
    fresh.session.close()
