import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codeplane.cli._ignore import CPLIGNORE
from codeplane.git import open_repository
from codeplane.working_tree import Opened, WorkingTree
from codeplane.working_tree.rules.wildmatch import Patterns, as_bytes, parse
from tests.drive import git, new_repo

NAMES = [
    "a",
    "b",
    "ab",
    "foo",
    "foo bar",
    "a.c",
    ".x",
    "é",
    "-",
    "[a]",
    "a\\b",
    "!b",
    "#c",
    "a ",
    "A",
    "b]",
    "*",
    "\v",
]
PARTS = ["a", "b", "foo", "*", "**", "/", "?", "[ab]", "[!a]", "[a-c", "[[:alpha:]]", "[]a]", "[^]b]", "[a-]"]
PARTS += [
    "\\",
    "\\*",
    "!",
    ".c",
    "é",
    " ",
    "#",
    "]",
    "[",
    "-",
    "[\\]]",
    "[[:x:]]",
    "[b-a]",
    "***",
    "\r",
    "\t",
    "A",
    "[B]",
    "[A-C]",
    "[!B-C]",
    "\\A",
    "[[:upper:]]",
    "[[:space:]]",
]

patterns = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("".join)
rules = st.lists(patterns, min_size=1, max_size=4).map("\n".join)
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ignore")
    git(root, "init", "-q")
    return root


def listed(root: Path, *opened: str) -> set[str]:
    delta = WorkingTree(root, open_repository(root, trusted=False), Opened(opened)).reconcile({})
    return {*delta.added, *delta.links, *delta.refused}


def listed_by_git(root: Path) -> set[str]:
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    found = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.split(b"\0")
    return {os.fsdecode(name) for name in found if name and os.path.lexists(root / os.fsdecode(name))}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=rules, names=st.lists(paths, min_size=20, max_size=60))
@example(text="foo**/b", names=["fooa/b", "foo/b", "fooa/a/b", "foob"])
@example(text="/**\n!/a/**/b/", names=["a/b", "a/x/b", "a/x/y/b/c"])
@example(text="[[:space:]]", names=["\v", "\x1c", "\t", " "])
def test_patterns_say_what_git_check_ignore_says(scratch: Path, text: str, names: list[str]) -> None:
    assert _ignored(Patterns(parse(text.encode())), names) == _ignored_by_git(scratch, text, names)


def _ignored_by_git(scratch: Path, text: str, names: list[str], *options: str) -> set[str]:
    (scratch / ".gitignore").write_bytes(text.encode())
    command = ["git", *options, "check-ignore", "--no-index", "-z", "--stdin"]
    asked = b"".join(os.fsencode(name) + b"\0" for name in names)
    told = subprocess.run(command, cwd=scratch, input=asked, capture_output=True).stdout
    return {os.fsdecode(name) for name in told.split(b"\0") if name}


def _ignored(compiled: Patterns, names: list[str]) -> set[str]:
    return {name for name in names if _is_ignored(compiled, name)}


def _is_ignored(compiled: Patterns, path: str) -> bool:
    names = path.split("/")
    return any(
        compiled.verdict(as_bytes(name), as_bytes("/".join(names[: at + 1])), directory=at + 1 < len(names))
        for at, name in enumerate(names)
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=rules, names=st.lists(paths, min_size=20, max_size=60))
@example(text="*.[!co]\n[B]\n\\A\n[[:upper:]]c", names=["x.c", "x.C", "x.y", "B", "b", "A", "a", "Bc", "bc"])
def test_without_regard_to_case_patterns_say_what_git_says(
    scratch: Path, text: str, names: list[str]
) -> None:
    assert _ignored(Patterns(parse(text.encode()), ignore_case=True), names) == _ignored_by_git(
        scratch, text, names, "-c", "core.ignorecase=true"
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(rules, min_size=60, max_size=80), names=st.lists(paths, min_size=20, max_size=60))
def test_many_patterns_say_what_git_says(scratch: Path, texts: list[str], names: list[str]) -> None:
    text = "\n".join(texts)
    assert _ignored(Patterns(parse(text.encode())), names) == _ignored_by_git(scratch, text, names)


def test_the_ending_of_a_pattern_among_many_counts_in_its_order(scratch: Path) -> None:
    text = "\n".join([*(f"*.x{at}" for at in range(100)), "!*.x5", "a*", "!*.c", "/b/a.c", "*.x5?"])
    names = ["y.x5", "y.x50", "y.x7", "a.c", "b/a.c", "b/c/a.c", "ab", ".x9", "x9"]
    assert _ignored(Patterns(parse(text.encode())), names) == _ignored_by_git(scratch, text, names)


