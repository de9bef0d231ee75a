"""Tables and settings of real applications against what SQLAlchemy, Django and pydantic-settings know.

Each application is installed in an environment of its own, whose installed package is both run and read; a
path given as argument is used for all. Precision judges what models and settings classes define, not what
only migrations or SQL name.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.corpora import CACHE, indexed
from codeplane.names import Snapshot
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface
from codeplane.surfaces.scope import own_files

LEAST_PRECISION = 1.0
LEAST_RECALL = 0.95


class Application(NamedTuple):
    """What is installed, the package to read, and the oracle to ask."""

    oracle: str  # kind:package
    requirements: tuple[str, ...]
    bare: bool = False  # without its dependencies, which are among the requirements


APPLICATIONS = (
    Application("sqlalchemy:optuna", ("optuna==4.1.0",)),
    Application("sqlalchemy:jupyterhub", ("jupyterhub==5.2.1",)),
    Application("sqlalchemy:celery", ("celery==5.4.0", "sqlalchemy")),
    Application("sqlalchemy:dagster", ("dagster==1.9.5",)),
    Application("sqlalchemy:buildbot", ("buildbot==4.2.1",)),
    Application("sqlalchemy:mlflow", ("mlflow==2.19.0",)),
    Application("django:wagtail", ("wagtail==6.3",)),
    Application("django:oscar", ("django-oscar==3.2.6",)),
    Application("django:oauth2_provider", ("django-oauth-toolkit==3.0.1",)),
    Application("django:django_celery_beat", ("django-celery-beat==2.7.0",)),
    Application("django:waffle", ("django-waffle==4.2.0",)),
    Application("django:helpdesk", ("django-helpdesk==1.5.0",)),
    Application("django:allauth", ("django-allauth[mfa,socialaccount]==65.3.0",)),
    Application("settings:semantic_kernel", ("semantic-kernel==1.18.0",)),
    Application("settings:argilla_server", ("argilla-server==2.5.0",)),
)


def environment(application: Application, shared: Path | None) -> Path:
    """The virtual environment of an application."""
    if shared is not None:
        return shared
    target = CACHE / "environments" / application.oracle.replace(":", "-")
    if not (target / ".ready").exists():
        subprocess.run([sys.executable, "-m", "uv", "venv", "-q", "--clear", str(target)], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(target / "bin/python")]
        subprocess.run([*install, *application.requirements], check=True)
        (target / ".ready").touch()
    return target


def package_copy(application: Application, venv: Path) -> Path:
    """The installed package as a git repository of its own."""
    package = application.oracle.partition(":")[2]
    target = CACHE / f"tables-{package}"
    if not (target / ".git").exists():
        [source] = venv.glob(f"lib/python*/site-packages/{package}")
        shutil.copytree(source, target / package, dirs_exist_ok=True)
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


class Knowledge(NamedTuple):
    """What the framework knows: names, and the files of the package that the run imported."""

    names: set[str]
    files: set[str]


def oracle_answer(application: Application, venv: Path) -> Knowledge:
    """What the framework knows of an application."""
    CACHE.mkdir(parents=True, exist_ok=True)
    target = CACHE / f"{application.oracle.replace(':', '-')}.json"
    script = Path(__file__).parent / "table_oracles.py"
    command = [str(venv / "bin/python"), str(script), application.oracle, str(target)]
    subprocess.run(command, check=True, cwd=venv, capture_output=True, timeout=300)
    answer = json.loads(target.read_text())
    return Knowledge(set(answer["names"]), set(answer["files"]))


def own_names(kind: str, files: set[str], snapshot: Snapshot) -> tuple[set[str], set[str], int]:
    """What models of imported files define, what anything defines, and how many are dynamic."""
    is_own = own_files(snapshot)
    if kind == "settings":
        surface = config_surface(snapshot)
        uses = [one for one in surface.uses if one.pattern == "pydantic-settings" and is_own(one.path)]
        imported = {one.key for one in uses if (one.symbol or one).path in files}
        return imported, {one.key for one in uses}, sum(surface.dynamic.values())
    tables = table_surface(snapshot)
    others = ("migration", "create table", "create view")
    rows = [one for one in tables.tables if one.framework == kind and is_own(one.path)]
    models = {one.name for one in rows if one.pattern not in others and one.path in files}
    return models, {one.name for one in rows}, sum(tables.dynamic.values())


def main() -> int:
    failures = 0
    wanted = [argument for argument in sys.argv[1:] if ":" in argument]
    shared = next((Path(argument) for argument in sys.argv[1:] if argument.startswith("/")), None)
    for application in APPLICATIONS:
        if wanted and application.oracle not in wanted:
            continue
        venv = environment(application, shared)
        expected, files = oracle_answer(application, venv)
        with indexed(package_copy(application, venv)) as index, index.snapshot() as snapshot:
            started = time.process_time()
            models, names, dynamic = own_names(application.oracle.partition(":")[0], files, snapshot)
            spent = time.process_time() - started
        wrong, missing = sorted(models - expected), sorted(expected - names)
        precision = 1 - len(wrong) / max(len(models), 1)
        recall = 1 - len(missing) / max(len(expected), 1)
        failures += precision < LEAST_PRECISION or recall < LEAST_RECALL
        print(
            f"{application.oracle}: {len(expected)} known, precision {precision:.3f}, recall {recall:.3f}, "
            f"dynamic {dynamic}, {spent:.1f} s CPU"
        )
        for label, some in (("wrong", wrong), ("missed", missing)):
            for name in some[:20]:
                print(f"  {label}: {name}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
