"""Endpoints of Node applications against the routes that their frameworks know: precision, recall, misses.

Needs node and npm. A repository is cloned at a commit and its packages are installed into it.
`route_preload.cjs` runs it with Express, Fastify or Koa watched, `nest_routes.cjs` with the paths that NestJS
composes. Routes at regular expressions are no paths.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.corpora import indexed, repository_at
from codeplane.surfaces.endpoints import endpoints_of

LEAST_PRECISION = 0.99
LEAST_RECALL = 0.95
_IMPLICIT = ("HEAD", "OPTIONS")


class Application(NamedTuple):
    """A repository at a commit, the file that starts it, and what it needs to be started."""

    repository: str
    commit: str
    entry: str
    oracle: str = "route_preload.cjs"
    node: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    foreign: str = ""  # paths that packages serve
    packages: tuple[str, ...] = ()  # that it needs to be started and does not name
    environment_file: str = ""  # an example that is taken for `.env`


APPLICATIONS = (
    Application(
        "hagopj13/node-express-boilerplate",
        "179ae84efec61b14206d0305d941daed6c6d07f9",
        "src/app.js",
        settings=(("NODE_ENV", "production"), ("MONGODB_URL", "mongodb://x/y"), ("JWT_SECRET", "x")),
    ),
    Application(
        "gothinkster/node-express-realworld-example-app",
        "30b68e1e881462b2f4164ea09ab4c4f5699c7b0b",
        "src/main.ts",
        node=("--import", "tsx"),
        settings=(("ROUTES_STUBS", "@prisma/client"), ("JWT_SECRET", "x")),
        packages=("tsx@4",),
    ),
    Application(
        "edwinhern/express-typescript",
        "f795eab920730af950d9983ee6462e40f52f2ce8",
        "src/index.ts",
        node=("--import", "tsx"),
        settings=(
            ("NODE_ENV", "production"),
            ("CORS_ORIGIN", "http://localhost:8080"),
            ("HOST", "localhost"),
        ),
    ),
    Application(
        "fastify/demo",
        "1f50cc1dc6c22c27da937eb96a0ce048ebab23a9",
        "src/server.ts",
        node=("--import", "tsx"),
        settings=(
            ("FASTIFY_AUTOLOAD_TYPESCRIPT", "1"),
            ("ROUTES_WAIT", "5000"),
            *((f"MYSQL_{name}", "x") for name in ("HOST", "DATABASE", "USER", "PASSWORD")),
            ("MYSQL_PORT", "3306"),
            ("COOKIE_NAME", "x"),
            ("COOKIE_SECURED", "false"),
            ("COOKIE_SECRET", "x" * 64),
        ),
        foreign=r"^/(?:api/docs|uploads)(?:/|$)",
    ),
    Application(
        "brocoders/nestjs-boilerplate",
        "9620f159eefe38f47747d02ab162852367c5472c",
        "src/main.ts",
        oracle="nest_routes.cjs",
        node=("-r", "ts-node/register/transpile-only"),
        settings=(
            ("ROUTES_SETTINGS", '{"app.apiPrefix":"api","app.corsOrigins":"*","app.port":3000}'),
            ("DATABASE_TYPE", "postgres"),
        ),
        environment_file="env-example-relational",
    ),
)


def plain_path(path: str) -> str:
    """A path with its parameters as `{}`, without a slash at its end."""
    text = re.sub(r":\w+(?:\([^()]*\))?[?*+]?|\{\w[^{}]*\}", "{}", path)
    return re.sub(r"/+", "/", text).rstrip("/") or "/"


def routes_of(application: Application, tree: Path) -> set[tuple[str, str]]:
    """The routes that the framework knows."""
    if not (tree / "node_modules").exists():
        install = ["npm", "i", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"]
        subprocess.run(install, cwd=tree, check=True, capture_output=True)
        if application.packages:
            more = [*install, "--no-save", *application.packages]
            subprocess.run(more, cwd=tree, check=True, capture_output=True)
    if application.environment_file:
        shutil.copyfile(tree / application.environment_file, tree / ".env")
    target = tree / "node_modules" / ".routes.json"
    oracle = Path(__file__).parent / application.oracle
    command = ["node", *application.node, str(oracle), application.entry]
    environment = {**os.environ, **dict(application.settings), "ROUTES_TO": str(target)}
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, timeout=120)
    rows = json.loads(target.read_text())
    foreign = re.compile(application.foreign or r"\A\Z")
    return {
        (method, plain_path(path))
        for method, path, *_ in rows
        if path is not None and method not in _IMPLICIT and not foreign.match(path)
    }


def compare(application: Application) -> bool:
    """Prints one application's endpoints beside its routes; whether they are the same often enough."""
    tree = repository_at(application.repository, application.commit)
    routes = routes_of(application, tree)
    with indexed(tree) as index, index.snapshot() as snapshot:
        started = time.process_time()
        surface = endpoints_of(snapshot)
        first_ms = (time.process_time() - started) * 1000
        tests = snapshot.tests()
        own = [one for one in surface.endpoints if one.path not in tests and one.method not in _IMPLICIT]
        answers = {(one.method, plain_path(one.route)) for one in own}
        judged = {(one.method, plain_path(one.route)) for one in own if one.mounted == "always"}
    wrong, misses = sorted(judged - routes), sorted(routes - answers)
    precision = 1 - len(wrong) / max(len(judged), 1)
    recall = 1 - len(misses) / max(len(routes), 1)
    print(
        f"{application.repository}: {len(routes)} routes, precision {precision:.3f}, recall {recall:.3f}, "
        f"dynamic {sum(surface.dynamic.values())}, first {first_ms:.0f} ms CPU"
    )
    for label, rows in (("wrong", wrong), ("missed", misses)):
        for method, path in rows:
            print(f"  {label}: {method} {path}")
    return precision >= LEAST_PRECISION and recall >= LEAST_RECALL


def main() -> int:
    wanted = sys.argv[1:]
    applications = [one for one in APPLICATIONS if not wanted or one.repository in wanted]
    outcomes = [compare(one) for one in applications]
    return int(not all(outcomes))


if __name__ == "__main__":
    sys.exit(main())
