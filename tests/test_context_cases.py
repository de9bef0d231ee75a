"""Runs every text case of `tests/cases/contexts`: a tree of files in, contexts and routes out.

A file is sound unless it contains `!!`. Ambient contexts without files are not shown. A case with a part
`detected` or `written` also shows how the families are classified, or the text of contexts.yaml.
"""

from pathlib import Path

import pytest

from codeplane.contexts.contexts import (
    Context,
    Probed,
    Router,
    Tier,
    configured,
    detect,
    discover,
    probe,
)
from codeplane.contexts.file import read_contexts, write_contexts
from codeplane.core.paths import RepoPath
from codeplane.languages.families import FAMILIES
from tests.case_files import Case, parse_case

CASES = sorted((Path(__file__).parent / "cases" / "contexts").glob("*.txt"))
SHOWN = ("contexts", "routes", "detected", "written")
CONFIG = ".codeplane/contexts.yaml"


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_context_case(file: Path, request: pytest.FixtureRequest) -> None:
    expected = parse_case(file.read_text())
    seen = run_case(expected)
    if request.config.getoption("--update"):
        file.write_text(seen.render())
    assert seen.render() == expected.render()


def test_every_marker_is_in_a_case() -> None:
    files = [Path(name) for file in CASES for name in parse_case(file.read_text()).files]
    names = {
        name for file in files for name in (file.name, f"*{file.suffix}", *(f"{p}/" for p in file.parts))
    }
    markers = {m for family in FAMILIES.values() for m in family.workspace_markers + family.package_markers}
    assert markers <= names


def run_case(case: Case) -> Case:
    tree = {RepoPath(name): text for name, text in case.files.items() if name not in SHOWN and name != CONFIG}
    overrides = read_contexts(case.files.get(CONFIG, "version: 1"))
    candidates = configured(discover(tree, lambda path: tree[path].encode()), overrides)
    probed = probe(candidates, tree, lambda path, _: "!!" not in tree[path])
    router = Router(probed)
    parts = {
        "contexts": "\n".join(_line(one) for one in probed.contexts if not _is_quiet(one)),
        "routes": "\n".join(f"{path}  {_owners(router, path)}" for path in tree),
        "detected": _detected(probed),
        "written": write_contexts(probed.contexts, overrides),
    }
    kept = [name for name in SHOWN if name in ("contexts", "routes") or name in case.files]
    inputs = {name: text for name, text in case.files.items() if name not in SHOWN}
    return Case(case.about, inputs | {name: parts[name].rstrip("\n") + "\n" for name in kept})


def _is_quiet(one: Context) -> bool:
    return one.tier is Tier.AMBIENT and one.probe_status == "empty"


def _line(one: Context) -> str:
    parts = [f"{one.probe_status:<8}", f"{one.tier.name.lower():<10}", _unit(one), *one.markers]
    return "  ".join(parts) + (f"\n          {one.reason}" if one.reason else "")


def _owners(router: Router, path: RepoPath) -> str:
    return " ".join(_unit(one) for one in router.units_of(path)) or "-"


def _unit(one: Context) -> str:
    return f"{one.family}:{one.root_path or '.'}"


def _detected(probed: Probed) -> str:
    found = detect(probed)
    return "\n".join(f"{one.family}: {one.mode}" + (f", {one.signal}" if one.signal else "") for one in found)
