"""An index that a real rust-analyzer has made of a crate of ours, taken in as CI's would be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.index.semantics import SemanticTarget
from codeplane.names import Freshness, RefFact
from tests.drive import Cpl, user_env
from tests.tools.repo import Repo, trust

CRATE = Path(__file__).parent / "rust"
INDEX = CRATE / "index.scip"
FILES = {
    path.relative_to(CRATE).as_posix(): path.read_text()
    for path in sorted(CRATE.rglob("*"))
    if path.suffix in (".rs", ".toml", ".lock")
}
SOURCES = [name for name in FILES if name.endswith(".rs")]


class Crate:
    """The crate in a repository that its user trusts."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo = Repo(base, FILES)
        trust(self.repo.root, base)
        self.reopen()

    def reopen(self) -> None:
        self.repo.session.close()
        self.repo = Repo.at(self.repo.root, self.base)

    def take_index(self) -> dict[str, Any]:
        [context] = self.repo.result("semantic_refresh", action="import", index=str(INDEX))["contexts"]
        return dict(context)

    def reference(self, path: str, text: str) -> RefFact:
        """The name between the brackets: `jar.<label>()`."""
        line, column = _position(path, text)
        self.repo.session.refresh()
        with self.repo.session.index.snapshot() as snapshot:
            references = snapshot.references.inside(path)  # type: ignore[arg-type]
            [reference] = [one for one in references if (one.line, one.column) == (line, column)]
        return reference

    def target(self, path: str, text: str) -> str:
        """Where a name leads by all that is known: a place, "outside", or "" where that is not certain."""
        reference = self.reference(path, text)
        if reference.tier not in ("proven", "strong"):
            return ""
        with self.repo.session.index.snapshot() as snapshot:
            places = [snapshot.definition(place).item.name_line for place in reference.target]
        pairs = zip(reference.target, places, strict=True)
        return ", ".join(f"{place.path}:{line}" for place, line in pairs) or "outside"

    def semantic_target(self, path: str, text: str) -> SemanticTarget:
        """What the index alone says of a name."""
        line, column = _position(path, text)
        with self.repo.session.index.snapshot() as snapshot:
            number = snapshot.all_occurrences(path).number_at(line, column)
            [document] = snapshot.semantics.documents(path)
            assert number is not None
            return document.targets[document.column[number] - 1]

    def state(self, path: str) -> Freshness:
        self.repo.session.refresh()
        with self.repo.session.index.snapshot() as snapshot:
            return snapshot.semantic_states.state(path).freshness  # type: ignore[arg-type]


def _position(path: str, text: str) -> tuple[int, int]:
    before, _, rest = text.partition("<")
    name, _, after = rest.partition(">")
    content = FILES[path]
    assert content.count(before + name + after) == 1, text
    start = content.index(before + name + after) + len(before)
    return content.count("\n", 0, start) + 1, start - content.rfind("\n", 0, start) - 1


@pytest.fixture
def crate(tmp_path: Path) -> Iterator[Crate]:
    crate = Crate(tmp_path)
    yield crate
    crate.repo.session.close()


def test_the_command_line_takes_an_index_made_elsewhere(crate: Crate, tmp_path: Path) -> None:
    crate.repo.session.close()
    cpl = Cpl(crate.repo.root, user_env(tmp_path / "home"))
    [context] = cpl.json("semantic", "import", str(INDEX), "--context", "rust:.")["result"]["contexts"]
    assert (context["status"], context["indexer"]) == ("completed", "rust-analyzer 1.97.1")
    assert (context["indexed"], context["files"]) == (len(SOURCES), len(SOURCES))
    status = cpl.run("semantic", "status").stdout
    assert "rust:." in status and f"{len(SOURCES)} clean" in status


BEHIND_RECEIVERS = [
    ("src/lib.rs", "shelf.<jars>())", "src/shelf.rs:20"),  # the parameter of a closure
    ("src/lib.rs", "jar.<is_full>()", "src/jar.rs:28"),
    ("src/lib.rs", "jar.<label>()", "src/jar.rs:40"),
    ("src/lib.rs", "|jar| jar.<size>)", "src/jar.rs:13"),
    ("src/lib.rs", "shelf.<empty>()", "src/shelf.rs:24"),
    ("src/jar.rs", "Jar { size, <content>:", "src/jar.rs:14"),  # a field of a literal
    ("src/jar.rs", '"{}", self.<label>())', "src/jar.rs:40"),  # inside a macro
    ("tests/jars.rs", "self.0.<length>()", "src/jar.rs:6"),  # a method that the trait has for all
    ("tests/shelves.rs", "5).<fill>(9)", "src/jar.rs:23"),  # the result of a call
    ("tests/shelves.rs", ".fill(9)).<put>(", "src/shelf.rs:11"),
    ("tests/shelves.rs", "probe.0.<get>(", "src/shelf.rs:16"),
    ("tests/shelves.rs", "|jar| jar.<size>)", "src/jar.rs:13"),
]


