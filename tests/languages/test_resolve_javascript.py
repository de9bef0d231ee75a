"""Where an import of JavaScript or TypeScript leads."""

import json

import pytest

from codeplane.languages.javascript import modules
from tests.languages.sources import Files


def found(files: dict[str, str], path: str) -> list[str]:
    """The place of each import of a file, or "-"."""
    sources = Files(files)
    places = [modules.places(sources, path, item) for item in sources.imports(path)]
    return [place[0].path if place else "-" for place in places]


def importing(*modules: str) -> str:
    return "".join(f'import "{module}";\n' for module in modules)


def package(name: str, **more: object) -> str:
    return json.dumps({"name": name, **more})


def test_typescript_takes_its_own_endings_first() -> None:
    files = {
        "src/main.ts": importing("./a", "./a.js", "./b", "./c.mjs", "./d", "./e.jsx", "./none", "./f"),
        "src/a.ts": "",
        "src/a.js": "",
        "src/b.tsx": "",
        "src/b.js": "",
        "src/c.mts": "",
        "src/d.d.ts": "",
        "src/d.js": "",
        "src/e.tsx": "",
        "src/f/index.ts": "",
        "src/f/index.js": "",
    }
    assert found(files, "src/main.ts") == [
        *("src/a.ts", "src/a.ts", "src/b.tsx", "src/c.mts", "src/d.d.ts", "src/e.tsx", "-", "src/f/index.ts")
    ]


def test_javascript_takes_what_node_takes() -> None:
    files = {
        "main.js": importing("./a", "./a.js", "./b", "./c", "./dir", "./dir/", ".", "./data.json", "./d.js"),
        "a.js": "",
        "a.ts": "",
        "b.ts": "",
        "c.ts": "",
        "c.jsx": "",
        "dir.js": "",
        "dir/package.json": '{"main": "./lib/start"}',
        "dir/lib/start.js": "",
        "index.js": "",
        "data.json": "{}",
        "d.ts": "",
    }
    assert found(files, "main.js") == [
        *("a.js", "a.js", "b.ts", "-", "dir.js", "dir/lib/start.js", "index.js", "-", "d.ts")
    ]


def test_what_leaves_the_repository_or_differs_in_case_is_not_found() -> None:
    files = {"src/main.ts": importing("../../x", "../..", "/x", "./A", "../a"), "src/a.ts": "", "x.ts": ""}
    assert found(files, "src/main.ts") == ["-", "-", "-", "-", "-"]


def test_packages_of_a_workspace_are_found_by_name() -> None:
    exports = {
        ".": {"types": "./src/types.ts", "import": "./src/index.js", "require": "./src/old.cjs"},
        "./part/*": "./src/part/*.ts",
        "./part/hidden/*": None,
        "./out": "../../app/main.ts",
    }
    files = {
        "package.json": '{"workspaces": ["packages/*"]}',
        "app/main.ts": importing(
            "@it/lib", "@it/lib/part/a", "@it/lib/part/hidden/a", "@it/lib/out", "@it/lib/src/types"
        ),
        "app/main.js": 'import "@it/lib"; const x = require("@it/lib");',
        "app/other.ts": importing("plain", "plain/deep", "plain/none", "missing"),
        "packages/lib/package.json": package("@it/lib", exports=exports),
        "packages/lib/src/types.ts": "",
        "packages/lib/src/index.js": "",
        "packages/lib/src/old.cjs": "",
        "packages/lib/src/part/a.ts": "",
        "packages/lib/src/part/hidden/a.ts": "",
        "packages/lib/src/self.ts": importing("@it/lib", "@it/lib/part/a"),
        "packages/plain/package.json": package("plain", main="lib/main.js", types="lib/main.d.ts"),
        "packages/plain/lib/main.js": "",
        "packages/plain/lib/main.d.ts": "",
        "packages/plain/deep.js": "",
    }
    lib = "packages/lib/src/"
    assert found(files, "app/main.ts") == [lib + "types.ts", lib + "part/a.ts", "-", "-", "-"]
    assert found(files, "app/main.js") == [lib + "index.js", lib + "old.cjs"]
    assert found(files, "packages/lib/src/self.ts") == [lib + "types.ts", lib + "part/a.ts"]
    assert found(files, "app/other.ts") == [
        "packages/plain/lib/main.d.ts",
        "packages/plain/deep.js",
        "-",
        "-",
    ]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("workspace:*", "lib/index.js"),
        ("^2.1.0", "lib/index.js"),
        ("^1.0.0", "-"),
        ("npm:other@2", "-"),
    ],
)
def test_a_package_of_another_version_is_not_that_of_the_workspace(asked: str, expected: str) -> None:
    files = {
        "pnpm-workspace.yaml": "",
        "app/package.json": package("app", dependencies={"lib": asked}),
        "app/main.js": importing("lib"),
        "lib/package.json": package("lib", version="2.3.4"),
        "lib/index.js": "",
    }
    assert found(files, "app/main.js") == [expected]