@contextmanager
def random_tree(files: list[str], ignores: Mapping[str, str], tracked: list[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as base:
        root = Path(base)
        git(root, "init", "-q")
        for name in files:
            if (
                not any((root / parent).is_file() for parent in Path(name).parents)
                and not (root / name).exists()
            ):
                write(root, {name: "x"})
        for place, text in ignores.items():
            if place == "." or (root / place).is_dir():
                (root / place / ".gitignore").write_bytes(text.encode())
        there = [name for name in tracked if (root / name).is_file()]
        if there:
            git(root, "--literal-pathspecs", "add", "-f", "--", *there)
        yield root


@settings(max_examples=60, deadline=None)
@given(
    files=st.lists(paths, min_size=1, max_size=25),
    ignores=st.dictionaries(st.one_of(st.just("."), paths), rules, min_size=1, max_size=3),
    shared=rules,
    data=st.data(),
)
def test_a_random_tree_is_listed_as_git_lists_it(
    files: list[str], ignores: dict[str, str], shared: str, data: st.DataObject
) -> None:
    tracked = data.draw(st.lists(st.sampled_from(files), max_size=4))
    with random_tree(files, ignores, tracked) as root:
        (root / ".git" / "info" / "exclude").write_text(shared)
        assert listed(root) == listed_by_git(root)


def test_excludes_of_every_level_apply_in_gits_order(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"a.txt": ""})
    (tmp_path / "global").write_text("*.one\n*.two\n*.three\n")
    git(root, "config", "core.excludesFile", str(tmp_path / "global"))
    (root / ".git" / "info" / "exclude").write_text("!*.two\n*.four\n")
    write(root, {".gitignore": "!*.three\n", "sub/.gitignore": "!*.four\n*.three\n"})
    write(root, {f"{d}x.{n}": "" for d in ("", "sub/") for n in ("one", "two", "three", "four")})
    assert listed(root) == listed_by_git(root)
    assert "sub/x.four" in listed(root) and "x.four" not in listed(root)


def test_cplignore_excludes_tracked_files_and_brings_back_ignored_ones(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"kept.py": "", "docs/a.md": "", ".gitignore": "gen/\n*.out\n"})
    write(root, {"gen/api/x.py": "", "gen/y.py": "", "z.out": "", "q.out": "", "gen/api/deep/w.py": ""})
    write(root, {".cplignore": "docs/\n!gen/api/\n!z.out\n"})
    assert listed(root) == {
        "kept.py",
        ".gitignore",
        ".cplignore",
        "gen/api/x.py",
        "gen/api/deep/w.py",
        "z.out",
    }


def test_a_bare_name_brings_back_nothing_inside_an_ignored_directory(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {".gitignore": "gen/\n*.out\n"})
    write(root, {"gen/a.out": "", "a.out": "", ".cplignore": "!*.out\n"})
    assert listed(root) == {".gitignore", ".cplignore", "a.out"}


SECRETS = [".env", ".env.local", "deploy/server.key", "cert.PEM", "id_rsa", "id_ed25519_work", "id_deploy"]
SECRETS += [".git-credentials", ".aws/credentials", "home/.aws/credentials", ".npmrc", ".pypirc", ".pgpass"]
SECRETS += [".docker/config.json", ".kube/config", "gcp-service-account.json", "x/serviceAccountKey.json"]
SECRETS += ["app-firebase-adminsdk-abc.json", "client_secret_1.json"]
NO_SECRETS = [
    ".env.example",
    "id_rsa.pub",
    "id_generator.py",
    "credentials",
    "config.json",
    "aws/credentials",
]


