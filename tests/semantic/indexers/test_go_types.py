"""The extractor for Go, run by the real toolchain."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.semantic.indexers import INDEXERS
from tests.programs import needs
from tests.semantic.indexers.lab import SYSTEM, Run, Sources, context, written

GO = INDEXERS["go-types"]
FILES = {
    "go.mod": "module example.org/toy\n\ngo 1.18\n",
    "store.go": """package toy

import (
	"fmt"
	"strings"
)

type Saver interface {
	Save(name string) error
}

type Base struct {
	Name string
	meta struct{ size int }
}

func (b *Base) Save(name string) error { b.meta.size++; return fmt.Errorf("é %s", name) }

type User struct {
	*Base
	Saver2 Saver
}

func NewUser() *User { return &User{Base: &Base{Name: "x"}} }

var table = []struct{ key string }{{key: "a"}}

func use(s Saver, u *User) {
	_ = s.Save("a")
	_ = u.Save("b")
	save := u.Base.Save
	_ = save("c")
	_ = (*Base).Save
	fmt.Println(u.Name, u.meta.size, strings.ToUpper(table[0].key))
	switch v := any(s).(type) {
	case *User:
		v.Save("d")
	case error:
		_ = v.Error()
	}
	é := 1; print(é)
	_ = platform()
}
""",
    "box/box.go": """package box

type Box[T any] struct{ item T }

func (b *Box[T]) Put(item T) { b.item = item }

func Map[T, U any](b Box[T], f func(T) U) U { return f(b.item) }
""",
    "box/export_test.go": "package box\n\nvar Hidden = Map[int, int]\n",
    "box/box_test.go": """package box_test

import (
	"testing"

	"example.org/toy/box"
	"example.invalid/assert"
)

type fake struct{}

func (fake) Save(string) error { return nil }

func TestPut(t *testing.T) {
	var b box.Box[string]
	b.Put("x")
	_ = box.Hidden
	assert.Equal(t, 1, 1)
	t.Helper()
}
""",
    "cmd/main.go": """package main

import (
	toy "example.org/toy"
	"example.org/toy/box"
)

func init() {}
func init() {}

func main() {
	u := toy.NewUser()
	u.Save("x")
	b := &box.Box[int]{}
	b.Put(1)
	undefined(u)
}
""",
    "_examples/first/main.go": """package main

import toy "example.org/toy"

