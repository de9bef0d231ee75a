"""What a file is for: source, tests, examples, documentation, foreign code, or the output of a build."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.slots import InterfaceSlot
from codeplane.languages import specs

if TYPE_CHECKING:
    from codeplane.index.view.view import View

_PLACES: Final = 50_000


class Purpose(IntEnum):
    """What a file is for, in the order in which results are ranked."""

    SOURCE = 0
    TEST = 1
    EXAMPLE = 2
    DOCS = 3
    VENDORED = 4
    BUILT = 5


_DIRECTORIES: Final = {
    **dict.fromkeys("tests __tests__ testdata fixtures e2e".split(), Purpose.TEST),
    **dict.fromkeys("examples samples demos benchmarks".split(), Purpose.EXAMPLE),
    **dict.fromkeys("doc docs documentation".split(), Purpose.DOCS),
    **dict.fromkeys(
        "vendor vendored _vendor _vendored third_party third-party node_modules".split(), Purpose.VENDORED
    ),
    **dict.fromkeys("dist build/lib _build bower_components".split(), Purpose.BUILT),
}
_NAMED_TEST: Final = re.compile(
    r"test_[^/]*\.[^.]+|(?:tests|conftest)\.[^.]+|.*[_.-](?:tests?|spec)\.[^.]+|.*Tests?(?:Case)?\.[^.]+"
)
# Names that source has too: what a framework offers for tests, descriptions of formats.
_MAYBE_TESTS: Final = re.compile(r"(?:^|/)(?:[Tt]est|testing|specs?)(?=/)|(?:^|/)test\.[^/.]+\Z")
_DOCUMENTS: Final = (".md", ".mdx", ".rst", ".txt", ".adoc", ".po", ".pot")
_DOCUMENT_NAMES: Final = ("CHANGELOG", "CHANGES", "HISTORY", "NEWS", "LICENSE", "AUTHORS", "README")
_MADE: Final = re.compile(
    r".*\.min\.(?:js|mjs|cjs|css)|.*\.(?:js|mjs|cjs|css|ts)\.map|.+\.lock"
    r"|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum"
)
_MAYBE_MADE: Final = re.compile(r"\.(?:min\.|map|lock|json|yaml|sum)")
_SOURCES: Final = frozenset(("src", "source", "sources"))
# What builds put their output into whatever the language; other names have to have source beside them.
_ROOTS: Final = frozenset(("dist", "build"))

_PURPOSES: Final = InterfaceSlot[str, "Purpose"]("purposes of files")
_TEST_DIRECTORIES: Final = InterfaceSlot[None, frozenset[str]]("directories of tests")
_BUILT_FILES: Final = InterfaceSlot[None, frozenset[str]]("files built from others")


class Purposes:
    """The purposes of the files of one view. Paths tell them, the files beside, and headers of content."""

    def __init__(self, sources: "View") -> None:
        self._sources = sources
        self._layout = sources.memo.layout
        self._generated = sources.generated()
        self._known = sources.memo.table(_PURPOSES)

    def of(self, path: str) -> Purpose:
        if self._layout.blobs.get(path) in self._generated:
            return Purpose.BUILT
        return self.by_place(path)

    def by_place(self, path: str) -> Purpose:
        """The purpose by path alone: a list of exports may be generated, and is what others see."""
        purpose = self._known.get(path)
        if purpose is None:
            purpose = self._known[path] = self._purpose_of(path)
        return purpose

    def _purpose_of(self, path: str) -> Purpose:
        said = purpose_by_path(path)
        if said is Purpose.BUILT or path in self._made:
            return Purpose.BUILT
        if said in (Purpose.VENDORED, Purpose.TEST) or not _may_say_test(path):
            return said
        match = _MAYBE_TESTS.search(path)
        return Purpose.TEST if match and self._holds_tests(path, match) else said

    def _holds_tests(self, path: str, match: "re.Match[str]") -> bool:
        """Whether a name that may mean tests does, of a file or of a directory around it."""
        while match.end() < len(path):
            if path[: match.end()] in self._test_directories:
                return True
            following = _MAYBE_TESTS.search(path, match.end())
            if following is None:
                return False
            match = following
        return path in self._sources.defining_tests()

    @property
    def _test_directories(self) -> frozenset[str]:
        """Directories named like tests where files are tests: by their names, or by what they define."""
        return self._sources.once(_TEST_DIRECTORIES, None, self._find_test_directories)

    def _find_test_directories(self) -> frozenset[str]:
        test_files = self._sources.defining_tests()
        files: Counter[str] = Counter()
        tests: Counter[str] = Counter()
        directories: set[str] = set()
        for path in self._layout.blobs:
            for match in _MAYBE_TESTS.finditer(path) if _may_say_test(path) else ():
                directory, rest = path[: match.end()], path[match.end() + 1 :]
                inner, _, name = rest.rpartition("/")
                if not rest or _of_directory(inner) is Purpose.TEST:
                    continue  # tests of what is in it, and no word about itself
                files[directory] += 1
                if _is_named_test(name) or test_files.get(RepoPath(path), False):
                    directories.add(directory)
                tests[directory] += path in test_files
        return frozenset(
            directories | {one for one in files if tests[one] and 3 * tests[one] >= 2 * files[one]}
        )

    @property
    def _made(self) -> frozenset[str]:
        """The files that are made from others of the view."""
        return self._sources.once(_BUILT_FILES, None, lambda: frozenset(_generated_files(self._layout.blobs)))


def _may_say_test(text: str) -> bool:
    """Spares most texts a closer look."""
    return "est" in text or "spec" in text


def _is_named_test(name: str) -> bool:
    return _may_say_test(name) and _NAMED_TEST.fullmatch(name) is not None


def purpose_by_path(path: str) -> Purpose:
    """What the path alone tells."""
    directory, _, name = path.rpartition("/")
    around = _of_directory(directory)
    if around is Purpose.BUILT or (_MAYBE_MADE.search(name) and _MADE.fullmatch(name)):
        return Purpose.BUILT
    if around in (Purpose.VENDORED, Purpose.TEST):
        return around
    if _is_named_test(name):
        return Purpose.TEST
    if name.lower().endswith(_DOCUMENTS) or name.upper().startswith(_DOCUMENT_NAMES):
        return Purpose.DOCS
    return around


@lru_cache(maxsize=_PLACES)
def _of_directory(directory: str) -> Purpose:
    parts = directory.lower().split("/")
    pairs = [f"{outer}/{inner}" for outer, inner in pairwise(parts)]
    purposes = {_DIRECTORIES.get(part) for part in (*parts, *pairs)}
    purposes |= {Purpose.TEST for part in parts if part.endswith((".tests", ".test"))}
    purposes |= {Purpose.DOCS for part in parts if part.endswith("-docs")}
    purposes |= {Purpose.EXAMPLE for part in parts if part == "example" and not _SOURCES & set(parts)}
    order = (Purpose.BUILT, Purpose.VENDORED, Purpose.TEST, Purpose.EXAMPLE, Purpose.DOCS)
    return next((one for one in order if one in purposes), Purpose.SOURCE)


class _Piece(NamedTuple):
    """A path taken apart."""

    path: str
    directory: "_Directory"
    stem: str
    ending: str

    @property
    def key(self) -> tuple[str, str]:
        return self.directory.key, self.stem


class _Directory(NamedTuple):
    path: str
    key: str  # without the names of places for source and output
    output: str  # the directory for output that it is in, the outermost
    in_source: bool


def _generated_files(paths: Iterable[str]) -> Iterator[str]:
    """Files with a twin that they are made from: the same name in the place for source, or beside."""
    endings, outputs = _output_rules()
    directories: dict[str, _Directory] = {}
    pieces: list[_Piece] = []
    for path in paths:
        above, _, name = path.rpartition("/")
        dot = name.find(".", 1)
        while dot >= 0 and name[dot:] not in endings:
            dot = name.find(".", dot + 1)
        if dot >= 0:
            directory = directories.get(above) or _split_directory(above, outputs)
            directories[above] = directory
            pieces.append(_Piece(path, directory, name[:dot], name[dot:]))
    suspects = [one for one in pieces if endings[one.ending] or one.directory.output]
    kinds = {end for one in suspects for end in (one.ending, *endings[one.ending])}
    if not {one.ending for one in pieces} & {end for one in kinds for end in endings[one]}:
        suspects = [one for one in suspects if one.directory.output]
    twins: dict[tuple[str, str], list[_Piece]] = {}
    for one in pieces if suspects else ():
        if one.ending in kinds:
            twins.setdefault(one.key, []).append(one)
    yield from _with_twins(suspects, twins, endings)


def _with_twins(
    suspects: Iterable[_Piece],
    twins: Mapping[tuple[str, str], list[_Piece]],
    endings: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    copies: dict[str, list[str]] = {}
    files: Counter[str] = Counter()
    for one in suspects:
        alike, output = twins[one.key], one.directory.output
        files[output] += 1
        if any(twin.ending in endings[one.ending] and _is_made_from(one, twin) for twin in alike):
            yield one.path
        if output and any(twin.ending == one.ending and _is_copy_of(one, twin) for twin in alike):
            copies.setdefault(output, []).append(one.path)
    for output, paths in copies.items():
        if 2 * len(paths) >= files[output]:
            yield from paths


def _is_made_from(one: _Piece, twin: _Piece) -> bool:
    mine, its = one.directory, twin.directory
    return mine is its or (not mine.in_source and not its.output)


def _is_copy_of(one: _Piece, twin: _Piece) -> bool:
    """Whether a file in a place for output has its like in source."""
    mine, its = one.directory, twin.directory
    if mine.in_source or its.output:
        return False
    return its.in_source or mine.output.rpartition("/")[2] in _ROOTS


def _split_directory(path: str, outputs: frozenset[str]) -> _Directory:
    parts = path.split("/") if path else []
    at = next((number for number, part in enumerate(parts) if part in outputs), -1)
    names = [part for part in parts if part not in outputs and part not in _SOURCES]
    return _Directory(
        path, "/".join(names), "/".join(parts[: at + 1]), any(part in _SOURCES for part in parts)
    )


@cache
def _output_rules() -> tuple[Mapping[str, tuple[str, ...]], frozenset[str]]:
    """Every ending of a language with those that it is made from, and the names of places for output."""
    endings: dict[str, tuple[str, ...]] = {}
    outputs: set[str] = set(_ROOTS)
    for spec in specs().values():
        endings.update(dict.fromkeys(spec.extensions, ()) if spec.made_from or spec.outputs else {})
        outputs.update(spec.outputs)
    for spec in specs().values():
        endings.update(spec.made_from)
    return endings, frozenset(outputs)
