"""Where the paths of Rust lead: crates, modules, files."""

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.rust import modules
from tests.languages.sources import Files

CARGO = '[package]\nname = "my-app"\nedition = "2021"\n'


def head(files: dict[str, str], path: str, module: str, kind: str = "rust_use") -> list[str] | None:
    """The files that a path begins in."""
    places = modules.head(Files(files), path, Import(0, kind, module, "", "", 1, 0))
    return None if places is None else [place.path for place in places]


def below(files: dict[str, str], path: str, name: str) -> list[str]:
    return [place.path for place in modules.submodule(Files(files), Place(RepoPath(path)), name)]


def test_a_module_is_a_file_beside_the_root_or_below_the_module() -> None:
    files = {
        "Cargo.toml": CARGO,
        "src/lib.rs": "mod a;\nmod b;\nmod both;\nmod gone;\nmod inline {}\n",
        "src/a.rs": "mod c;\n",
        "src/a/c.rs": "",
        "src/c.rs": "",
        "src/b/mod.rs": "mod c;\n",
        "src/b/c.rs": "",
        "src/both.rs": "",
        "src/both/mod.rs": "",
        "src/inline.rs": "",
    }
    assert below(files, "src/lib.rs", "a") == ["src/a.rs"]
    assert below(files, "src/a.rs", "c") == ["src/a/c.rs"]
    assert below(files, "src/b/mod.rs", "c") == ["src/b/c.rs"]
    for name in ("both", "gone", "inline", "other"):
        assert below(files, "src/lib.rs", name) == []
    sources = Files(files)
    assert modules.module_name(sources, "src/a/c.rs") == "my_app::a::c"
    assert modules.module_name(sources, "src/c.rs") == "src/c"


def test_a_module_that_says_its_file_is_there_alone() -> None:
    files = {
        "Cargo.toml": CARGO,
        "src/lib.rs": '#[path = "x/y.rs"] mod a;\n#[path = "../../../etc/b.rs"] mod b;\n'
        '#[cfg_attr(unix, path = "u.rs")] mod c;\n',
        "src/x/y.rs": "mod z;\n",
        "src/x/z.rs": "",
        "src/a.rs": "",
        "src/b.rs": "",
        "src/c.rs": "",
        "src/u.rs": "",
    }
    assert [below(files, "src/lib.rs", name) for name in "abc"] == [["src/x/y.rs"], [], []]
    assert below(files, "src/x/y.rs", "z") == ["src/x/z.rs"]
    assert head(files, "src/x/z.rs", "super") == ["src/x/y.rs"]
    assert head(files, "src/x/z.rs", "super::super") == ["src/lib.rs"]
    assert head(files, "src/a.rs", "super") == []
    assert modules.module_name(Files(files), "src/x/z.rs") == "my_app::a::z"


def test_a_file_of_several_crates_begins_in_all_of_them() -> None:
    files = {
        "Cargo.toml": CARGO,
        "src/lib.rs": "mod a;\n",
        "src/main.rs": "mod a;\nmod a2;\n",
        "src/a.rs": "",
        "src/lost.rs": "",
    }
    assert head(files, "src/a.rs", "crate") == ["src/lib.rs", "src/main.rs"]
    assert head(files, "src/lost.rs", "crate") == []
    assert head(files, "src/lost.rs", "self") == ["src/lost.rs"]
    # The library does not know itself by name.
    assert head(files, "src/main.rs", "my_app") == ["src/lib.rs"]
    assert head(files, "src/a.rs", "my_app") is None


@pytest.mark.parametrize(
    "root",
    ["src/bin/tool.rs", "src/bin/tool/main.rs", "tests/it.rs", "examples/e.rs", "benches/b.rs", "odd.rs"],
)
def test_programs_tests_examples_and_benchmarks_are_crates_that_know_the_library(root: str) -> None:
    files = {
        "Cargo.toml": CARGO
        + '[lib]\npath = "lib/top.rs"\nname = "short"\n[[bin]]\nname = "odd"\npath = "odd.rs"\n',
        "lib/top.rs": "",
        root: "",
    }
    assert head(files, root, "crate") == [root]
    assert head(files, root, "short") == ["lib/top.rs"]
    assert head(files, root, "my_app") is None


