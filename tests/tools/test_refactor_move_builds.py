"""`refactor_move`: what a compiler accepted before a move it accepts after it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conformance import node
from tests.programs import needs
from tests.tools.conftest import Made
from tests.tools.test_refactor_move import CRATE, move

TYPESCRIPT = "5.9.3"
WEB = {
    "tsconfig.json": (
        '{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "target": "es2020",\n'
        '  "moduleResolution": "bundler", "types": [], "paths": {"@app/*": ["./src/*"]}},\n'
        '  "include": ["src"]}\n'
    ),
    "src/core/index.ts": "export * from './store';\nexport { Price } from '@app/core/money';\n",
    "src/core/money.ts": (
        "import type { Name } from '@app/names';\n\n"
        "export class Price {\n  value = 1;\n  name: Name = 'a';\n}\n"
    ),
    "src/core/store.ts": (
        "import { Price } from './money';\nimport type { Name } from '../names';\n\n"
        "export class Store {\n  price = new Price();\n  name: Name = 'a';\n}\n"
    ),
    "src/names.ts": "export type Name = string;\n",
    "src/parts/bolt.ts": "export { Store as Bolt } from '../core';\n",
    "src/main.ts": (
        "import { Store } from '@app/core/store';\nimport { Price } from '@app/core';\n"
        "import * as core from './core';\nimport { Bolt } from '@app/parts/bolt';\n\n"
        "export const all: number[] = [new Store().price.value, new Price().value, new core.Price().value];\n"
        "export const later = async () => new (await import('./core/store')).Store().price.value;\n"
        "export const bolt: Store = new Bolt();\n"
    ),
}


def compiled(root: Path) -> str:
    """What the TypeScript compiler has against a project."""
    compiler = node.required("typescript", TYPESCRIPT) / "bin" / "tsc"
    done = subprocess.run([node.node(), compiler, "-p", root], capture_output=True, text=True, check=False)
    return done.stdout


def test_a_directory_under_a_path_alias_moves_and_the_project_compiles(made: Made) -> None:
    repo = made(WEB)
    assert compiled(repo.root) == ""
    move(repo, "src/core", "src/parts/base")
    assert not (repo.root / "src/core").exists()
    assert compiled(repo.root) == ""
    assert "from '@app/parts/base/store'" in (repo.root / "src/main.ts").read_text()


def cargo(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = needs("cargo")
    env = {**os.environ, "CARGO_TARGET_DIR": str(root.parent / "target"), "CARGO_NET_OFFLINE": "true"}
    return subprocess.run(
        [program, *arguments], cwd=root, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [("src/core/store.rs", "src/parts/depot.rs"), ("src/core", "src/parts/base")],
    ids=["a file", "a directory"],
)
def test_a_module_of_a_crate_moves_and_the_crate_builds(made: Made, old: str, new: str) -> None:
    repo = made(CRATE)
    check = ("check", "--quiet", "--all-targets")
    before = cargo(repo.root, *check)
    assert before.returncode == 0, before.stderr
    move(repo, old, new)
    after = cargo(repo.root, *check)
    assert after.returncode == 0, after.stderr


def test_typescript_symbols_move_one_by_one_and_the_project_compiles(made: Made) -> None:
    repo = made(
        WEB
        | {
            "src/core/money.ts": WEB["src/core/money.ts"] + "\nconst RATE = 2;\n\n"
            "export function rated(price: Price): number {\n  return price.value * RATE;\n}\n"
        }
    )
    assert compiled(repo.root) == ""
    for symbol, target in (
        ("src/core/money.rated", "src/core/rates.ts"),
        ("src/core/store.Store", "src/core/shelf.ts"),
        ("src/names.Name", "src/core/rates.ts"),
        ("src/core/money.Price", "src/parts/price.ts"),
    ):
        done = repo.result("refactor_move", from_path=symbol, to_path=target)
        assert done["outcome"] == "ok", done.get("problems")
        assert compiled(repo.root) == ""


GO = {
    "go.mod": "module example.org/shop\n\ngo 1.18\n",
    "store/store.go": (
        'package store\n\nimport (\n\t"fmt"\n\t"strings"\n)\n\n'
        "// Load loads.\nfunc Load(s *Store) string { return fmt.Sprint(s.Name(), Limit) }\n\n"
        "// Store is one.\ntype Store struct{ name string }\n\n"
        "func (s *Store) Name() string { return strings.ToUpper(s.name) }\n\n"
        "const (\n\tLimit = 3 // at most\n\tOther = 4\n)\n"
    ),
    "store/text.go": 'package store\n\nimport "os"\n\nvar home = os.Getenv("HOME")\n',
    "main.go": (
        'package main\n\nimport "example.org/shop/store"\n\n'
        "func main() { println(store.Load(&store.Store{}), store.Other) }\n"
    ),
}


def test_go_symbols_move_one_by_one_and_the_module_builds(made: Made) -> None:
    go = needs("go")
    repo = made(GO)
    for symbol, target in (
        ("store.Load", "store/load.go"),
        ("store.Store", "store/text.go"),
        ("store.Limit", "store/load.go"),
        ("store.home", "store/load.go"),
    ):
        done = repo.result("refactor_move", from_path=symbol, to_path=target)
        assert done["outcome"] == "ok", done.get("problems")
        env = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
        subprocess.run([go, "vet", "./..."], cwd=repo.root, env=env, check=True, capture_output=True)
    gofmt = Path(go).with_name("gofmt")
    told = subprocess.run([gofmt, "-l", "."], cwd=repo.root, check=True, capture_output=True, text=True)
    assert told.stdout == ""
