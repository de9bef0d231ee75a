"""Endpoints of real applications against the routes that their frameworks know: precision, recall, misses.

Each application is installed in an environment of its own, whose installed package is both run and read.
Precision counts endpoints that are always mounted; conditional and unmounted ones depend on settings that one
run doesn't show. A function of Django that serves any method matches any.
"""

import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from bench.corpora import CACHE, indexed, repository_at
from codeplane.surfaces.endpoints import endpoints_of

LEAST_PRECISION = 0.99
LEAST_RECALL = 0.95
SLOWEST_AGAIN_MS = 50
IMPLICIT = ("HEAD", "OPTIONS")


class Application(NamedTuple):
    """What is installed, the package to read, and the oracle to ask."""

    name: str
    requirement: str
    package: str
    extras: tuple[str, ...] = ()
    urls: str = ""  # the root module of a Django application
    repository: tuple[str, str] | None = None  # a public one at a commit, for what is no package

    def tree(self) -> Path | None:
        """The repository of what is no package."""
        return repository_at(*self.repository) if self.repository is not None else None


APPLICATIONS = (
    Application("argilla", "argilla-server==1.29.0", "argilla_server"),
    Application("calibreweb", "calibreweb==0.6.24", "calibreweb"),
    Application(
        "changedetection", "changedetection.io==0.48.5", "changedetectionio", ("typing_extensions>=4.12",)
    ),
    Application("helpdesk", "django-helpdesk[rest]==2.6.1", "helpdesk", urls="helpdesk.urls"),
    Application("oscarapi", "django-oscar-api==3.3.0", "oscarapi", urls="oscarapi.urls"),
    Application("marimo", "marimo==0.25.2", "marimo"),
    Application("dagster", "dagster-webserver==1.13.27", "dagster_webserver"),
    Application(
        "ctfd",
        "-r{tree}/requirements.txt",
        "CTFd",
        repository=("CTFd/CTFd", "91ced62d44d3ec3142a0948ee96ed19947cfc979"),
    ),
)


class Outcome(NamedTuple):
    """One comparison: figures, and what differs by reason."""

    routes: int
    precision: float
    recall: float
    handlers: float
    wrong: list[str]
    misses: list[str]
    dynamic: int
    first_ms: float
    again_ms: float


def environment(application: Application) -> Path:
    """The virtual environment of an application."""
    target = CACHE / "environments" / application.name
    if not (target / ".ready").exists():
        subprocess.run([sys.executable, "-m", "uv", "venv", "-q", "--clear", str(target)], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(target / "bin/python")]
        subprocess.run([*install, application.requirement.format(tree=application.tree())], check=True)
        if application.extras:
            subprocess.run([*install, "--upgrade", *application.extras], check=True)
        (target / ".ready").touch()
    return target


def package_copy(application: Application, venv: Path) -> Path:
    """The installed package as a git repository of its own."""
    tree = application.tree()
    if tree is not None:
        return tree
    target = CACHE / f"surfaces-{application.name}"
    if not (target / ".git").exists():
        [source] = venv.glob(f"lib/python*/site-packages/{application.package}")
        shutil.copytree(source, target / application.package, dirs_exist_ok=True)
        if application.urls:
            (target / "settings.py").write_text(f'ROOT_URLCONF = "{application.urls}"\n')
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def oracle_rows(application: Application, venv: Path) -> list[tuple[str, str, str]]:
    """The routes that the framework knows."""
    target = venv / "routes.json"
    script = Path(__file__).parent / "route_oracles.py"
    command = [str(venv / "bin/python"), str(script), application.name, str(target)]
    tree = application.tree() or venv
    subprocess.run(command, check=True, cwd=tree, capture_output=True, timeout=120)
    return [(method, plain_path(path), handler) for method, path, handler in json.loads(target.read_text())]


def plain_path(path: str) -> str:
    """A path with its parameters as `{}`."""
    text = re.sub(r"<[^<>]*>|\{[^{}]*\}", "{}", path)
    return re.sub(r"/+", "/", text).replace("\\", "")


def compare(application: Application) -> Outcome:
    """One application's endpoints beside its routes."""
    venv = environment(application)
    expected = oracle_rows(application, venv)
    with indexed(package_copy(application, venv)) as index, index.snapshot() as snapshot:
        started = time.process_time()
        surface = endpoints_of(snapshot)
        first_ms = (time.process_time() - started) * 1000
        started = time.perf_counter()
        endpoints_of(snapshot)
        again_ms = (time.perf_counter() - started) * 1000
        tests = snapshot.tests()
        answers = [
            (
                one.method,
                plain_path(one.route),
                snapshot.definition(one.handler).name if one.handler is not None else "",
                one.mounted,
            )
            for one in surface.endpoints
            if one.path not in tests and one.method not in IMPLICIT
        ]
    routes = {(method, path) for method, path, _ in expected}
    any_paths = {path for method, path in routes if method == "ANY"}
    answered = {(method, path) for method, path, _, _ in answers}
    open_paths = {path for method, path in answered if method == "ANY"}
    open_paths |= any_paths & {path for _, path in answered}
    judged = {(m, p) for m, p, _, mounted in answers if mounted == "always"}
    wrong = sorted(
        f"{m} {p}" for m, p in judged if (m, p) not in routes and p not in any_paths and m != "ANY"
    )
    wrong += sorted(f"{m} {p}" for m, p in judged if m == "ANY" and p not in {path for _, path in routes})
    misses = sorted(f"{m} {p}" for m, p in routes if (m, p) not in answered and p not in open_paths)
    names = {(m, p): h for m, p, h, _ in answers}
    both = [(names[m, p], h) for m, p, h in expected if names.get((m, p))]
    same = [pair for pair in both if pair[0] == pair[1] or pair[0][:1].isupper()]
    return Outcome(
        len(routes),
        1 - len(wrong) / max(len(judged), 1),
        1 - len(misses) / max(len(routes), 1),
        len(same) / max(len(both), 1),
        wrong,
        misses,
        sum(surface.dynamic.values()),
        first_ms,
        again_ms,
    )


def main() -> int:
    failures = Counter[str]()
    wanted = sys.argv[1:]
    for application in APPLICATIONS:
        if wanted and application.name not in wanted:
            continue
        outcome = compare(application)
        print(
            f"{application.name}: {outcome.routes} routes, precision {outcome.precision:.3f}, recall "
            f"{outcome.recall:.3f}, handlers {outcome.handlers:.3f}, dynamic {outcome.dynamic}, first "
            f"{outcome.first_ms:.0f} ms CPU, again {outcome.again_ms:.2f} ms"
        )
        for label, rows in (("wrong", outcome.wrong), ("missed", outcome.misses)):
            for row in rows:
                print(f"  {label}: {row}")
        failures["precision"] += outcome.precision < LEAST_PRECISION
        failures["recall"] += outcome.recall < LEAST_RECALL
        failures["speed"] += outcome.again_ms > SLOWEST_AGAIN_MS
    return int(any(failures.values()))


if __name__ == "__main__":
    sys.exit(main())
