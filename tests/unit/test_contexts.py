import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.contexts.contexts import (
    Candidate,
    Context,
    Override,
    Probed,
    Router,
    Tier,
    configured,
    discover,
    is_inside,
    probe,
)
from codeplane.contexts.file import (
    IndexerChoice,
    SemanticChoices,
    read_contexts,
    read_semantic_choices,
    write_contexts,
)
from codeplane.contexts.members import Listing, Unreadable, literal_glob, matcher, read_listing
from codeplane.core.errors import UnreadableConfig
from codeplane.core.paths import RepoPath
from codeplane.languages.families import FAMILIES, UNIVERSAL_EXCLUDES, FamilyKind, WorkspaceForm, probe_file

unhurried = settings(deadline=None)  # the machine may be busy with other tests

TEXTS = {
    "package.json": [b"{}", b'{"workspaces": ["a", "b/*"]}', b'{"workspaces": ["**", "!a/**"]}', b"{"],
    "go.work": [b"use ./a", b"use .", b"use (\n./b/a\n)"],
    "go.mod": [b""],
    "yarn.lock": [b""],
    "Cargo.toml": [b"", b'[workspace]\nmembers = ["*"]\nexclude = ["b"]'],
    "buf.yaml": [b""],
}
folders = st.lists(st.sampled_from(["a", "b", "ab", "[x]", "*", "vendor"]), max_size=3).map("/".join)
names = st.sampled_from([*TEXTS, "x.js", "x.go", "x.rs", "x.proto", "x.md", "x.txt", "x.json"])
paths = st.builds(lambda folder, name: RepoPath(f"{folder}/{name}".lstrip("/")), folders, names)


@st.composite
def trees(draw: st.DrawFn) -> dict[RepoPath, bytes]:
    files = draw(st.sets(paths, max_size=25))
    return {path: draw(st.sampled_from(TEXTS.get(path.rpartition("/")[2], [b"", b"!!"]))) for path in files}


def probed_tree(tree: dict[RepoPath, bytes], order: Iterable[RepoPath]) -> Probed:
    ordered = list(order)
    return probe(discover(ordered, tree.get), ordered, lambda path, _: b"!!" not in tree[path])


@unhurried
@given(trees(), st.randoms())
def test_discovery_does_not_depend_on_the_order_of_paths(
    tree: dict[RepoPath, bytes], chance: random.Random
) -> None:
    shuffled = list(tree)
    chance.shuffle(shuffled)
    assert probed_tree(tree, shuffled) == probed_tree(tree, sorted(tree))


@unhurried
@given(trees())
def test_a_path_has_at_most_one_context_of_a_family(tree: dict[RepoPath, bytes]) -> None:
    probed = probed_tree(tree, tree)
    valid = [one for one in probed.contexts if one.probe_status == "valid"]
    router = Router(probed)
    for path in tree:
        owned = [one for one in valid if owns(one, path)]
        assert len({one.family for one in owned}) == len(owned)
        assert router.units_of(path) == owned


@unhurried
@given(trees())
def test_the_router_agrees_with_the_reference_on_what_was_discovered(tree: dict[RepoPath, bytes]) -> None:
    probed = probed_tree(tree, tree)
    router = Router(probed)
    for path in tree:
        for family in FAMILIES:
            assert router.context_for(path, family) == reference(probed.contexts, path, family)


globs = st.lists(
    st.sampled_from(["**", "*", "a", "b", "ab", "*.js", "x.*", "?", "a*b*", r"\*", r"\?x"]),
    min_size=1,
    max_size=5,
).map("/".join)
specs = st.lists(globs, max_size=4).map(tuple)


@unhurried
@given(st.dictionaries(folders, st.tuples(specs, specs), max_size=6), paths)
def test_the_router_agrees_with_the_reference_on_any_specs(
    claims: dict[str, tuple[tuple[str, ...], tuple[str, ...]]], path: RepoPath
) -> None:
    contexts = tuple(
        Context("javascript", RepoPath(root), Tier.PACKAGE, (), include, exclude, "valid", "")
        for root, (include, exclude) in claims.items()
    )
    found = Router(Probed(contexts)).context_for(path, "javascript")
    assert found == reference(contexts, path, "javascript")


