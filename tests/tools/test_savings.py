"""What an answer is said to have saved: the lines of grep and the first files, as far as they are read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drive import git
from tests.tools.repo import Repo

FILES = {f"shop/m{n}.py": f"class Base{n}:\n    def go(self): ...\n" + "# x\n" * 500 for n in range(5)}
RUN = "    def run(self):\n        return Base0().go()\n"
MORE = {"shop/all.py": f"from shop.m0 import Base0\n\n\nclass One(Base0):\n{RUN}"}


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {**FILES, **MORE})
    yield made
    made.session.close()


def saved(repo: Repo, tool: str, **arguments: object) -> int:
    answer = repo.ask(tool, **arguments)
    assert not answer.is_error, answer.body
    tokens: int = answer.body["meta"]["tokens_saved"]
    return tokens


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("types_hierarchy", {"symbol": "Base0"}, 1),
        ("symbols_search", {"query": "Base"}, 3),
        ("graph_trace_feature", {"entry_point": "One.run"}, 1),
    ],
)
def test_what_a_tool_spares_is_said(repo: Repo, tool: str, arguments: dict[str, object], files: int) -> None:
    assert files * 350 < saved(repo, tool, **arguments) < files * 600


def test_a_diff_spares_the_reading_of_what_changed(repo: Repo) -> None:
    for name in FILES:
        repo.write(name, FILES[name].replace("def go(self)", "def go(self, x)"))
    assert 3 * 200 < saved(repo, "semantic_diff") < 3 * 600
    git(repo.root, "checkout", "-q", ".")
    answer = repo.ask("semantic_diff")
    assert "tokens_saved" not in answer.body["meta"]  # nothing to read, nothing saved


def test_of_a_huge_file_counts_what_is_read_at_once(repo: Repo) -> None:
    repo.write("shop/huge.py", f'def huge(): ...\n"""{"filling " * 200_000}"""\n')
    assert 15_000 < saved(repo, "symbols_search", query="huge") <= 20_100
    assert 15_000 < saved(repo, "read_source", targets=["shop/huge.py:1-5"]) <= 20_000