@pytest.mark.parametrize(("path", "text", "target"), BEHIND_RECEIVERS)
def test_a_receiver_that_the_structure_does_not_know_is_decided(
    crate: Crate, path: str, text: str, target: str
) -> None:
    assert crate.target(path, text) == ""
    crate.take_index()
    assert crate.target(path, text) == target
    assert crate.reference(path, text).evidence == "rust-analyzer 1.97.1"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/shelf.rs", "self.jars.<get>(label)"),  # not the `get` that the crate defines
        ("src/jar.rs", "size.<parse>()"),  # nor its `parse`
        ("src/lib.rs", "label().<to_uppercase>()"),
    ],
)
def test_a_member_of_the_standard_library_is_outside(crate: Crate, path: str, text: str) -> None:
    assert crate.target(path, text) == ""
    crate.take_index()
    assert crate.target(path, text) == "outside"
    assert crate.semantic_target(path, text).kind == "external"


def test_what_another_indexed_crate_may_define_is_not_outside(crate: Crate) -> None:
    # `#[derive(Default)]` makes a method that no source has: its symbol is of this crate and defined nowhere.
    crate.take_index()
    assert crate.target("tests/shelves.rs", "Shelf::<default>()") == ""


@pytest.mark.parametrize("path", ["tests/jars.rs", "tests/shelves.rs"])
def test_a_symbol_that_two_crates_share_is_ambiguous(crate: Crate, path: str) -> None:
    crate.take_index()
    probe = "probe.<weigh>()"
    target = crate.semantic_target(path, probe)
    assert target.kind == "ambiguous" and len(target.choices) == 2
    assert crate.target(path, probe) == ""


def test_a_function_that_another_system_has_too_is_ambiguous(crate: Crate) -> None:
    # rust-analyzer says nothing about what `#[cfg(windows)]` leaves out.
    crate.take_index()
    target = crate.semantic_target("src/lib.rs", "jar::<separator>()")
    assert target.kind == "ambiguous" and len(target.choices) == 2
    assert crate.reference("src/lib.rs", "jar::<separator>()").evidence != "rust-analyzer 1.97.1"


def test_places_of_a_shared_symbol_stay_possible_and_a_rename_asks(crate: Crate) -> None:
    crate.take_index()
    answer = crate.repo.result("refs_find", symbol="tests/jars.rs:Probe.weigh")
    assert answer["tiers"] == {"anchored": 2}
    renamed = crate.repo.result("refactor_rename", symbol="tests/jars.rs:Probe.weigh", new_name="balance")
    assert renamed["outcome"] == "needs_decision"
    assert {name: (crate.repo.root / name).read_text() for name in FILES} == FILES


def test_a_rename_of_a_method_behind_a_closure_is_done_at_once(crate: Crate) -> None:
    crate.take_index()
    done = crate.repo.result("refactor_rename", symbol="Shelf.empty", new_name="clear_out")
    assert done["outcome"] == "ok" and done["remarks"] == ["1 place decided by rust-analyzer 1.97.1."]
    assert "|shelf| shelf.clear_out()" in (crate.repo.root / "src/lib.rs").read_text()


def test_an_edited_file_and_what_rests_on_it_are_no_longer_clean(crate: Crate) -> None:
    crate.take_index()
    place = ("src/lib.rs", "jar.<is_full>()")
    assert crate.state("src/lib.rs") is Freshness.CLEAN
    crate.repo.write("src/jar.rs", FILES["src/jar.rs"].replace("level == self.size", "level >= self.size"))
    assert crate.state("src/jar.rs") is Freshness.DIRTY
    assert crate.state("src/lib.rs") is Freshness.CLEAN  # a body says nothing to others
    assert crate.target(*place) == "src/jar.rs:28"
    crate.repo.write("src/jar.rs", FILES["src/jar.rs"].replace("is_full(&self)", "is_full(&self, by: u32)"))
    assert crate.state("src/lib.rs") is not Freshness.CLEAN
    assert crate.target(*place) == ""


def test_an_index_of_other_contents_is_left_out_or_refused(crate: Crate) -> None:
    crate.repo.write("src/lib.rs", "// a line more\n" + FILES["src/lib.rs"])
    context = crate.take_index()
    assert (context["indexed"], context["changed"]) == (len(SOURCES) - 1, 1)
    assert crate.state("src/lib.rs") is Freshness.UNINDEXED
