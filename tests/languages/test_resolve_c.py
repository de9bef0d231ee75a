"""Where an include of C leads."""

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.c import modules
from tests.languages.sources import Files


def found(files: list[str], path: str, include: str) -> list[str]:
    """The places of one include of a file."""
    sources = Files(dict.fromkeys(files, "") | {path: f"#include {include}\n"})
    (item,) = sources.imports(path)
    return [place.path for place in modules.places(sources, path, item)]


@pytest.mark.parametrize(
    ("files", "include", "place"),
    [
        (["src/a.h", "a.h"], '"a.h"', "src/a.h"),
        (["inc/a.h"], '"../inc/a.h"', "inc/a.h"),
        (["src/sub/a.h"], '"sub/./a.h"', "src/sub/a.h"),
        (["include/lib/a.h"], '"lib/a.h"', "include/lib/a.h"),
        (["include/lib/a.h"], "<lib/a.h>", "include/lib/a.h"),
        (["include/a.h", "test/a.h"], "<a.h>", "include/a.h"),
        (["a.h", "deps/x/a.h"], "<a.h>", "a.h"),
        (["deep/down/lib/a.h"], '"lib/a.h"', "deep/down/lib/a.h"),
    ],
)
def test_an_include_is_beside_the_file_or_the_one_that_ends_like_it(
    files: list[str], include: str, place: str
) -> None:
    assert found(files, "src/main.c", include) == [place]


@pytest.mark.parametrize(
    ("files", "include"),
    [
        (["deps/x/a.h", "deps/y/a.h"], '"a.h"'),
        (["include/a.h", "a.h", "x/a.h"], "<a.h>"),
        (["A.h"], '"a.h"'),
        (["xa.h"], '"a.h"'),
        (["a.h"], '"../../a.h"'),
        (["a.h"], '"../../../../a.h"'),
        (["a.h"], '"/a.h"'),
        (["a.h"], '"missing.h"'),
        (["a.h"], '""'),
        (["a.h"], "<>"),
    ],
)
def test_what_is_not_certain_or_outside_leads_nowhere(files: list[str], include: str) -> None:
    assert found(files, "src/main.c", include) == []


def test_a_file_goes_by_its_path() -> None:
    sources = Files({"src/store.h": ""})
    assert modules.module_name(sources, "src/store.h") == "src/store"
    assert modules.ambient(sources, Place(RepoPath("src/store.h"))) == ()
    assert modules.submodule(sources, Place(RepoPath("src/store.h")), "x") == ()
