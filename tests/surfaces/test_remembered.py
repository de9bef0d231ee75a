"""Surfaces are kept over edits of files that they do not rest on: what is kept is what is found afresh."""

import random
from pathlib import Path

from codeplane.config import Places
from codeplane.names import Snapshot
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.fact_lists import fact_surface
from tests.drive import new_repo, user_env

_FILES = {
    "shop/names.py": 'PREFIX = "/api/{v}"\nKEY = "SHOP_{v}"\nTABLE = "orders_{v}"\n',
    "shop/env.py": 'import os\n\n\ndef env(name):\n    # {v}\n    return os.environ.get(name, "{v}")\n',
    "shop/keys.py": "from shop.env import env\nfrom shop.names import KEY\n\nVALUE = env(KEY)  # {v}\n",
    "shop/routes.py": (
        "from fastapi import APIRouter\n\nrouter = APIRouter()\n\n\n"
        '@router.get("/one{v}")\ndef one():\n    # {v}\n    return {v}\n'
    ),
    "shop/app.py": (
        "from fastapi import FastAPI\n\nfrom shop.names import PREFIX\nfrom shop.routes import router\n\n"
        "app = FastAPI()\napp.include_router(router, prefix=PREFIX)\n# {v}\n"
    ),
    "shop/models.py": (
        "from sqlalchemy.orm import DeclarativeBase\n\nfrom shop.names import TABLE\n\n\n"
        "class Base(DeclarativeBase):\n    pass\n\n\nclass Order(Base):\n    __tablename__ = TABLE  # {v}\n"
    ),
    "shop/log.py": 'import logging\n\nlog = logging.getLogger("shop")\n',
    "shop/work.py": (
        'from shop.log import log\n\n\ndef work():\n    log.info("work {v}")\n    raise ValueError({v})\n'
    ),
    "shop/plain.py": "def plain():\n    return {v}\n",
}
_MIDDLEWARE = "from starlette.middleware.gzip import GZipMiddleware\napp.add_middleware(GZipMiddleware)\n"


def _surfaces(snapshot: Snapshot) -> tuple[object, ...]:
    kinds = ("middleware", "exception", "log")
    return (
        endpoints_of(snapshot),
        config_surface(snapshot),
        table_surface(snapshot),
        *(fact_surface(snapshot, kind) for kind in kinds),  # type: ignore[arg-type]
    )


def _fresh(tmp_path: Path, root: Path, number: int) -> tuple[object, ...]:
    files = {str(path.relative_to(root)): path.read_text() for path in sorted(root.glob("shop/*.py"))}
    other = new_repo(tmp_path / f"fresh{number}", files)
    places = Places.of_user(user_env(tmp_path / "user"))
    session = RepoSession.open(Checkout.find(other, places))
    try:
        return _asked(session)
    finally:
        session.close()


def _asked(session: RepoSession) -> tuple[object, ...]:
    session.index.refresh()
    with session.index.snapshot() as snapshot:
        return _surfaces(snapshot)


def test_after_any_edits_surfaces_are_those_of_a_fresh_index(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {name: text.replace("{v}", "0") for name, text in _FILES.items()})
    places = Places.of_user(user_env(tmp_path / "user"))
    chance = random.Random(20261118)
    session = RepoSession.open(Checkout.find(root, places))
    try:
        _asked(session)
        for number in range(1, 9):
            for name in chance.sample(sorted(_FILES), chance.randint(1, 2)):
                text = _FILES[name].replace("{v}", str(number))
                is_longer = chance.random() < 0.3
                text = "# first\n" + text if is_longer else text
                text += _MIDDLEWARE if name == "shop/app.py" and is_longer else ""
                (root / name).write_text(text)
            assert _asked(session) == _fresh(tmp_path, root, number)
    finally:
        session.close()
