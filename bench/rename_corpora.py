"""The packages that renames are tried in: where each comes from, and what says whether it still works."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import CACHE, npm_package, python_package
from bench.suites import Check, pytest, tsc, vitest

# Name, version, directory of the tests.
PACKAGES = (
    ("sqlparse", "0.5.3", "tests"),
    ("marshmallow", "4.0.1", "tests"),
    ("more-itertools", "10.8.0", "tests"),
    ("packaging", "25.0", "tests"),
    ("tomlkit", "0.13.3", "tests"),
    ("itsdangerous", "2.2.0", "tests"),
    ("pluggy", "1.6.0", "testing"),
    ("h11", "0.16.0", "h11/tests"),
    ("wtforms", "3.2.1", "tests"),
    ("tinydb", "4.8.2", "tests"),
    ("cachetools", "6.2.0", "tests"),
    ("voluptuous", "0.15.2", "voluptuous/tests"),
    ("boltons", "25.0.0", "tests"),
    ("mistune", "3.1.4", "tests"),
    ("parso", "0.8.5", "test"),
    ("toolz", "1.0.0", "toolz/tests"),
    ("jmespath", "1.0.1", "tests"),
)
_SLOW = ("more-itertools", "packaging", "parso")
_BUNDLED = """{"compilerOptions": {"target": "es2020", "module": "esnext", "moduleResolution": "bundler",
"lib": ["esnext", "dom"], "strict": false, "noEmit": true, "skipLibCheck": true, "types": []},
"include": ["src", "globals.d.ts"]}"""
# The tests import the package by its name: the condition leads them to the sources.
_ZOD_CONFIG = """{"compilerOptions": {"target": "es2022", "module": "nodenext",
"moduleResolution": "nodenext", "lib": ["esnext", "dom"], "strict": true, "noEmit": true,
"skipLibCheck": true, "types": [], "customConditions": ["@zod/source"]},
"include": ["src", "globals.d.ts"]}"""
# The types of the tests take the compiler longer than all the rest.
_ZOD_BUILD = '{"extends": "./tsconfig.json", "exclude": ["**/tests/**"]}'
# One file after the other in one process: quick, and in the same order each time. Left out is what sets the
# language of messages or changes prototypes for all that follow, and what needs packages of its own.
_ZOD_SUITE = """import { fileURLToPath } from "node:url";
const source = fileURLToPath(new URL("./src", import.meta.url));
export default {
  resolve: { alias: [{ find: /^zod$/, replacement: source + "/index.ts" },
    { find: /^zod\\//, replacement: source + "/" }] },
  test: { isolate: false, fileParallelism: false, cache: false, include: ["src/**/*.test.ts"],
    exclude: ["prototypes", "error", "datetime", "file", "to-json-schema", "locales/*"].map(
      (name) => `**/${name}.test.ts`) },
};
"""


@dataclass(frozen=True)
class Corpus:
    """A package that renames are tried in."""

    name: str
    version: str
    language: str
    fetch: Callable[[], Path]
    check: Check
    is_slow: bool = False  # half as many symbols are drawn


def typescript_project(name: str, version: str, settings: str = _BUNDLED) -> Path:
    """The sources of an npm package with what the compiler needs, and nothing that was built."""
    target = CACHE / f"{name.rpartition('/')[2]}-{version}-sources"
    if not (target / ".git").exists():
        package, home = npm_package(name, version) / "package", target / "package"
        shutil.copytree(package / "src", home / "src", dirs_exist_ok=True)
        shutil.copyfile(package / "package.json", home / "package.json")
        (home / "globals.d.ts").write_text("declare const process: any\n")
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    (target / "package" / "tsconfig.json").write_text(settings)
    return target


def zod() -> Path:
    """zod with the suite of its fourth version; the package holds the third one too."""
    corpus = typescript_project("zod", "4.1.12", _ZOD_CONFIG)
    for folder in ("tests", "benchmarks"):
        shutil.rmtree(corpus / "package" / "src" / "v3" / folder, ignore_errors=True)
    (corpus / "package" / "vitest.config.mjs").write_text(_ZOD_SUITE)
    (corpus / "package" / "tsconfig.build.json").write_text(_ZOD_BUILD)
    return corpus


def _python(name: str, version: str, tests: str) -> Corpus:
    return Corpus(
        name, version, "python", lambda: python_package(name, version), pytest(tests), name in _SLOW
    )


def _built(name: str, version: str) -> Corpus:
    return Corpus(name, version, "typescript", lambda: typescript_project(name, version), tsc)


def _zod_check(home: Path, most: int) -> int:
    return tsc(home, most, "tsconfig.build.json") + vitest(home, most)


CORPORA = (
    *(_python(*package) for package in PACKAGES),
    _built("mobx", "6.13.7"),
    _built("rxjs", "7.8.2"),
    _built("immer", "10.1.3"),
    _built("redux", "5.0.1"),
    _built("@tanstack/query-core", "5.90.2"),
    _built("@tanstack/table-core", "8.21.3"),
    Corpus("zod", "4.1.12", "typescript", zod, _zod_check, is_slow=True),
)
