"""The extractor for Java, run by the real JDK."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.semantic.indexers import INDEXERS
from tests.programs import needs
from tests.semantic.indexers.lab import Run, Sources, context, toolbox, written

JAVA = INDEXERS["javac"]
STORE = "src/main/java/toy/Store.java"
USE = "src/main/java/toy/Use.java"
TEST = "src/test/java/toy/UseTest.java"
FILES = {
    "pom.xml": "<project/>",
    STORE: """package toy;

import java.util.List;

interface Saver<T> {
    void save(T item);
    default void saveAll(List<T> items) { for (T one : items) save(one); }
}

/* class Store */ public class Store implements Saver<String> {
    int count, total = 1;
    public void save(String item) { count++; }
    public void save(int number) { this.total += number; }
    class Inner { int depth; class Deep { int level() { return depth + count; } } }
    enum Color { @Deprecated RED { int code() { return 1; } }, BLUE; int code() { return 0; } }
    record Point(int x, int y) {
        Point { if (x < 0) throw new IllegalArgumentException(); }
        public int y() { return y; }
    }
    static <E extends Saver<?>> E pick(E one) { return one; }
    static class Quiet { public void save(String text) {} }
    static class Loud extends Quiet implements Saver<String> {}
    interface Keeper { void save(String text); void keep(); }
    interface Both extends Saver<String>, Keeper {}
}
""",
    USE: """package toy;

import static toy.Store.pick;
import java.util.function.Function;
import toy.Store.Color;
import org.absent.Missing;
import other.Kotlin;