def test_files_that_usually_hold_secrets_are_left_out(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", dict.fromkeys([*SECRETS, *NO_SECRETS], ""))
    assert listed(root) == set(NO_SECRETS)


def test_a_line_brings_a_secret_back_only_if_the_user_has_opened_it(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", dict.fromkeys(SECRETS, ""))
    write(root, {".cplignore": "!.env\n!.npmrc\n!deploy/\n"})
    assert listed(root) == {".cplignore"}
    assert listed(root, "!.env") == {".cplignore", ".env"}
    write(root, {".cplignore": "!.npmrc\n"})
    assert listed(root, "!.env") == {".cplignore"}


def test_what_cpl_init_writes_changes_nothing(tmp_path: Path) -> None:
    files = [".env.example", "src/a.py", "build/kept.py", "logs/tracked.log", ".env", "cert.pem"]
    root = new_repo(tmp_path / "r", dict.fromkeys(files, ""))
    write(
        root,
        {"target/debug/x.rs": "", "dist/y.js": "", "other.log": "", "coverage/z": "", "pytest_cache/w": ""},
    )
    before = listed(root)
    write(root, {".cplignore": CPLIGNORE})
    assert listed(root) == before | {".cplignore"}
    assert ".env.example" in before and not any(path.startswith("target/") for path in before)


def test_prunable_directories_keep_only_what_is_tracked_in_them(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"node_modules/own/a.js": "", "__pycache__/b.pyc": "", "build/c.py": ""})
    write(
        root, {"node_modules/foreign/x.js": "", "build/out.o": "", ".venv/lib/y.py": "", "src/build/z.o": ""}
    )
    assert listed(root) == {"node_modules/own/a.js", "build/c.py"}
    write(root, {".cplignore": "!src/build/\n"})
    assert listed(root) == {"node_modules/own/a.js", "build/c.py", "src/build/z.o", ".cplignore"}


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_tracked_file_is_listed_whatever_ignores_it(tmp_path: Path, version: str) -> None:
    root = new_repo(tmp_path / "r", {"out/deep/kept.txt": "", "out/é.txt": "", "a/b/c": "", "a/b/d": ""})
    write(root, {".gitignore": "out/\na\n", "out/deep/other.txt": ""})
    git(root, "update-index", "--index-version", version)
    assert (
        listed(root)
        == {"out/deep/kept.txt", "out/é.txt", "a/b/c", "a/b/d", ".gitignore"}
        == listed_by_git(root)
    )


def test_a_split_index_is_read_whole(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"out/a": "", "out/b": ""})
    git(root, "update-index", "--split-index")
    write(root, {".gitignore": "out/\n", "out/c": "", "out/d": ""})
    git(root, "add", "-f", "out/c")
    assert listed(root) == {"out/a", "out/b", "out/c", ".gitignore"}


def test_case_is_ignored_when_git_is_told_so(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {".gitignore": "Makefile\n*.LOG.txt\n[a-c]x\n"})
    write(root, {"makefile": "", "a.log.TXT": "", "Bx": "", "kept": ""})
    git(root, "config", "core.ignorecase", "true")
    assert listed(root) == {".gitignore", "kept"}


def test_settings_of_git_that_change_are_obeyed_at_once(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {".gitignore": "Makefile\n"})
    write(root, {"makefile": "", "a.x": ""})
    tree = WorkingTree(root, open_repository(root, trusted=False))
    assert {"makefile", "a.x"} <= set(tree.reconcile({}).added)
    write(tmp_path, {"global": "*.x\n"})
    git(root, "config", "core.excludesFile", str(tmp_path / "global"))
    assert "a.x" not in tree.reconcile({}).added
    git(root, "config", "core.ignorecase", "true")
    assert "makefile" not in tree.reconcile({}).added
    git(root, "config", "--unset", "core.excludesFile")
    assert "a.x" in tree.reconcile({}).added


def test_odd_ignore_files_hold_nothing_up(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"a/x": "", "b/x": "", "c/x": "", "d/x": ""})
    os.mkfifo(root / "a" / ".gitignore")
    (root / "b" / ".gitignore").mkdir()
    (root / "c" / ".gitignore").symlink_to("/dev/zero")
    (root / "d" / ".gitignore").write_bytes(b"\xef\xbb\xbfx\0\n\xff\xfe*\n")
    assert {"a/x", "b/x", "c/x", "d/x"} <= listed(root)


def test_no_pattern_makes_matching_explode() -> None:
    hostile = [f"{'*a' * 60}b", f"{'**/a/' * 40}b", f"/{'**/*a*' * 20}b", "*" * 3000 + "b"]
    compiled = Patterns(parse("\n".join(hostile).encode()))
    started = time.process_time()
    compiled.verdict("a" * 250, "/".join(["a"] * 250), directory=False)
    compiled.verdict("a" * 250, f"{'a' * 250}/" * 15 + "a", directory=False)
    # Without atomic groups this takes longer than anyone would wait; it is no measure of speed.
    assert time.process_time() - started < 5


def test_many_patterns_do_not_hold_up_matching() -> None:
    lines = [*(f"/d{at}/f{at}.txt" for at in range(20_000)), *(f"*.x{at}" for at in range(20_000))]
    compiled = Patterns(parse("\n".join(lines).encode()))
    started = time.process_time()
    assert not any(compiled.verdict(f"{at}.py", f"d{at}/{at}.py", directory=False) for at in range(500))
    # One search for all of them takes minutes; this is no measure of speed.
    assert time.process_time() - started < 5


def test_an_ignore_file_is_obeyed_up_to_a_size_and_told_beyond_it(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "r", {"sub/a": "", "sub/b": ""})
    write(root, {"x": "", "sub/x": "", ".gitignore": "x\n" + "#" * (10 << 20)})
    tree = WorkingTree(root, open_repository(root, trusted=False))
    assert "sub/x" not in tree.reconcile({}).added
    assert tree.problems() == []
    write(root, {".gitignore": "x\n" + "#" * (17 << 20)})
    assert "sub/x" in tree.reconcile({}).added
    assert tree.problems() == [f"{root}/.gitignore has more than 16777216 bytes and is not obeyed."]
