"""What an index says is joined to the tokens that it says it of, and to nothing else."""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.errors import ScipError
from codeplane.core.paths import Digest, RepoPath
from codeplane.index import Workers
from codeplane.index.semantics import Counts, SemanticDocument, SemanticTarget
from codeplane.jail import Jail
from codeplane.languages.facts import Occurrences, Role
from codeplane.names import Index
from codeplane.semantic.join import IndexedFile, Joined, Origin, join
from codeplane.semantic.scip import read_index
from codeplane.session.semantic.imports import IndexedFiles
from tests.index.conftest import tree_of
from tests.semantic.scip_writer import Paper, Relates, Says, index

DEF, IMPORT = 1, 2
OWN = "toy pip own 1 "
STD = "toy pip std 3.10 "


class Bench:
    """A repository whose files are indexed, and indexes that are written about it."""

    def __init__(self, root: Path, index: Index) -> None:
        self.root, self._index = root, index

    def write(self, files: dict[str, str | bytes]) -> None:
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        self._index.refresh()

    def join(self, papers: list[Paper], origin: Origin | None = None) -> Joined:
        with self._index.snapshot() as snapshot:
            items = read_index(io.BytesIO(index(papers)))
            return join(items, IndexedFiles(snapshot, self._read), origin or Origin(Jail(self.root).enter))

    def _read(self, path: RepoPath) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def say(self, path: str, name: str, symbol: str, roles: int = 0, nth: int = 0) -> Says:
        """An occurrence of a name in a file, of those the one with a number."""
        text = (self.root / path).read_text()
        at = -1
        for _ in range(nth + 1):
            at = text.index(name, at + 1)
        line = text.count("\n", 0, at)
        start = len(text[text.rfind("\n", 0, at) + 1 : at].encode())
        return Says((line, start, start + len(name.encode())), symbol, roles)

    def meant(self, document: SemanticDocument, name: str, nth: int = 0) -> SemanticTarget | None:
        """What an occurrence of a name in a document means."""
        with self._index.snapshot() as snapshot:
            occurrences = snapshot.all_occurrences(document.path)
        positions = [at for at, one in enumerate(occurrences.names) if occurrences.texts[one] == name]
        value = document.column[positions[nth]]
        return document.targets[value - 1] if value else None


@pytest.fixture
def bench(repo: Path, tmp_path: Path, workers: Workers) -> Iterator[Bench]:
    database = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    yield Bench(repo, database)
    database.close()


def definition(path: str, names: str, number: int = 0) -> SemanticTarget:
    return SemanticTarget("definition", path, names, number)


MODEL = "class Thing:\n    def run(self):\n        pass\n"
USE = "from model import Thing\n\n\ndef go(thing, other):\n    thing.run()\n    other.run()\n    len(thing)\n"


def test_a_reference_leads_to_the_definition_in_another_file(bench: Bench) -> None:
    bench.write({"model.py": MODEL, "use.py": USE})
    run, thing = f"{OWN}model/Thing#run().", f"{OWN}model/Thing#"
    use = [
        bench.say("use.py", "model", f"{OWN}model/", IMPORT),
        bench.say("use.py", "Thing", "local 0", DEF | IMPORT),
        bench.say("use.py", "Thing", thing, IMPORT),
        bench.say("use.py", "thing", "local 1", DEF),
        bench.say("use.py", "thing", "local 1", nth=1),
        bench.say("use.py", "run", run),
        bench.say("use.py", "len", f"{STD}builtins/len()."),
    ]
    model = [
        Says((0, 0, 0), f"{OWN}model/", DEF),
        bench.say("model.py", "Thing", thing, DEF),
        bench.say("model.py", "run", run, DEF),
    ]
    joined = bench.join([Paper("use.py", use), Paper("model.py", model)])
    assert joined.metadata.tool == "toy" and joined.absent == {}
    document = joined.documents[0]
    assert bench.meant(document, "run") == definition("model.py", "Thing.run")
    assert bench.meant(document, "Thing") == definition("model.py", "Thing")
    assert bench.meant(document, "model") == SemanticTarget("file", "model.py")
    assert bench.meant(document, "thing", 1) == SemanticTarget("local", "use.py")
    assert bench.meant(document, "len") == SemanticTarget("external", text="std builtins/len().")
    assert bench.meant(document, "run", 1) is None  # nothing is said of the other receiver
    assert document.counts == Counts(inside=3, external=1, local=2, unresolved=5)
    assert sum(document.counts[:5]) == len(document.column) and document.ambiguity == ()
    assert bench.meant(joined.documents[1], "run") == definition("model.py", "Thing.run")