func main() { toy.NewUser().Save("e") }
""",
    "system_linux.go": "package toy\n\nfunc platform() int { return 1 }\n",
    "system_windows.go": "package toy\n\nfunc platform() int { return len(table) }\n",
    "special.go": '//go:build special\n\npackage toy\n\nfunc special() { NewUser().Save("s") }\n',
    "generate.go": "//go:build ignore\n\npackage main\n\nfunc main() {}\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    needs("go")
    return Run(GO, written(tmp_path_factory.mktemp("go") / "r", FILES))


@pytest.fixture(scope="module")
def sources(run: Run) -> Sources:
    return Sources(FILES, run.index)


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        ("store.go", "u.<Save>(", "store.go:17"),  # promoted through an embedded pointer
        ("store.go", "_ = s.<Save>(", "store.go:9"),
        ("store.go", "save := u.Base.<Save>", "store.go:17"),
        ("store.go", "(*Base).<Save>", "store.go:17"),
        ("store.go", "save := u.<Base>.Save", "store.go:12"),  # a field that is named by its type
        ("store.go", "&User{<Base>:", "store.go:12"),
        ("store.go", "&Base{<Name>:", "store.go:13"),
        ("store.go", "\t*<Base>\n", "store.go:12"),
        ("store.go", "u.meta.<size>", "store.go:14"),
        ("store.go", "table[0].<key>", "store.go:26"),
        ("store.go", "\t\t<v>.Save(", "local 35"),
        ("store.go", "\t\tv.<Save>(", "store.go:17"),
        ("store.go", "v.<Error>()", "builtin/error#Error()."),
        ("store.go", "strings.<ToUpper>", "strings/ToUpper()."),
        ("store.go", "print(<é>)", "local 41"),
        ("store.go", "<platform>()", "system_linux.go:3, system_windows.go:3"),
        ("system_windows.go", "len(<table>)", "store.go:26"),
        ("special.go", "NewUser().<Save>(", "store.go:17"),
        ("_examples/first/main.go", "NewUser().<Save>(", "store.go:17"),
        ("box/box.go", "f(b.<item>)", "box/box.go:3"),
        ("box/box.go", "{ b.<item> =", "box/box.go:3"),
        ("box/box_test.go", "b.<Put>(", "box/box.go:5"),
        ("box/box_test.go", "box.<Hidden>", "box/export_test.go:3"),
        ("box/box_test.go", "assert.<Equal>", "`example.invalid/assert`/Equal."),
        ("box/box_test.go", "t.<Helper>()", "testing/common#Helper()."),
        ("cmd/main.go", "u.<Save>(", "store.go:17"),
        ("cmd/main.go", "b.<Put>(", "box/box.go:5"),
        ("cmd/main.go", "toy.<NewUser>()", "store.go:24"),
    ],
)
def test_a_name_leads_to_its_definition(sources: Sources, path: str, text: str, target: str) -> None:
    assert sources.target(path, text) == target


def test_names_that_mean_nothing_here_are_left_out(sources: Sources) -> None:
    assert sources.at("cmd/main.go", "<undefined>(u)") == []
    assert sources.at("cmd/main.go", "= <toy>.NewUser") == []  # the import says what it is


def test_implementations_are_relations(sources: Sources) -> None:
    base = "codeplane-go gomod example.org/toy . `example.org/toy`/"
    relations = sources.index.relations
    assert relations[f"{base}Base#Save()."] == {f"{base}Saver#Save()."}
    assert relations[f"{base}User#"] == {f"{base}Saver#"}


def test_problems_are_counted_and_told(run: Run) -> None:
    assert run.tool.version
    errors, missing, unbuilt = run.notes
    assert errors.startswith("Errors in the code: 2, such as box/box_test.go:7:2: ")
    assert missing == "Missing dependencies (1): example.invalid/assert"
    assert unbuilt == "Files that no build has (1): generate.go"
    assert run.prepared.own_packages == {"example.org/toy"}


def test_a_run_can_be_narrowed_to_packages(tmp_path: Path) -> None:
    needs("go")
    root = written(tmp_path / "r", FILES)
    scope = GO.scope(context(root), [RepoPath("cmd/main.go")])
    assert scope == frozenset((RepoPath("cmd/main.go"),))
    sources = Sources(FILES, Run(GO, root, scope=scope).index)
    assert sources.target("cmd/main.go", "u.<Save>(") == "store.go:17"
    assert sources.at("store.go", "u.<Save>(") == []
    assert sources.target("store.go", "<NewUser>()") == "store.go:24"


def test_odd_files_do_not_end_a_run(tmp_path: Path) -> None:
    needs("go")
    files = {
        "go.mod": "module example.org/odd\n\ngo 1.18\n",
        "a.go": "package a\n\nfunc f() { f(); g() }\n",
        "broken.go": "package a\n\nfunc g( {\n",
        "empty.go": "",
        "other/b.go": 'package b\n\n// #include <math.h>\nimport "C"\n\nfunc h() { h(); C.sqrt(1) }\n',
        "two/a.go": "package a\n\nfunc k() { k() }\n",
        "two/b.go": "package b\n\nfunc k() { k() }\n",
    }
    root = written(tmp_path / "r", files)
    (root / "gone.go").symlink_to("nowhere")
    sources = Sources(files, Run(GO, root).index)
    assert sources.target("a.go", "{ <f>();") == "a.go:3"
    assert sources.target("other/b.go", "{ <h>();") == "other/b.go:6"


def test_a_module_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    needs("go")
    root = written(tmp_path / "r", {"go.mod": "no module\n", "a.go": "package a\n"})
    with pytest.raises(AssertionError, match=r"go list: .*go\.mod"):
        Run(GO, root, SYSTEM)


def test_requirements_outside_of_the_module_cache_leave_the_rest(tmp_path: Path) -> None:
    needs("go")
    files = {
        "go.mod": "module example.org/far\n\ngo 1.15\n\nrequire (\n\texample.invalid/far v1.2.3\n)\n",
        "a.go": """package a

import "example.invalid/far"

type T struct{ N int }

func use(t T) int { far.Call(); return t.N }
""",
    }
    run = Run(GO, written(tmp_path / "r", files), SYSTEM)
    assert Sources(files, run.index).target("a.go", "t.<N>") == "a.go:5"
    assert any("example.invalid/far" in note for note in run.notes), run.notes


def test_a_directory_without_a_module_is_told(tmp_path: Path) -> None:
    root = written(tmp_path / "r", {"a.go": "package a\n"})
    assert GO.prepare(root, context(root)).notes == (". has no go.mod: nothing can be indexed.",)