@unhurried
@given(globs, paths)
def test_a_glob_matches_by_whole_segments(glob: str, path: RepoPath) -> None:
    assert bool(matcher((glob,)).fullmatch(path)) == glob_matches(glob.split("/"), path.split("/"))


def reference(contexts: Iterable[Context], path: RepoPath, family: str) -> Context | None:
    """The router as the requirement writes it down."""
    candidates = [one for one in contexts if one.probe_status == "valid" and one.family == family]
    for one in sorted(candidates, key=lambda one: len(one.root_path), reverse=True):
        if is_inside(path, one.root_path) and owns(one, path):
            return one
    return None


def owns(one: Context, path: RepoPath) -> bool:
    if not is_inside(path, one.root_path):
        return False
    segments = path[len(one.root_path) :].lstrip("/").split("/")
    if any(glob_matches(glob.split("/"), segments) for glob in one.exclude_spec):
        return False
    return any(glob_matches(glob.split("/"), segments) for glob in one.include_spec)


def glob_matches(glob: list[str], path: list[str]) -> bool:
    if not glob:
        return not path
    if glob[0] == "**":
        at_end = len(glob) == 1
        return any(glob_matches(glob[1:], path[skip:]) for skip in range(len(path) + 1)) and not (
            at_end and not path
        )
    return bool(path) and segment_matches(glob[0], path[0]) and glob_matches(glob[1:], path[1:])


def segment_matches(glob: str, text: str) -> bool:
    if not glob:
        return not text
    if glob[0] == "*":
        return any(segment_matches(glob[1:], text[skip:]) for skip in range(len(text) + 1))
    plain = glob[1] if glob[0] == "\\" else glob[0]
    rest = glob[2:] if glob[0] == "\\" else glob[1:]
    return text[:1] != "" and (glob[0] == "?" or text[0] == plain) and segment_matches(rest, text[1:])


def test_containment_is_by_whole_segments() -> None:
    assert is_inside("a/b", "") and is_inside("a/b", "a") and is_inside("a", "a")
    assert not is_inside("ab/c", "a")


@unhurried
@given(st.text(st.sampled_from("ab*?\\[]/."), min_size=1))
def test_a_literal_glob_matches_its_path(path: str) -> None:
    assert matcher((literal_glob(path),)).fullmatch(path)


def test_a_pattern_cannot_make_a_match_backtrack_without_bound() -> None:
    inside, across = "*a" * 40 + "*b", "**/a/" * 40 + "b"
    assert not matcher((inside,)).fullmatch("a" * 250)
    assert not matcher((across,)).fullmatch("/".join("a" * 250))
    assert matcher((across,)).fullmatch("/".join("a" * 250 + "b"))


@pytest.mark.parametrize(
    ("form", "data", "problem"),
    [
        ("npm", None, "cannot be read"),
        ("npm", b" " * 1_048_577, "larger than"),
        ("npm", b"\xff{}", "not UTF-8"),
        ("npm", b"[" * 200_000, "nested too deeply"),
        ("pnpm", b"packages: " + b"[\n " * 2_000, "nested too deeply"),
        ("pnpm", b"packages:\n" + b"- a\n" * 20_000, "too long"),
        ("pnpm", b"packages: x", "not a list of texts"),
        ("go_work", b"use", "without one directory"),
        ("go_work", b'use "./a', "a quote has no end"),
        ("cargo", b"a" + b".a" * 100_000 + b" = 1", "too many parts"),
        ("cargo", b"'a b'" + b'."c d"' * 40_000 + b" = 1", "too many parts"),
        ("cargo", b"workspace = 1", "not a table"),
        ("gradle", b"\xff", "not UTF-8"),
    ],
)
def test_an_unreadable_workspace_file_says_why(form: WorkspaceForm, data: bytes | None, problem: str) -> None:
    listing = read_listing(form, data)
    assert isinstance(listing, Unreadable)
    assert problem in listing.problem