def test_a_symbol_with_several_definitions_is_ambiguous(bench: Bench) -> None:
    text = "if a:\n    def f(): ...\nelse:\n    def f(): ...\nf()\n"
    bench.write({"a.py": text})
    says = [bench.say("a.py", "f()", f"{OWN}a/f().", DEF), bench.say("a.py", "f()", f"{OWN}a/f().", DEF, 1)]
    says = [Says((*one.span[:2], one.span[2] - 2), one.symbol, one.roles) for one in says]
    says.append(Says((4, 0, 1), f"{OWN}a/f()."))
    [document] = bench.join([Paper("a.py", says)]).documents
    assert bench.meant(document, "f") == definition("a.py", "f")
    assert bench.meant(document, "f", 1) == definition("a.py", "f", 1)
    use = bench.meant(document, "f", 2)
    assert use is not None and use.kind == "ambiguous"
    assert [document.targets[one] for one in use.choices] == [
        definition("a.py", "f"), definition("a.py", "f", 1),
    ]  # fmt: skip
    assert document.ambiguity == ("several_definitions",)


def test_overloads_are_one_thing(bench: Bench) -> None:
    text = "function f(a: number): void;\nfunction f(a: string): void;\nfunction f(a: any) {}\nf(1);\n"
    bench.write({"a.ts": text})
    says = [Says((line, 9, 10), f"{OWN}`a.ts`/f().", DEF) for line in range(3)]
    [document] = bench.join([Paper("a.ts", [*says, Says((3, 0, 1), f"{OWN}`a.ts`/f().")])]).documents
    targets = {bench.meant(document, "f", nth) for nth in range(4)}
    assert len(targets) == 1 and document.ambiguity == ()
    assert {one.kind for one in targets if one} == {"definition"}


def test_several_symbols_at_one_token_are_choices(bench: Bench) -> None:
    text = "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\ndef g(x):\n    x.f()\n    x.f()\n"
    bench.write({"a.py": text})
    says = [
        Says((1, 8, 9), f"{OWN}a/A#f().", DEF),
        Says((3, 8, 9), f"{OWN}a/B#f().", DEF),
        *(Says((5, 6, 7), f"{OWN}a/{name}#f().") for name in "AB"),
        *(Says((6, 6, 7), f"{STD}a/{name}#f().") for name in "AB"),
    ]
    [document] = bench.join([Paper("a.py", says)]).documents
    use = bench.meant(document, "f", 2)
    assert use is not None and [document.targets[one].names for one in use.choices] == ["A.f", "B.f"]
    assert bench.meant(document, "f", 3) == SemanticTarget("external", text="std a/A#f().")
    assert document.ambiguity == ("several_symbols",)


def test_a_type_and_a_value_of_one_name_are_told_apart_by_the_place(bench: Bench) -> None:
    bench.write({"a.ts": "interface X {}\nconst X = 1;\nlet y: X = X as any;\nexport { X };\n"})
    says = [Says((0, 10, 11), f"{OWN}X#", DEF), Says((1, 6, 7), f"{OWN}X.", DEF)]
    for span in ((2, 7, 8), (2, 11, 12), (3, 9, 10)):
        says += [Says(span, f"{OWN}X#"), Says(span, f"{OWN}X.")]
    [document] = bench.join([Paper("a.ts", says)]).documents
    meant = [bench.meant(document, "X", nth) for nth in range(2, 5)]
    assert [(one.kind, one.number) for one in meant if one] == [
        ("definition", 0), ("definition", 1), ("ambiguous", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "text", "constructor", "place"),
    [
        ("a.ts", "class A {\n  constructor() {}\n}\nnew A();\n", (1, 2, 13), (3, 4, 5)),
        ("A.java", "class A {\n  A() {}\n  A make() { return new A(); }\n}\n", (1, 2, 3), (2, 24, 25)),
    ],
)
def test_a_call_of_a_constructor_means_the_class(
    bench: Bench, path: str, text: str, constructor: tuple[int, ...], place: tuple[int, ...]
) -> None:
    bench.write({path: text})
    symbol = f"{OWN}A#`<constructor>`()."
    says = [Says((0, 6, 7), f"{OWN}A#", DEF), Says(constructor, symbol, DEF), Says(place, symbol)]
    [document] = bench.join([Paper(path, says)]).documents
    assert {one.names for one in document.targets} >= {"A"}
    nth = {"a.ts": 1, "A.java": 3}[path]
    assert bench.meant(document, "A", nth) == definition(path, "A")


def test_the_first_name_of_a_dotted_import_is_not_the_module_behind_it(bench: Bench) -> None:
    bench.write(
        {"pkg/__init__.py": "", "pkg/mod.py": "", "use.py": "import pkg.mod\nimport pkg.mod as p\npkg\np\n"}
    )
    module = f"{OWN}pkg/mod/"
    says = [Says((2, 0, 3), module), Says((3, 0, 1), module), Says((0, 11, 14), module)]
    papers = [Paper("use.py", says), Paper("pkg/mod.py", [Says((0, 0, 0), module, DEF)])]
    document = bench.join(papers).documents[0]
    assert bench.meant(document, "pkg", 2) is None
    assert (
        bench.meant(document, "p", 1) == bench.meant(document, "mod") == SemanticTarget("file", "pkg/mod.py")
    )


