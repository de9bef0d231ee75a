"""scip-typescript: the project that is written for it, and real runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeplane.semantic.indexers import INDEXERS
from tests.semantic.indexers.lab import Run, Sources, context, npm_tool, written

TS = INDEXERS["scip-typescript"]
FILES = {
    "package.json": '{"name": "@toy/app", "version": "1.0.0"}',
    "src/store.ts": "export class Store {\n  save(name: string): void {}\n}\n",
    "src/use.ts": 'import { Store } from "./store";\n\nexport const run = (s: Store) => s.save("x");\n',
    "scripts/old.js": 'const { Store } = require("../src/store");\n\nnew Store().save("y");\n',
}


def project(root: Path) -> dict[str, Any]:
    return dict(json.loads((root / "tsconfig.codeplane.json").read_text()))


def run(root: Path) -> Run:
    entry = "dist/src/main.js"
    path = npm_tool(root, "scip-typescript", "@sourcegraph/scip-typescript", "0.4.0", entry)
    return Run(TS, root, path)


@pytest.mark.parametrize(
    "config",
    [
        None,
        '{"compilerOptions": {"strict": true, "composite": true}, "include": ["src"],} // trailing\n',
        '{"extends": "@tsconfig/absent/tsconfig.json", "compilerOptions": {"strict": true}}',
    ],
    ids=["none", "narrow", "broken"],
)
def test_all_files_are_indexed_whatever_the_configuration(tmp_path: Path, config: str | None) -> None:
    files = {**FILES, **({"tsconfig.json": config} if config else {})}
    result = run(written(tmp_path / "r", files))
    sources = Sources(files, result.index)
    assert sources.target("src/use.ts", "s.<save>(") == "src/store.ts:2"
    assert sources.target("scripts/old.js", "Store().<save>(") == "src/store.ts:2"
    assert result.tool.version == "0.4.0"
    assert result.prepared.own_packages == {"@toy/app"}
    broken = ["@tsconfig/absent/tsconfig.json is not installed"] if config and "absent" in config else []
    assert [note.partition(":")[0] for note in result.prepared.notes] == broken


def test_a_configuration_that_only_names_others_stands_for_those(tmp_path: Path) -> None:
    solution = (
        '{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.node.json"}]}'
    )
    files = {**FILES, "tsconfig.json": solution, "tsconfig.app.json": "{}", "tsconfig.node.json": "{}"}
    root = written(tmp_path / "r", files)
    TS.prepare(root, context(root))
    assert project(root)["extends"] == ["./tsconfig.node.json", "./tsconfig.app.json"]


def test_an_extended_configuration_of_an_installed_package_holds(tmp_path: Path) -> None:
    files = {
        "node_modules/@tsconfig/strict/tsconfig.json": "{}",
        "app/tsconfig.json": '{"extends": ["@tsconfig/strict/tsconfig.json", "../base"]}',
        "base.json": "{}",
        "app/a.ts": "",
    }
    root = written(tmp_path / "r", files)
    assert TS.prepare(root, context(root, "app")).notes == ()
    assert project(root / "app")["extends"] == "./tsconfig.json"
    assert project(root / "app")["files"] == ["./a.ts"]


def test_digests_depend_on_configurations_above(tmp_path: Path) -> None:
    root = written(tmp_path / "r", {"app/a.ts": "", "app/tsconfig.json": "{}"})
    before = TS.digests(root, context(root, "app"))
    assert TS.prepare(root, context(root, "app")).digests == before
    assert TS.digests(root, context(root, "app")) == before
    written(root, {"tsconfig.base.json": "{}"})
    assert TS.digests(root, context(root, "app")).configuration != before.configuration
    written(root, {"pnpm-lock.yaml": "a: 1\n"})
    assert TS.digests(root, context(root, "app")).environment != before.environment
