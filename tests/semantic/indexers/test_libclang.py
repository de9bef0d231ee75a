"""The extractor for C and C++, run by a Python that has the bindings of libclang."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.semantic.indexer import ContextFiles, IndexTask, Tool
from codeplane.semantic.indexers import INDEXERS
from codeplane.semantic.indexers._compile_commands import safe_options
from tests.programs import needs, unavailable
from tests.semantic.indexers.lab import SYSTEM, Run, Sources, toolbox, written
from tests.tools.repo import Repo, trust

CLANG = INDEXERS["libclang"]
PYTHON = f"{Path(sys.executable).parent}:{SYSTEM}"
HEADER, LIST, MAIN, OTHER = "include/list.h", "src/list.c", "src/main.c", "src/other.c"
SHAPE, TANK, USE = "include/shape.hpp", "src/tank.cc", "src/use.cc"
FILES = {
    HEADER: """\
#ifndef LIST_H
#define LIST_H
#include <stddef.h>
#define FIRST(list) ((list)->head)
#define check(x) check(x)
typedef struct node { int id; struct node *next; } node;
typedef struct list { node *head; size_t count; } list_t;
struct list;
int add(list_t *list, int id);
int check(int value);
static inline int top(list_t *list) { return list->head->id; }
#ifdef _WIN32
typedef struct { long ticks; } stamp;
#define SEP '\\\\'
#else
typedef struct { int seconds; } stamp;
#define SEP '/'
#endif
#endif
""",
    LIST: """\
#include "list.h"
#include <stdlib.h>
#include "generated.h"
static int grow(list_t *l) { return l->count + 1 > 0; }
int add(list_t *list, int id) {
    node *made = malloc(sizeof *made);
    if (!grow(list))
        return strange(list);
    made->id = id;  /* é */ made->next = FIRST(list);
    list->head = made;
#ifdef SLOW
    list->count = 0;
#else
    list->count++;
#endif
    return list->head->next->id;
}
int check(int value) { return value; }
int late(unknown_t *u) { return u->id + mispelled; }
int misspelled;
#ifdef TWO
int twice(void) { return 2; }
#else
int twice(void) { return 1; }
#endif
int both(void) { return twice() + SEP; }
int when(stamp *s) { return s->seconds; }
""",
    MAIN: """\
#include "list.h"
#include <stdio.h>
static int grow(list_t *l) { return 1; }
int main(void) {
    list_t list = { .head = NULL, .count = 0 };
    list_t *p = &list;
    printf("%d", add(p, 1) + grow(p) + check(2));
    struct { int inner; } anonymous;
    anonymous.inner = (int)offsetof(list_t, count);
#ifdef _WIN32
    list_t *q;
#else
    node *q = p->head;
#endif
    return q->id + p->count;
}
""",
    OTHER: '#include "list.h"\nint other(list_t *p) { return p->count; }\nint check(int v) { return 2; }\n',
    SHAPE: """\
#pragma once
#include <string>
#include <vector>
namespace toy {
class Shape {
 public:
  virtual ~Shape() {}
  virtual int area() const = 0;
  int sides() const { return count_; }
 protected:
  int count_ = 0;
};
template <class T> class Box {
 public:
  void put(T value) { items_.push_back(value); }
  T &first();
  std::vector<T> items_;
  int odd(T &value) { return value.anything(); }
};
template <class T> T &Box<T>::first() { return items_.front(); }
}
""",
    TANK: """\
#include "shape.hpp"
namespace toy {
class Tank : public Shape {
 public:
  explicit Tank(int size) : size_(size) {}
  int area() const override;
  int fill(int by) { size_ += by; return size_; }
  int fill(double by) { return fill(int(by)); }
  int size_;
};
int Tank::area() const { return size_ * sides(); }
int pick(const Shape &shape) { return shape.area(); }
}
""",
    USE: """\