def test_a_text_that_is_not_the_token_is_dropped(bench: Bench) -> None:
    bench.write({"a.py": "name = other\n"})
    says = [
        Says((0, 0, 3), f"{STD}a."),  # part of a token
        Says((0, 0, 12), f"{STD}b."),  # more than a token
        Says((0, 5, 6), f"{STD}c."),  # no token
        Says((9, 0, 4), f"{STD}d."),  # no line
        Says((0, 7, 0, 12), f"{STD}e."),
    ]
    [document] = bench.join([Paper("a.py", says)]).documents
    assert document.counts == Counts(external=1, unresolved=1, dropped=2, no_token=2)


def test_files_that_are_not_of_the_repository_are_left_out(bench: Bench) -> None:
    bench.write({"a.py": "name = 1\n", "ignored.txt": "name\n", "Case.py": "name = 1\n"})
    (bench.root / "link.py").symlink_to("a.py")
    (bench.root / "away").symlink_to("/tmp")
    bench.write({"a.py": "name = 1\n"})
    says = [Says((0, 0, 4), f"{OWN}a/name.", DEF)]
    expected = {
        "../a.py": "refused", "/etc/passwd": "refused", f"{bench.root}/a.py": "refused", "./a.py": "refused",
        "b/../a.py": "refused", "": "refused", ".git/config": "refused", "a\0.py": "refused",
        "x\\..\\a.py": "unknown", "link.py": "unknown", "away/a.py": "unknown", "case.py": "unknown",
        "other/repository.py": "unknown", "x" * 300: "refused",
    }  # fmt: skip
    joined = bench.join([Paper(path, says) for path in expected])
    assert joined.documents == [] and joined.absent == expected


def test_what_a_file_defines_that_is_left_out_is_not_external(bench: Bench) -> None:
    bench.write({"a.py": "name\nother\nthird\n"})
    says = [Says((at, 0, end), f"{STD}m/{end}.") for at, end in enumerate((4, 5, 5))]
    hidden = Paper("hidden.py", [Says((0, 0, 4), f"{STD}m/4.", DEF)])
    [document] = bench.join([Paper("a.py", says), hidden]).documents
    # Other symbols of its package are not external either: the run did not cover all of it.
    assert document.counts == Counts(unresolved=3)
    assert bench.join([Paper("a.py", says)]).counts == Counts(external=3)
    origin = Origin(Jail(bench.root).enter, own_packages={"std"})
    assert bench.join([Paper("a.py", says)], origin).counts == Counts(unresolved=3)


def test_a_content_that_the_indexer_had_other_is_left_out(bench: Bench) -> None:
    bench.write({"a.py": "name = 1\n"})
    paper = Paper("a.py", [Says((0, 0, 4), f"{OWN}name.", DEF)])
    assert bench.join([paper._replace(text="name = 2\n")]).absent == {"a.py": "changed"}
    assert bench.join([paper._replace(text="name = 1\n")]).absent == {}
    (bench.root / "a.py").write_text("name = 3\n")  # behind the back of the index
    assert bench.join([paper]).absent == {"a.py": "changed"}


def test_documents_may_be_relative_to_a_directory(bench: Bench) -> None:
    bench.write({"sub/a.py": "name = 1\n"})
    paper = Paper("a.py", [Says((0, 0, 4), f"{OWN}name.", DEF)])
    origin = Origin(Jail(bench.root).enter, RepoPath("sub"))
    [document] = bench.join([paper], origin).documents
    assert document.path == "sub/a.py" and document.counts.inside == 1
    assert bench.join([Paper("../../x.py")], origin).absent == {"../../x.py": "refused"}


def test_a_built_in_at_the_name_of_a_definition_is_not_believed(bench: Bench) -> None:
    bench.write({"a.py": "class A:\n    type = 1\n\nA.type\n"})
    says = [Says((1, 4, 8), f"{STD}builtins/type#"), Says((3, 2, 6), f"{STD}builtins/type#")]
    [document] = bench.join([Paper("a.py", says)]).documents
    assert document.counts.external == 0


def test_implementations_are_pairs_of_targets(bench: Bench) -> None:
    text = "class A:\n    def f(self): ...\nclass B(A):\n    def f(self): ...\n"
    bench.write({"a.py": text})
    says = [Says((1, 8, 9), f"{OWN}A#f().", DEF), Says((3, 8, 9), f"{OWN}B#f().", DEF)]
    relates = [
        Relates(f"{OWN}B#f().", f"{OWN}A#f()."),
        Relates(f"{OWN}B#f().", f"{OWN}A#f()."),
        Relates("local 8", f"{OWN}A#f()."),
        Relates(f"{OWN}B#f().", f"{OWN}gone()."),
    ]
    [document] = bench.join([Paper("a.py", says, relates)]).documents
    pairs = [[document.targets[one].names for one in pair] for pair in document.implementations]
    assert pairs == [["B.f", "A.f"]]


