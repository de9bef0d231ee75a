"""What indexers say counts where it still holds, and nowhere else."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.index.semantics import SemanticTarget
from codeplane.names import Index
from codeplane.names.freshness import Freshness, external_name
from tests.index.toy_indexer import definition, external, tell

FILES = {
    "tool.py": """\
class Tool:
    def run(self): ...
    def stop(self) -> None: ...

def make():
    return Tool()
""",
    "other.py": """\
class Other:
    def run(self): ...
""",
    "app.py": """\
from tool import make

def go(thing, words):
    thing.run()
    words.run()
    make().stop()
""",
}
RUN = ("app.py", 4, "run")
WORDS = ("app.py", 5, "run")
STOP = ("app.py", 6, "stop")
SAID = {
    RUN: definition("tool.py", "Tool.run"),
    WORDS: external("python-stdlib words/Words#run()."),
    STOP: definition("tool.py", "Tool.stop"),
    ("app.py", 6, "make"): definition("tool.py", "make"),
}  # fmt: skip


@pytest.fixture
def told(index: Index, repo: Path) -> Index:
    write(repo, **FILES)
    index.refresh()
    tell(index, SAID)
    return index


def write(repo: Path, **files: str) -> None:
    for name, text in files.items():
        (repo / name).write_text(text)


def edit(index: Index, repo: Path, path: str, old: str, new: str) -> None:
    text = (repo / path).read_text()
    assert old in text
    (repo / path).write_text(text.replace(old, new))
    index.refresh()


def lines(index: Index, symbol: str) -> dict[str, tuple[Tier, str]]:
    """Where a definition is referred to, with tier and evidence."""
    with index.snapshot() as snapshot:
        fact = snapshot.symbol(symbol)
        refs = snapshot.references_to(RepoPath(fact.path), fact.position, 100).items
        return {f"{ref.path}:{ref.line}": (ref.tier, ref.evidence) for ref in refs}


def freshness(index: Index, path: str = "app.py") -> Freshness:
    with index.snapshot() as snapshot:
        return snapshot.semantic_states.state(RepoPath(path)).freshness


STRONG = (Tier.STRONG, "toy 1.0")
OPEN = (Tier.ANCHORED, "structure")


def test_what_the_structure_leaves_open_is_what_the_indexer_says(told: Index) -> None:
    assert lines(told, "Tool.run") == {"app.py:4": STRONG}
    assert lines(told, "Other.run") == {}  # one means another definition, the other something outside
    assert freshness(told) is Freshness.CLEAN
    assert freshness(told, "other.py") is Freshness.UNINDEXED


def test_an_edit_of_the_file_itself_ends_its_facts(told: Index, repo: Path) -> None:
    edit(told, repo, "app.py", "thing.run()", "thing.run( )")
    assert freshness(told) is Freshness.DIRTY
    assert lines(told, "Tool.run") == {"app.py:4": OPEN, "app.py:5": OPEN}
    edit(told, repo, "app.py", "thing.run( )", "thing.run()")
    assert lines(told, "Tool.run") == {"app.py:4": STRONG}


def test_an_edit_elsewhere_moves_what_facts_mean_along(told: Index, repo: Path) -> None:
    edit(told, repo, "tool.py", "class Tool:", "# more\n\nTABLE: int = 1\n\nclass Tool:")
    assert freshness(told) is Freshness.CLEAN
    assert lines(told, "Tool.run") == {"app.py:4": STRONG}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("tool.py", "-> None: ...", "-> None: pass", Freshness.CLEAN),  # a body
        ("tool.py", "return Tool()", "return None", Freshness.STALE),  # a body that a type follows from
        ("tool.py", "def run(self): ...", "def run(self, a): ...", Freshness.STALE),
        ("tool.py", "def run(self): ...", "def walk(self): ...", Freshness.STALE),
        ("other.py", "class Other:", "class Other(Tool):", Freshness.STALE),  # its members may come between
        ("other.py", "def run(self): ...", "def walk(self): ...", Freshness.STALE),
        ("other.py", "def run(self): ...", "def run(self): pass", Freshness.CLEAN),
        ("other.py", "class Other:", "def free(): ...\n\nclass Other:", Freshness.CLEAN),
    ],
)  # fmt: skip
def test_facts_are_stale_when_what_they_rest_on_changes(
    told: Index, repo: Path, path: str, old: str, new: str, expected: Freshness
) -> None:
    lines(told, "Tool.run")  # answers are kept from here on
    edit(told, repo, path, old, new)
    assert freshness(told) is expected


def test_a_new_file_with_a_member_of_the_name_makes_facts_stale(told: Index, repo: Path) -> None:
    write(
        repo, **{"late.py": "from tool import Tool\n\nclass Late(Tool):\n    def stop(self) -> None: ...\n"}
    )
    told.refresh()
    assert freshness(told) is Freshness.STALE


def test_an_import_that_leads_elsewhere_makes_facts_stale(told: Index, repo: Path) -> None:
    edit(told, repo, "tool.py", "def make():", "from other import make\n\ndef make2():")
    assert freshness(told) is Freshness.STALE


def test_a_changed_input_of_the_run_makes_facts_stale(index: Index, repo: Path) -> None:
    write(repo, **FILES, **{"uv.lock": "one"})
    index.refresh()
    with index.snapshot() as snapshot:
        digest = snapshot.digests()[RepoPath("uv.lock")]
    tell(index, SAID, inputs={"uv.lock": digest})
    assert lines(index, "Tool.run") == {"app.py:4": STRONG}
    edit(index, repo, "uv.lock", "one", "two")
    assert freshness(index) is Freshness.STALE
    assert lines(index, "Tool.run") == {"app.py:4": OPEN, "app.py:5": OPEN}


def test_an_edit_rests_on_nothing_that_rests_on_a_change(index: Index, repo: Path) -> None:
    write(
        repo,
        **{
            "far.py": "class Far:\n    def run(self): ...\n\ndef make():\n    return Far()\n",
            "mid.py": "import far\n\nclass Mid:\n    def __init__(self):\n        self.part = far.make()\n",
            "app.py": "def go(mid):\n    mid.part.run()\n",
        },
    )
    index.refresh()
    tell(
        index,
        {
            ("mid.py", 5, "make"): definition("far.py", "make"),
            ("app.py", 2, "part"): definition("mid.py", "Mid.part"),
            ("app.py", 2, "run"): definition("far.py", "Far.run"),
        },
    )
    app = RepoPath("app.py")
    with index.snapshot() as snapshot:
        assert snapshot.semantic_states.state_for_edit(app).freshness is Freshness.CLEAN
    edit(index, repo, "far.py", "return Far()", "return None")
    with index.snapshot() as snapshot:
        assert snapshot.semantic_states.state(RepoPath("mid.py")).freshness is Freshness.STALE
        assert snapshot.semantic_states.state_for_edit(app).freshness is Freshness.PENDING_CHECK


def test_build_contexts_that_differ_say_nothing(told: Index) -> None:
    tell(told, {RUN: definition("other.py", "Other.run")}, context="python:other")
    assert lines(told, "Tool.run") == {"app.py:4": OPEN}


def test_a_module_is_what_the_indexer_says_while_it_is_there(index: Index, repo: Path) -> None:
    (repo / "pack").mkdir()
    write(repo, **{"pack/__init__.py": "", "pack/part.py": "x = 1\n", "app.py": "import pack\npack.part.x\n"})
    index.refresh()
    tell(index, {("app.py", 2, "part"): SemanticTarget("file", RepoPath("pack/part.py"))})
    with index.snapshot() as snapshot:
        [ref] = [one for one in snapshot.references_in(RepoPath("app.py")) if one.name == "part"]
    assert (ref.tier, ref.evidence) == STRONG
    (repo / "pack" / "part.py").unlink()
    index.refresh()
    with index.snapshot() as snapshot:
        [ref] = [one for one in snapshot.references_in(RepoPath("app.py")) if one.name == "part"]
    assert not ref.target


def test_a_member_that_is_overridden_is_only_possibly_the_one_of_the_base(index: Index, repo: Path) -> None:
    write(
        repo, **FILES, **{"late.py": "from tool import Tool\n\nclass Late(Tool):\n    def run(self): ...\n"}
    )
    index.refresh()
    tell(index, SAID)
    assert lines(index, "Tool.run") == {"app.py:4": STRONG}
    assert lines(index, "Late.run")["app.py:4"] == (Tier.ANCHORED, "toy 1.0")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("python-stdlib re/compile().", "compile"),
        ("`builtins`/dict#get().", "get"),
        ("npm `a.ts`/Thing#", "Thing"),
        ("go `net/http`/Request#URL.", "URL"),
        ("x y/z:", "z"),
    ],
)
def test_the_last_name_of_an_external_symbol(text: str, name: str) -> None:
    assert external_name(text) == name


def test_a_read_before_its_name_is_bound_is_no_reference_whatever_an_indexer_says(
    index: Index, repo: Path
) -> None:
    write(repo, **{"compat.py": "zip = (\n    zip\n)\n\n\ndef pairs():\n    return zip([1])\n"})
    index.refresh()
    tell(index, {("compat.py", 2, "zip"): definition("compat.py", "zip")})
    with index.snapshot() as snapshot:
        tiers = {
            ref.line: ref.tier for ref in snapshot.references_in(RepoPath("compat.py")) if ref.name == "zip"
        }
    assert tiers == {1: Tier.PROVEN, 2: Tier.UNKNOWN, 7: Tier.PROVEN}