#include "shape.hpp"
#include <gone.hpp>
#include "tank_helper.ipp"
int pick(int);
int run(toy::Shape *shape, Gone &gone) {
  toy::Box<std::string> box;
  box.put("x"); box.first().append("y");
  auto get = [&](const toy::Shape &one) { return one.sides(); };
  pick(1);
  gone.call(shape->area());
  return shape->area() + get(*shape);
}
""",
}


@pytest.fixture(scope="session")
def bindings() -> None:
    needs("c++")  # for the headers of its library
    if CLANG.find(toolbox(Path("/"), PYTHON), RepoPath("")) is None:
        unavailable("libclang is not installed beside this interpreter")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, bindings: None) -> Run:
    return Run(CLANG, written(tmp_path_factory.mktemp("clang") / "r", FILES), PYTHON)


@pytest.fixture(scope="module")
def sources(run: Run) -> Sources:
    return Sources(FILES, run.index)


def index_of(tmp_path: Path, files: Mapping[str, str]) -> Sources:
    return Sources(files, Run(CLANG, written(tmp_path / "r", files), PYTHON).index)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        (LIST, "made-><id> =", f"{HEADER}:6"),
        (LIST, "list->head->next-><id>;", f"{HEADER}:6"),
        (LIST, "list->head-><next>->", f"{HEADER}:6"),
        (LIST, "return l-><count>", f"{HEADER}:7"),
        (LIST, "/* é */ made-><next>", f"{HEADER}:6"),
        (LIST, "= <FIRST>(", f"{HEADER}:4"),
        (LIST, "= FIRST(<list>)", "local 5"),  # the argument of a macro
        (LIST, "<malloc>(", "malloc()."),
        (LIST, "if (!<grow>(", f"{LIST}:4"),
        (MAIN, "+ <grow>(p)", f"{MAIN}:3"),  # one of the same name is in another file
        (MAIN, "<add>(p", f"{HEADER}:9"),  # by its prototype
        (MAIN, "{ .<head> =", f"{HEADER}:7"),
        (MAIN, "anonymous.<inner> =", f"{MAIN}:8"),
        (MAIN, "offsetof(list_t, <count>)", f"{HEADER}:7"),
        (MAIN, "p-><head>;", f"{HEADER}:7"),
        (HEADER, "list->head-><id>", f"{HEADER}:6"),  # several units include it
        (OTHER, "p-><count>", f"{HEADER}:7"),
        (TANK, "return <size_> *", f"{TANK}:9"),
        (TANK, "* <sides>()", f"{SHAPE}:9"),
        (TANK, "{ return <fill>(int", f"{TANK}:7"),  # an overload
        (TANK, "shape.<area>()", f"{SHAPE}:8"),
        (TANK, "int size) : <size_>(", f"{TANK}:9"),
        (USE, "box.<put>(", f"{SHAPE}:15"),  # of a template
        (USE, "box.<first>()", f"{SHAPE}:16"),  # declared in the class, defined outside of it
        (USE, "one.<sides>()", f"{SHAPE}:9"),
        (USE, "return shape-><area>()", f"{SHAPE}:8"),
        (USE, "toy::<Box><std", f"{SHAPE}:13"),
    ],
)
def test_a_name_leads_to_its_declaration(sources: Sources, path: str, text: str, target: str) -> None:
    assert sources.target(path, text) == target


def test_what_is_outside_has_another_package_than_the_sources(sources: Sources) -> None:
    assert sources.symbol(LIST, "<malloc>(") == "codeplane-clang . system . malloc()."
    assert sources.symbol(USE, "first().<append>(").startswith("codeplane-clang . system . std/")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (LIST, "return <strange>("),  # declared by its call alone
        (LIST, "u-><id>"),  # of a type that is missing
        (LIST, "+ <mispelled>"),  # close to a name that is there
        (LIST, "    list-><count> = 0;"),  # in a branch that is not compiled
        (HEADER, "((list)-><head>)"),  # the text of a macro
        (SHAPE, "value.<anything>()"),  # depends on the parameter of a template
        (USE, "gone.<call>("),
        (USE, "  <pick>(1)"),  # a header is missing, which may overload it
        (MAIN, "q-><id>"),  # a variable that is another one in another configuration
        (LIST, "s-><seconds>"),  # so is the type
        (LIST, "+ <SEP>;"),  # and the macro
    ],
)
def test_what_the_compiler_does_not_know_is_left_out(sources: Sources, path: str, text: str) -> None:
    assert sources.at(path, text) == []


def test_the_name_of_a_macro_is_that_macro(sources: Sources) -> None:
    assert sources.target(MAIN, "+ <check>(2)") == f"{HEADER}:5"  # not the function that it calls


def test_one_header_is_one_document(run: Run) -> None:
    assert sorted(run.index.symbols) == sorted(FILES)  # the reader refuses a document for a second time


def test_units_that_disagree_on_a_name_in_a_header_both_say_so(tmp_path: Path, bindings: None) -> None:
    shared = "static inline int get(T *t) { return t->x; }\n"
    files = {
        "shared.h": shared,
        "a.c": '#include <stddef.h>\nstruct a { int x; };\n#define T struct a\n#include "shared.h"\n',
        "b.c": '#include <stddef.h>\nstruct b { int x; };\n#define T struct b\n#include "shared.h"\n',
    }
    sources = index_of(tmp_path, files)
    assert len(sources.at("shared.h", "t-><x>")) == 2


def test_overriding_is_a_relation(sources: Sources) -> None:
    relations = sources.index.relations
    inside = sources.symbol(TANK, "int <area>() const override")
    assert relations[inside] == {sources.symbol(SHAPE, "virtual int <area>()")}
    assert relations[sources.symbol(TANK, "class <Tank> :")] == {sources.symbol(SHAPE, "class <Shape> {")}


BOX = "class Box {\n public:\n  int open();\n};\n"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        (BOX, "box.h:3"),
        (f"#ifdef __cplusplus\n{BOX}#endif\nint close(int);\n", "box.cc:2, box.h:4"),
    ],
    ids=["c++", "c"],
)
def test_a_member_of_a_class_in_a_header_of_c_is_what_is_defined_outside(
    tmp_path: Path, bindings: None, header: str, target: str
) -> None:
    files = {
        "box.h": header,
        "box.cc": '#include "box.h"\nint Box::open() { return 1; }\n',
        "use.cc": '#include "box.h"\nint use(Box &b) { return b.open(); }\n',
    }
    assert index_of(tmp_path, files).target("use.cc", "b.<open>()") == target


def test_problems_are_counted_and_told(run: Run) -> None:
    errors, missing = run.notes
    assert errors.startswith("Errors in the code: ")
    assert missing == "Missing dependencies (3): generated.h, gone.hpp, tank_helper.ipp"


def test_an_include_that_several_headers_fit_leaves_its_file_out(tmp_path: Path, bindings: None) -> None:
    files = {
        "one/util.h": "struct u { int x; };\n",
        "two/util.h": "struct u { int y; int x; };\n",
        "one/a.c": '#include "util.h"\nint a(struct u *p) { return p->x; }\n',
        "app/b.c": '#include "util.h"\n#include "one.h"\nint b(struct u *p) { return p->x; }\n',
        "one/one.h": "",
    }
    result = Run(CLANG, written(tmp_path / "r", files), PYTHON)
    assert Sources(files, result.index).target("one/a.c", "p-><x>") == "one/util.h:1"
    assert "app/b.c" not in result.index.symbols
    assert "Files that no build has (1): app/b.c" in result.notes


def test_a_build_says_how_its_files_are_compiled(tmp_path: Path, bindings: None) -> None:
    root = tmp_path / "r"
    files = {
        "lib/inc/far.h": "#ifdef WIDE\nstruct far { long x; };\n#else\nstruct near { int x; };\n#endif\n",
        "lib/a.c": "#include <far.h>\nlong a(struct far *p) { return p->x; }\n",
    }
    command = {
        "directory": "/build/of/ci/lib",
        "file": "a.c",
        "command": "cc -Xclang -load -Xclang evil.so -fplugin=evil.so @rsp -D WIDE -Iinc -o a.o -c a.c",
    }
    written(root, {**files, "compile_commands.json": json.dumps([command])})
    sources = Sources(files, Run(CLANG, root, PYTHON).index)
    assert sources.target("lib/a.c", "p-><x>") == "lib/inc/far.h:2"


def test_a_database_that_git_ignores_is_read_where_the_build_left_it(tmp_path: Path) -> None:
    original, scratch = tmp_path / "original", tmp_path / "scratch"
    command = {
        "directory": f"{original}/build",
        "file": "../a.c",
        "arguments": ["cc", "-I", "gen", "-I../inc", "-isystem/opt/x", "-c", "../a.c"],
    }
    written(scratch, {"a.c": "", "inc/a.h": ""})
    written(original, {"build/compile_commands.json": json.dumps([command]), "build/gen/config.h": ""})
    files = ContextFiles(RepoPath(""), (RepoPath("a.c"), RepoPath("inc/a.h")))
    (tmp_path / "output").mkdir()
    CLANG.command(IndexTask(Tool(Path("python3"), "1"), scratch, tmp_path / "output", files, None, original))
    plan = json.loads((tmp_path / "output/plan.json").read_text())
    [unit] = plan["units"]
    paths = ["-I", f"{original}/build/gen", "-I", f"{scratch}/inc", "-isystem", "/opt/x"]
    assert unit["arguments"][3:9] == paths and not unit["is_guess"]
    assert plan["own"] == [str(original)]


def test_a_header_that_a_build_copies_is_that_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bindings: None
) -> None:
    monkeypatch.setenv("PATH", PYTHON)
    header = "struct s { int x; };\n"
    files = {
        ".gitignore": "build\n",
        "lib/s.h": header,
        "a.c": "#include <s.h>\n#include <made.h>\nint f(struct s *p, struct m *q) { return p->x + q->x; }\n",
    }
    repo = Repo(tmp_path, files)
    copies = {"build/include/s.h": header, "build/include/made.h": "struct m { int x; };\n"}
    command = {"directory": str(repo.root), "file": "a.c", "command": "cc -Ibuild/include -c a.c"}
    written(repo.root, {**copies, "build/compile_commands.json": json.dumps([command])})
    trust(repo.root, tmp_path)
    repo.session.close()
    repo = Repo.at(repo.root, tmp_path)
    repo.result("semantic_refresh")
    with repo.session.index.snapshot() as snapshot:
        [document] = snapshot.semantics.documents(RepoPath("a.c"))
        occurrences = snapshot.all_occurrences(RepoPath("a.c"))
        columns = [files["a.c"].splitlines()[2].index(text) + 3 for text in ("p->x", "q->x")]
        values = [document.column[occurrences.number_at(3, column) or 0] for column in columns]
    assert (document.targets[values[0] - 1].path, values[1]) == ("lib/s.h", 0)
    repo.session.close()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("-O2 -Wall -g -c x.c -o x.o", ""),
        ("-fplugin=x.so -Xclang -load -Xclang x.so -mllvm -x @more.rsp -B/evil --config=x", ""),
        ("-DA -D B=1 -UC -std=c11 -pthread -xc++", "-DA -DB=1 -UC -std=c11 -pthread -x c++"),
        ("-x cuda -x c -Iinc -I inc -isystem s", "-x c -I /d/inc -I /d/inc -isystem /d/s"),
        (
            "-include pre.h -imacros m.h --sysroot=/s -MF -Ilost",
            "-include /d/pre.h -imacros /d/m.h --sysroot=/s",
        ),
        ("-I", ""),
    ],
)
def test_only_options_that_say_how_a_file_is_read_pass(words: str, options: str) -> None:
    assert list(safe_options(words.split(), lambda path: str(Path("/d") / path))) == options.split()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1, {}]", '[{"directory": 1}]', '[{"directory": "/", "file": "a.c", "command": "cc \'"}]'],
)
def test_a_database_that_is_none_is_no_database(tmp_path: Path, text: str, bindings: None) -> None:
    files = {
        "a.c": "struct s { int x; };\nint f(struct s *p) { return p->x; }\n",
        "compile_commands.json": text,
    }
    assert index_of(tmp_path, files).target("a.c", "p-><x>") == "a.c:1"


def test_odd_files_do_not_end_a_run(tmp_path: Path, bindings: None) -> None:
    files = {
        "a.c": "int f(void) { return f(); }\n",
        "broken.c": "int g( { f(; }\n#include\n#if\n",
        "two\nlines.c": "int b;\n",
        "empty.c": "",
        "lonely.h": "struct lonely { int x; };\n",
        "needy.h": "missing_t x;\n",
    }
    root = written(tmp_path / "r", files)
    (root / "latin.c").write_bytes(
        "int gr\xf6sse; /* \xff */ int h(void) { return h(); }\n".encode("latin-1")
    )
    (root / "gone.c").symlink_to("nowhere")
    (root / os.fsdecode(b"\xff.h")).write_text("struct odd { int x; };\n")
    (root / os.fsdecode(b"\xfe.c")).write_text("int odd;\n")
    (root / "includes.c").write_bytes(b'#include "\xff.h"\nint get(struct odd *p) { return p->x; }\n')
    result = Run(CLANG, root, PYTHON)
    assert Sources(files, result.index).target("a.c", "return <f>()") == "a.c:1"
    assert "lonely.h" in result.index.symbols and "needy.h" not in result.index.symbols


def test_an_interpreter_without_the_bindings_is_not_taken(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python3"
    written(tmp_path, {"bin/python3": "#!/bin/sh\nexit 1\n"})
    program.chmod(0o755)
    assert CLANG.find(toolbox(tmp_path, f"{tmp_path}/bin:{SYSTEM}"), RepoPath("")) is None


def test_references_of_a_refreshed_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bindings: None
) -> None:
    monkeypatch.setenv("PATH", PYTHON)
    repo = Repo(tmp_path, FILES)
    trust(repo.root, tmp_path)
    repo.session.close()
    repo = Repo.at(repo.root, tmp_path)
    [context] = repo.result("semantic_refresh")["contexts"]
    assert (context["status"], context["indexed"]) == ("completed", len(FILES))
    answer = repo.ask("refs_find", symbol="Box.put")
    assert "; 1 by libclang" in answer.text and answer.body["result"]["tiers"] == {"strong": 1}
    repo.session.close()


def test_what_another_configuration_defines_too_is_ambiguous(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bindings: None
) -> None:
    monkeypatch.setenv("PATH", PYTHON)
    files = {
        "a.h": "struct s {\n#ifdef WIDE\n    long x;\n#else\n    int x;\n#endif\n    int y;\n};\n",
        "a.c": '#include "a.h"\nstruct s *find(void);\nint f(void) { return find()->x + find()->y; }\n',
    }
    repo = Repo(tmp_path, files)
    trust(repo.root, tmp_path)
    repo.session.close()
    repo = Repo.at(repo.root, tmp_path)
    [context] = repo.result("semantic_refresh")["contexts"]
    assert context["occurrences"]["ambiguous"] == 1
    by_line = {line: repo.result("refs_find", symbol=f"a.h:{line}")["tiers"] for line in (3, 5, 7)}
    assert by_line == {3: {"anchored": 1}, 5: {"anchored": 1}, 7: {"strong": 1}}
    repo.session.close()