def test_a_symbol_may_be_defined_by_another(bench: Bench) -> None:
    bench.write({"a.py": "def f(): ...\n\n\nf()\n"})
    says = [Says((0, 4, 5), f"{OWN}f().", DEF), Says((3, 0, 1), f"{OWN}synonym().")]
    relates = [Relates(f"{OWN}synonym().", f"{OWN}f().", (False, False, False, True))]
    [document] = bench.join([Paper("a.py", says, relates)]).documents
    assert bench.meant(document, "f", 1) == definition("a.py", "f")


def test_two_documents_of_one_file_are_one(bench: Bench) -> None:
    bench.write({"a.py": "first = second\n"})
    papers = [
        Paper("a.py", [Says((0, 0, 5), f"{OWN}first.", DEF), Says((0, 8, 14), f"{STD}x.")]),
        Paper("a.py", [Says((0, 0, 5), f"{OWN}first.", DEF), Says((0, 8, 14), "local 1", DEF)]),
    ]
    [document] = bench.join(papers).documents
    assert document.counts == Counts(inside=1, ambiguous=1)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("encoding", "units"), [(1, "utf-8"), (2, "utf-16-le"), (3, "utf-32-le"), (0, "utf-16-le")]
)
def test_wide_characters_before_a_token_are_counted(
    bench: Bench, mark: str, encoding: int, units: str
) -> None:
    before = "s = '🚀é'; name = "
    bench.write({"a.py": f"\ufeff{before}other\r\nlast\n"})
    size = len("x".encode(units))
    start = len(f"{mark}{before}".encode(units)) // size
    says = [Says((0, start, start + 5), f"{STD}o."), Says((1, 0, 4), f"{STD}n.")]
    assert bench.join([Paper("a.py", says, encoding=encoding)]).counts == Counts(external=2, unresolved=2)


CONTENT = b"a = b\n"
OCCURRENCES = Occurrences(
    ["a", "b"], [0, 1], [0, 4], bytes([Role.DEFINE, Role.READ]), [0, 0], [0, 0], [0, 0], [0, 6]
)


def one_file(path: RepoPath) -> IndexedFile | None:
    digest = Digest(hashlib.sha256(CONTENT).hexdigest())
    return IndexedFile(1, digest, CONTENT, OCCURRENCES, [], lambda at: [at]) if path == "a.py" else None


@given(st.binary(max_size=200), st.integers(0, 400))
def test_damaged_indexes_are_an_error_or_facts(raw: bytes, at: int) -> None:
    says = [Says((0, 0, 1), f"{OWN}a.", DEF), Says((0, 4, 5), f"{STD}b.")]
    data = bytearray(index([Paper("a.py", says, [Relates(f"{OWN}a.", f"{STD}b.")]), Paper("../x", says)]))
    data[at : at + 3] = raw[:3]
    data += raw[3:]
    try:
        joined = join(read_index(io.BytesIO(bytes(data))), one_file, Origin(Jail(Path("/nowhere")).enter))
    except ScipError:
        return
    for document in joined.documents:
        assert len(document.column) == 2 and max(document.column) <= len(document.targets)
        assert sum(document.counts[:5]) == 2


def test_a_definition_that_the_index_says_nothing_about_makes_its_twin_ambiguous(bench: Bench) -> None:
    text = "if wide:\n    def size(): ...\nelse:\n    def size(): ...\n\n\ndef other(): ...\n"
    bench.write({"a.py": text, "b.py": "import a\n\na.size()\na.other()\n"})
    size, other = f"{OWN}a/size().", f"{OWN}a/other()."
    names = [bench.say("a.py", "size", size, DEF), bench.say("a.py", "other", other, DEF)]
    uses = [bench.say("b.py", "size", size), bench.say("b.py", "other", other)]
    _, document = bench.join([Paper("a.py", names), Paper("b.py", uses)]).documents
    target = bench.meant(document, "size")
    assert target is not None and target.kind == "ambiguous"
    assert [document.targets[one] for one in target.choices] == [
        definition("a.py", "size"),
        definition("a.py", "size", 1),
    ]
    assert bench.meant(document, "other") == definition("a.py", "other")
    names.append(bench.say("a.py", "size", f"{OWN}a/size(+1).", DEF, nth=1))
    _, document = bench.join([Paper("a.py", names), Paper("b.py", uses)]).documents
    assert bench.meant(document, "size") == definition("a.py", "size")