def test_without_a_workspace_or_with_two_of_a_name_nothing_is_sure() -> None:
    files = {"app/a.js": importing("lib"), "lib/package.json": package("lib"), "lib/index.js": ""}
    assert found(files, "app/a.js") == ["-"]
    files |= {"lerna.json": "{}", "old/package.json": package("lib"), "old/index.js": ""}
    assert found(files, "app/a.js") == ["-"]


def test_a_package_maps_its_own_imports() -> None:
    imports = {"#util/*": "./src/util/*.js", "#main": {"import": "./src/main.js"}, "#dep": "lib", "#bad": 1}
    files = {
        "package.json": package("app", imports=imports, workspaces=["lib"]),
        "src/a.js": importing("#util/x", "#main", "#dep", "#bad", "#none", "#"),
        "src/util/x.js": "",
        "src/main.js": "",
        "lib/package.json": package("lib"),
        "lib/index.js": "",
    }
    assert found(files, "src/a.js") == ["src/util/x.js", "src/main.js", "lib/index.js", "-", "-", "-"]


def test_configured_paths_are_read_with_comments_and_bases() -> None:
    files = {
        "tsconfig.base.json": """{/* all */ "compilerOptions": {
            "paths": {"@/*": ["gen/*", "src/*"], "one": ["src/a"],},
        },}""",
        "tsconfig.json": '{"extends": "./tsconfig.base", // here\n "compilerOptions": {"baseUrl": "."}}',
        "src/main.ts": importing("@/a", "@/b", "one", "src/a", "@/none", "two"),
        "src/a.ts": "",
        "gen/b.ts": "",
        "src/b.ts": "",
    }
    assert found(files, "src/main.ts") == ["src/a.ts", "gen/b.ts", "src/a.ts", "src/a.ts", "-", "-"]


def test_referred_configurations_have_to_agree() -> None:
    def config(target: str) -> str:
        return json.dumps({"compilerOptions": {"paths": {"@/*": [target]}}})

    files = {
        "web/tsconfig.json": json.dumps(
            {"references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.node.json"}]}
        ),
        "web/tsconfig.app.json": config("./src/*"),
        "web/tsconfig.node.json": "{}",
        "web/src/main.ts": importing("@/a"),
        "web/src/a.ts": "",
        "web/node/a.ts": "",
    }
    assert found(files, "web/src/main.ts") == ["web/src/a.ts"]
    files["web/tsconfig.node.json"] = config("./node/*")
    assert found(files, "web/src/main.ts") == ["-"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"extends": "./tsconfig.json", "compilerOptions": []}',
        '{"compilerOptions": {"paths": {"x": 1, "*": [2]}, "baseUrl": 3}, "references": [1, {"path": 2}]}',
        '{"compilerOptions": {"baseUrl": "../../.."}}',
        "[" * 100_000,
        '"\\"' * 20_000,
        "/*" * 20_000,
    ],
)
def test_a_malformed_configuration_says_nothing(text: str) -> None:
    files = {"tsconfig.json": text, "package.json": text, "a.ts": importing("./b", "x", "#x"), "b.ts": ""}
    assert found(files, "a.ts") == ["b.ts", "-", "-"]


def test_a_module_is_named_by_its_path() -> None:
    names = [
        modules.module_name(Files({}), path) for path in ("src/a.ts", "src/b.d.ts", "c.test.js", "x/d.mjs")
    ]
    assert names == ["src/a", "src/b", "c.test", "x/d"]