@pytest.mark.parametrize(
    ("form", "text", "listed", "unlisted"),
    [
        ("npm", '\ufeff{"workspaces": ["./a/", "b\\u002f*"]}', "a b/c", "b b/c/d c"),
        ("npm", '{"workspaces": {"packages": ["a/../b", "../c"]}}', "b", "a c"),
        ("npm", '{"workspaces": ["{a,{b,c}/d}"]}', "a b/d c/d", "b d"),
        ("pnpm", "catalog:\n  a: 1\r\npackages: [a,\r\n  'b']\r\nother: x", "a b", "other"),
        ("pnpm", '"packages":\n- a\n\n# c\n- b/**\n', "a b b/c/d", "c"),
        ("go_work", "use(\n./a // x\n`./b c`\n)\nuse .", "a b_c .", "d"),
        ("cargo", 'workspace.members = ["a", "b/?"]', "a b/c", "b/cd"),
        ("gradle", "include 'a'; include(\"b\",)\nsettings.include ':c:d'", "a b c c/d", "d"),
        ("gradle", "include 'a',\n  // note\n  'b'\n", "a b", "c"),
        ("gradle", "fileTree('x') { includeEmptyDirs = false }\ninclude 'a'", "a", "x"),
    ],
)
def test_a_workspace_file_lists_its_members(
    form: WorkspaceForm, text: str, listed: str, unlisted: str
) -> None:
    listing = read_listing(form, text.encode())
    assert isinstance(listing, Listing)
    roots = [root.replace("_", " ").removeprefix(".") for root in listed.split()]
    assert all(listing.lists(root) for root in roots)
    assert not any(listing.lists(root) for root in unlisted.split())


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("pnpm", "onlyBuiltDependencies:\n  - x"),
        ("npm", '{"workspaces": ["@(a|b)"]}'),
        ("npm", '{"workspaces": ["' + "{a,b}" * 12 + '"]}'),
        ("npm", '{"workspaces": ["' + "a" * 2_000 + '"]}'),
        ("gradle", 'include("a${b}")'),
        ("gradle", "include(*names)"),
        ("gradle", "include 'a', name"),
        ("gradle", "include('a'"),
        ("gradle", "include"),
    ],
)
def test_a_workspace_file_that_is_not_understood_detaches_nothing(form: WorkspaceForm, text: str) -> None:
    listing = read_listing(form, text.encode())
    assert isinstance(listing, Listing)
    assert listing.lists("anything/at/all")


@pytest.mark.parametrize("text", ["{}", '{"workspaces": []}', '{"workspaces": {"nohoist": ["a"]}}'])
def test_a_package_without_workspaces_is_no_workspace(text: str) -> None:
    assert read_listing("npm", text.encode()) is None


@pytest.mark.parametrize(("sound", "seen"), [("", "a.py b.py d.py cc.py ddd.py"), ("b.py", "a.py b.py")])
def test_a_probe_asks_for_the_five_shortest_and_stops_at_a_sound_one(sound: str, seen: str) -> None:
    names = "pyproject.toml b.py a.py cc.py e/f.py d.py ddd.py"
    files = [RepoPath(name) for name in names.split()]
    asked: list[str] = []

    def check(path: RepoPath, family: str) -> bool:
        if family == "python":
            asked.append(path)
        return path == sound

    probe(discover(files, lambda _: b""), files, check)
    assert asked == seen.split()


@pytest.mark.parametrize(
    ("kind", "text", "language", "sound"),
    [
        ("code", "def f():\n    return 1\n", "python", True),
        ("code", "x = 1\n" * 30 + "def (:\n", "python", True),
        ("data", "x = 1\n" * 30 + "def (:\n", "python", False),
        ("data", "x = 1\n", "python", True),
        ("code", "# a comment\n", "python", False),
        ("code", "", "python", False),
        ("data", "", "python", False),
        ("code", ") ( ] [ def def\n" * 5, "python", False),
        ("data", 'syntax = "proto3";', None, True),
        ("data", " \n", None, False),
        ("data", "\0", "no such language", False),
    ],
)
def test_a_file_is_sound_as_its_kind_asks(
    kind: FamilyKind, text: str, language: str | None, sound: bool
) -> None:
    assert probe_file(kind, text.encode(), language) is sound


def test_a_file_too_large_to_be_parsed_is_not_sound() -> None:
    assert not probe_file("code", b"x = 1\n" * 1_000_000, "python")


def test_a_context_that_is_added_inside_an_excluded_directory_owns_its_files() -> None:
    added = Override("go", RepoPath("vendor/m"), added=True)
    files = [RepoPath("vendor/m/a.go"), RepoPath("vendor/m/build/b.go")]
    router = Router(probe(configured([], [added]), files, lambda *_: True))
    assert [len(router.units_of(path)) for path in files] == [1, 0]


