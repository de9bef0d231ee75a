"""Endpoints of applications that can't be run, against the OpenAPI documents that they commit.

A document has what its authors chose to describe, so an endpoint that it lacks proves nothing: recall is
judged, and the endpoints beside the document are listed. Repositories are cloned at a commit.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bench.corpora import indexed, repository_at
from codeplane.surfaces.endpoints import Endpoint, endpoints_of
from codeplane.surfaces.exclusion import is_of_tests

LEAST_RECALL = 0.95
VERBS = ("get", "post", "put", "patch", "delete", "head", "options")


class Application(NamedTuple):
    """A repository at a commit, the document in it, and the prefix that the document leaves out."""

    name: str
    repository: str
    commit: str
    document: str
    framework: str
    prefix: str = ""
    within: str = ""  # a directory of the repository that is read alone


APPLICATIONS = (
    Application(
        "gitea",
        "go-gitea/gitea",
        "1fa6465efd569df515438bb100bddd1c9969ca29",
        "templates/swagger/v1-swagger.generated.json",
        "chi",
        prefix="/api/v1",
    ),
    Application(
        "gotify", "gotify/server", "d543a8aad22fcbebf25e76d201b4317882b5e148", "docs/spec.json", "gin"
    ),
    Application(
        "vikunja",
        "go-vikunja/vikunja",
        "762dc4ebe6f3fbff15d90a0a119f0c6a4720e033",
        "pkg/swagger/swagger.json",
        "echo",
        prefix="/api/v1",
    ),
    Application(
        "svix",
        "svix/svix-webhooks",
        "4fc0cfb8b426c87ef7e2b937e7d896a71d456a47",
        "server/openapi.json",
        "axum",
        within="server",
    ),
    Application(
        "qdrant",
        "qdrant/qdrant",
        "74f3e85b9473c62560006c043e13737ce6b48412",
        "docs/redoc/master/openapi.json",
        "actix-web",
    ),
    Application(
        "kavita", "Kareadita/Kavita", "ed7e9d4a6e85c2ec04803ca86fb3d2b5ca15581a", "openapi.json", "aspnet"
    ),
    Application(
        "eshop-catalog",
        "dotnet/eShop",
        "5624ad564d1602a927879df32a79b94522eb6101",
        "src/Catalog.API/Catalog.API_v2.json",
        "aspnet",
        within="src/Catalog.API",
    ),
    Application(
        "coolify",
        "coollabsio/coolify",
        "379abb252621f34b318190bd49b614aed9818716",
        "openapi.json",
        "laravel",
        prefix="/api/v1",
    ),
)


class Outcome(NamedTuple):
    """One comparison."""

    routes: int
    recall: float
    misses: list[str]
    beside: list[str]
    handlers: float
    total: int
    dynamic: dict[str, int]
    first_ms: float


def plain_path(path: str) -> str:
    """A path with its parameters as `{}`, without a slash at its end."""
    text = re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}|[:*]\w+\??|<[^<>]*>|\*+", "{}", path)
    return re.sub(r"/+", "/", text).rstrip("/").lower() or "/"


def documented(application: Application, tree: Path) -> set[tuple[str, str]]:
    """The methods and paths of a document."""
    text = (tree / application.document).read_text()
    document: dict[str, Any] = (
        json.loads(text) if application.document.endswith(".json") else yaml.safe_load(text)
    )
    base = document.get("basePath") or application.prefix
    base = "" if base == "/" else base.replace("/GITEA-API-APP-SUBURL", "")
    base = base or application.prefix
    return {
        (verb.upper(), plain_path(f"{base}/{path}"))
        for path, item in document["paths"].items()
        for verb in item
        if verb in VERBS
    }


def compare(application: Application) -> Outcome:
    """One application's endpoints beside its document."""
    tree = repository_at(application.repository, application.commit)
    expected = documented(application, tree)
    root = tree / application.within if application.within else tree
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    with indexed(root) as index, index.snapshot() as snapshot:
        started = time.process_time()
        surface = endpoints_of(snapshot)
        first_ms = (time.process_time() - started) * 1000
        tests = snapshot.tests()
        rows: list[Endpoint] = [
            one
            for one in surface.endpoints
            if not is_of_tests(snapshot, one) and one.framework == application.framework
        ]
        dynamic = {path: count for path, count in surface.dynamic.items() if path not in tests}
    answered = {(one.method, plain_path(one.route)) for one in rows}
    any_paths = {path for method, path in answered if method in ("ANY", "ALL")}
    misses = sorted(f"{m} {p}" for m, p in expected if (m, p) not in answered and p not in any_paths)
    heads = {path.split("/")[1] for _, path in expected if path.count("/") > 1}
    beside = sorted(
        f"{m} {p}"
        for m, p in answered
        if m not in ("ANY", "ALL") and (m, p) not in expected and p.split("/")[1] in heads
    )
    handled = [one for one in rows if (one.method, plain_path(one.route)) in expected]
    return Outcome(
        len(expected),
        1 - len(misses) / max(len(expected), 1),
        misses,
        beside,
        sum(one.handler is not None for one in handled) / max(len(handled), 1),
        len(answered),
        {str(path): count for path, count in dynamic.items()},
        first_ms,
    )


def main() -> int:
    wanted, failures = sys.argv[1:], 0
    for application in APPLICATIONS:
        if wanted and application.name not in wanted:
            continue
        outcome = compare(application)
        print(
            f"{application.name} ({application.framework}): {outcome.routes} in the document, recall "
            f"{outcome.recall:.3f}, with a handler {outcome.handlers:.3f}, {outcome.total} endpoints, "
            f"{len(outcome.beside)} beside the document, dynamic {sum(outcome.dynamic.values())}, "
            f"first {outcome.first_ms:.0f} ms CPU",
            flush=True,
        )
        for label, rows in (("missed", outcome.misses), ("beside", outcome.beside)):
            for row in rows[:60]:
                print(f"  {label}: {row}")
        failures += outcome.recall < LEAST_RECALL
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