class Use {
    Store store = new Store();
    Kotlin kotlin;
    void run(Saver<String> saver, Missing missing) {
        saver.save("é"); store.save("a"); store.save(1);
        store.save(missing.value());
        pick(store).save("b");
        Function<String, Integer> size = String::length;
        Runnable later = () -> { int é = 1; store.save(é); };
        Saver<String> own = new Saver<>() {
            int calls;
            public void save(String item) { calls++; }
        };
        Store.Point point = new Store.Point(1, 2);
        int sum = point.x() + point.y();
        switch (Color.RED) { case BLUE: break; default: }
        int[] numbers = {1}; sum += numbers.length;
        Missing.call(sum); unknown(sum);
        Store.Inner.Deep deep = null; deep.level();
        if (saver instanceof Store kind) kind.save("k");
        Store.Both both = null; both.save("both"); both.keep();
    }
}
""",
    "src/main/kotlin/other/Kotlin.kt": "package other\n\nclass Kotlin\n",
    TEST: "package toy;\n\nclass UseTest { void test() { new Use().run(null, null); } }\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    needs("javac")
    return Run(JAVA, written(tmp_path_factory.mktemp("java") / "r", FILES))


@pytest.fixture(scope="module")
def sources(run: Run) -> Sources:
    return Sources(FILES, run.index)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        (USE, "saver.<save>(", f"{STORE}:6"),
        (USE, 'store.<save>("a")', f"{STORE}:12"),
        (USE, "; store.<save>(1)", f"{STORE}:13"),  # an overload is a symbol of its own
        (USE, "pick(store).<save>(", f"{STORE}:12"),
        (USE, "toy.Store.<pick>;", f"{STORE}:20"),
        (USE, "String::<length>", "java/lang/String#length()."),
        (USE, "store.save(<é>)", "local 17"),
        (USE, "{ <calls>++", "local 19"),
        (USE, "point.<x>()", f"{STORE}:16"),  # the accessor that a component has of itself
        (USE, "point.<y>()", f"{STORE}:18"),
        (STORE, "if (<x> <", f"{STORE}:16"),
        (STORE, "return <y>;", f"{STORE}:16"),
        (USE, "case <BLUE>:", f"{STORE}:15"),
        (USE, "(Color.<RED>)", f"{STORE}:15"),  # its annotation comes first
        (USE, "numbers.<length>", "java/lang/Array#length."),
        (USE, "deep.<level>()", f"{STORE}:14"),
        (USE, "Store kind) <kind>.", "local 28"),
        (USE, "kind.<save>(", f"{STORE}:12"),
        (USE, "both.<keep>()", f"{STORE}:23"),
        (STORE, "return <depth> +", f"{STORE}:14"),
        (STORE, "this.<total> +=", f"{STORE}:11"),
        (STORE, "items) <save>(one)", f"{STORE}:6"),
        (STORE, "return <one>;", "local 20"),
        (TEST, "new Use().<run>(", f"{USE}:12"),
        (USE, "<Missing> missing", "org/absent/Missing#"),
    ],
)
def test_a_name_leads_to_its_definition(sources: Sources, path: str, text: str, target: str) -> None:
    assert sources.target(path, text) == target


def test_what_is_outside_has_another_package_than_the_sources(sources: Sources) -> None:
    assert sources.symbol(USE, "<Missing> missing") == "codeplane-java jvm classpath . org/absent/Missing#"
    assert sources.symbol(USE, "String::<length>").startswith("codeplane-java jvm java.base . java/lang/")


def test_what_the_compiler_only_guesses_is_left_out(sources: Sources) -> None:
    assert sources.at(USE, "store.<save>(missing") == []  # which overload depends on a type that is not there
    assert sources.at(USE, "missing.<value>()") == []
    assert sources.at(USE, "<unknown>(sum)") == []
    assert sources.at(USE, "both.<save>(") == []  # of two interfaces that know nothing of each other
    assert sources.at(USE, "import other.<Kotlin>;") == []  # not outside: it is of another language


def test_modules_with_a_class_of_the_same_name_are_compiled_with_their_own(tmp_path: Path) -> None:
    needs("javac")
    files = {
        "a/src/main/java/toy/Box.java": "package toy;\n\nclass Box { void open() {} }\n",
        "a/src/main/java/toy/Use.java": "package toy;\n\nclass Use { void a(Box b) { b.open(); } }\n",
        "b/src/main/java/toy/Box.java": "package toy;\n\nclass Box { void close() {} }\n",
        "b/src/main/java/toy/More.java": "package toy;\n\nclass More { void b(Box b) { b.close(); } }\n",
    }
    sources = Sources(files, Run(JAVA, written(tmp_path / "r", files)).index)
    assert sources.target("a/src/main/java/toy/Use.java", "b.<open>()") == "a/src/main/java/toy/Box.java:3"
    assert sources.target("b/src/main/java/toy/More.java", "b.<close>()") == "b/src/main/java/toy/Box.java:3"
    assert len(sources.index.definitions()["codeplane-java jvm . . toy/Box#"]) == 2


def test_sources_of_another_context_are_used_and_only_their_definitions_are_written(tmp_path: Path) -> None:
    needs("javac")
    files = {
        "app/src/main/java/app/Main.java": "package app;\n\nclass Main { void f(lib.Box b) { b.open(); } }\n",
        "lib/src/main/java/lib/Box.java": (
            "package lib;\n\npublic class Box { public void open() { open(); } }\n"
        ),
        "lib/src/main/java/lib/Unused.java": "package lib;\n\nclass Unused {}\n",
    }
    sources = Sources(files, Run(JAVA, written(tmp_path / "r", files), at="app").index)
    box = "lib/src/main/java/lib/Box.java"
    assert sources.target("app/src/main/java/app/Main.java", "b.<open>()") == f"{box}:3"
    assert sources.at(box, "{ <open>();") == []
    assert "lib/src/main/java/lib/Unused.java" not in sources.index.symbols


def test_odd_files_do_not_end_a_run(tmp_path: Path) -> None:
    needs("javac")
    files = {
        "src/A.java": "class A { void f() { f(); } }\n",
        "src/two\nlines.java": "class B {}\n",
        "src/Broken.java": "class Broken { void g( { f(; }\n",
        "src/Empty.java": "",
    }
    root = written(tmp_path / "r", files)
    (root / "src" / "Gone.kt").symlink_to("nowhere")
    (root / "src" / "Latin.java").write_bytes("class Latin { int größe; }\n".encode("latin-1"))
    run = Run(JAVA, root)
    assert Sources(files, run.index).target("src/A.java", "{ <f>();") == "src/A.java:1"
    assert sorted(run.index.symbols) == ["src/A.java", "src/Broken.java", "src/Empty.java", "src/Latin.java"]


def test_overriding_is_a_relation(sources: Sources) -> None:
    home = "codeplane-java jvm . . toy/"
    relations = sources.index.relations
    assert relations[f"{home}Store#save()."] == {f"{home}Saver#save()."}
    assert relations[f"{home}Store#save(+1)."] == set()
    assert relations[f"{home}Store#"] == {f"{home}Saver#"}
    assert relations[f"{home}Store#Quiet#save()."] == {
        f"{home}Saver#save()."
    }  # by the class that inherits it
    anonymous = sources.symbol(USE, "void <save>(String")
    assert anonymous.startswith("local ") and relations[f"{USE} {anonymous}"] == {f"{home}Saver#save()."}


def test_problems_are_counted_and_told(run: Run) -> None:
    errors, missing = run.notes
    assert errors.startswith("Errors in the code: ")
    assert missing == "Missing dependencies (1): org.absent"


def test_main_sources_do_without_tests(tmp_path: Path) -> None:
    root = written(tmp_path / "r", FILES)
    files = context(root)
    assert JAVA.scope(files, [RepoPath(TEST)]) is None
    scope = JAVA.scope(files, [RepoPath(USE)])
    assert scope is not None and RepoPath(STORE) in scope and RepoPath(TEST) not in scope


@pytest.mark.parametrize("says", ["Module jdk.compiler not found' >&2; exit 1", "jdk.compiler@9.0.4'"])
def test_a_runtime_that_cannot_run_a_source_file_is_not_taken(tmp_path: Path, says: str) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}\n")
    program.chmod(0o755)
    assert JAVA.find(toolbox(tmp_path, f"{tmp_path}/bin:/usr/bin:/bin"), RepoPath("")) is None