roots = st.text(
    st.characters(exclude_categories=[], exclude_characters="/\0"), min_size=1, max_size=8
).filter(lambda root: root not in (".", ".."))


@unhurried
@given(st.lists(st.builds(RepoPath, roots), unique=True, max_size=5), st.data())
def test_what_the_user_said_survives_writing_and_reading(names: list[RepoPath], data: st.DataObject) -> None:
    overrides = [
        Override(
            "python",
            name,
            enabled := data.draw(st.booleans()),
            added=not enabled or data.draw(st.booleans()),
            include=("*.py",),
        )
        for name in sorted(names)
    ]
    found = [
        Candidate("python", name, Tier.PACKAGE, ("setup.py",), ("**/*.py",), UNIVERSAL_EXCLUDES)
        for name in names
    ]
    contexts = probe(configured(found, overrides), [], lambda *_: True).contexts
    kept = [one for one in overrides if one.added]
    assert read_contexts(write_contexts(contexts, kept)) == kept
    assert write_contexts(contexts, kept) == write_contexts(reversed(contexts), reversed(kept))


def test_an_entry_that_codeplane_wrote_adds_nothing() -> None:
    assert (
        read_contexts("version: 1\ncontexts: [{family: go, root_path: x, status: valid, markers: [go.mod]}]")
        == []
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "valid dictionary"),
        ("version: 2", "version"),
        ("version: 1\ncontexts: {", "expected the node content"),
        ("version: 1\ncontexts: " + "[\n " * 2_000, "nested too deeply"),
        ("version: 1\nother: 1", "other: Extra inputs"),
        ("version: 1\ncontexts: [{family: go}]", "root_path: Field required"),
        ("version: 1\ncontexts: [{family: go, root_path: x, enabled: maybe}]", "enabled"),
        ("version: 1\ncontexts: [{family: pyton, root_path: x}]", "did you mean python?"),
        ("version: 1\ncontexts: [{family: go, root_path: ../x}]", "root_path is not"),
        ("version: 1\ncontexts: [{family: go, root_path: /x}]", "root_path is not"),
        ("version: 1\ncontexts: [{family: go, root_path: x, include: [/a]}]", "a glob is not"),
        ("version: 1\ncontexts: [{family: swift, root_path: x}]", "needs an include list"),
        ("version: 1\ncontexts: [{family: go, root_path: x}, {family: go, root_path: x/}]", "two entries"),
        ("#" * 1_048_577, "larger than"),
    ],
)
def test_a_wrong_contexts_file_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnreadableConfig) as caught:
        read_contexts(text)
    assert problem in caught.value.message
    assert caught.value.message.startswith("contexts.yaml: ")


def test_contexts_yaml_chooses_indexers_and_their_environment() -> None:
    text = """version: 1
defaults: {max_parallel_contexts: 2, divergence_behavior: fail}
contexts:
  - {family: python, root_path: ., status: valid, indexer: scip-python, env: {PYTHONPATH: lib}}
  - {family: jvm, root_path: core, status: valid, indexer: {name: "off"}}
  - {family: go, root_path: cmd, status: valid}
"""
    choices = read_semantic_choices(text)
    assert choices == SemanticChoices(
        {"python:": IndexerChoice("scip-python", {"PYTHONPATH": "lib"}), "jvm:core": IndexerChoice("off")},
        2,
        "fail",
    )
    assert choices.of_unit("go:cmd") == IndexerChoice()
    assert read_contexts(text) == []
    assert read_semantic_choices("version: 1") == SemanticChoices()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("version: 1\ndefaults: {max_parallel_contexts: 0}", "max_parallel_contexts"),
        ("version: 1\ndefaults: {divergence_behavior: structural}", "divergence_behavior"),
        ("version: 1\ncontexts: [{family: go, root_path: x, env: {A B: 1}}]", "environment variable"),
        ("version: 1\ncontexts: [{family: go, root_path: x, indexer: {nam: x}}]", "nam"),
    ],
)
def test_a_wrong_choice_of_an_indexer_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnreadableConfig) as caught:
        read_semantic_choices(text)
    assert problem in caught.value.message