def test_dependencies_by_path_are_known_by_their_names() -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n'
        '[workspace.dependencies]\nshared = { path = "crates/shared" }\n'
        '[workspace.package]\nedition = "2021"\n',
        "crates/app/Cargo.toml": '[package]\nname = "app"\nedition.workspace = true\n[dependencies]\n'
        'shared.workspace = true\nother = { path = "../shared", package = "shared" }\nserde = "1"\n'
        'two = "1"\n[target.\'cfg(unix)\'.dependencies]\none-two = { path = "../one-two" }\n'
        '[dev-dependencies]\nout = { path = "../../../out" }\n',
        "crates/app/src/lib.rs": "mod serde;\nmod deep;\n",
        "crates/app/src/deep.rs": "",
        "crates/shared/Cargo.toml": '[package]\nname = "shared"\n',
        "crates/shared/src/lib.rs": "",
        "crates/one-two/Cargo.toml": '[package]\nname = "one-two"\n[lib]\nname = "named"\n',
        "crates/one-two/src/lib.rs": "",
        "crates/two/Cargo.toml": '[package]\nname = "two"\n',
        "crates/two/src/lib.rs": "",
    }
    path = "crates/app/src/deep.rs"
    assert head(files, path, "shared") == ["crates/shared/src/lib.rs"]
    assert head(files, path, "other") == ["crates/shared/src/lib.rs"]
    assert head(files, path, "named") == ["crates/one-two/src/lib.rs"]
    assert head(files, path, "::shared") == ["crates/shared/src/lib.rs"]
    assert head(files, path, "::two") == []  # the one of this name is from elsewhere
    assert [head(files, path, name) for name in ("two", "one_two", "serde", "std", "out")] == [None] * 5
    # A module of this name comes first.
    files["crates/app/src/deep.rs"] = "mod shared {}\n"
    assert head(files, path, "shared") is None


def test_in_the_first_edition_what_is_used_begins_at_the_root() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "old"\n[dependencies]\ndep = { path = "dep" }\n',
        "src/lib.rs": "extern crate dep;\nmod a;\nmod b;\n",
        "src/a.rs": "mod b;\nmod dep;\n",
        "src/a/b.rs": "",
        "src/a/dep.rs": "",
        "src/b.rs": "",
        "dep/Cargo.toml": '[package]\nname = "dep"\n',
        "dep/src/lib.rs": "",
    }
    assert head(files, "src/a.rs", "b") == ["src/b.rs"]
    assert head(files, "src/a.rs", "::b") == ["src/b.rs"]
    assert head(files, "src/a.rs", "dep") == ["dep/src/lib.rs"]
    assert head(files, "src/a.rs", "b", kind="") is None
    assert head(files, "src/lib.rs", "dep", kind="rust_extern_crate") == ["dep/src/lib.rs"]


def test_inline_modules_are_places_with_files_below() -> None:
    files = {
        "Cargo.toml": CARGO,
        "src/lib.rs": "mod outer { mod inner { mod file; } }\n",
        "src/outer/inner/file.rs": "",
    }
    sources = Files(files)
    inner = sources.members(sources.members(Place(RepoPath("src/lib.rs")), "outer")[0].place, "inner")[
        0
    ].place
    assert [place.path for place in modules.submodule(sources, inner, "file")] == ["src/outer/inner/file.rs"]
    asked = Import(0, "rust_use", "super", "", "", 1, 0)
    assert modules.head(sources, "src/outer/inner/file.rs", asked) == [inner]
    asked = asked._replace(module="super::super::super")
    assert modules.head(sources, "src/outer/inner/file.rs", asked) == [Place(RepoPath("src/lib.rs"))]
    assert modules.module_name(sources, "src/outer/inner/file.rs") == "my_app::outer::inner::file"


@pytest.mark.parametrize(
    "manifest",
    [
        "[package",
        "package = 1\n",
        "[package]\nname = 1\nedition = []\n",
        '[package]\nname = "x"\nbuild = 3\nworkspace = "../.."\nedition = { workspace = true }\n',
        '[package]\nname = "x"\n[lib]\npath = "../../lib.rs"\n[[bin]]\npath = 1\n',
        '[package]\nname = "x"\n[dependencies]\na = 1\nb = { path = 2 }\n',
        'lib = 1\nbin = 3\ndependencies = []\ntarget = "x"\n[package]\nname = "x"\n',
        "a=" + "[" * 5000,
    ],
)
def test_a_manifest_that_makes_no_sense_says_nothing(manifest: str) -> None:
    files = {"sub/Cargo.toml": manifest, "sub/src/main.rs": "mod a;\n", "sub/src/a.rs": ""}
    assert head(files, "sub/src/a.rs", "crate") in (["sub/src/main.rs"], [])
    assert head(files, "sub/src/a.rs", "super") in (["sub/src/main.rs"], [])
    assert head(files, "sub/src/a.rs", "a", kind="") is None


def test_files_that_declare_each_other_end() -> None:
    files = {
        "a/mod.rs": '#[path = "../b/mod.rs"] mod b;\n',
        "b/mod.rs": '#[path = "../a/mod.rs"] mod a;\n',
        "self.rs": '#[path = "self.rs"] mod me;\n',
    }
    assert head(files, "a/mod.rs", "crate") == []
    assert head(files, "a/mod.rs", "super::super") == ["a/mod.rs"]
    assert head(files, "self.rs", "super") == []
    assert modules.module_name(Files(files), "a/mod.rs") == "a/mod"
