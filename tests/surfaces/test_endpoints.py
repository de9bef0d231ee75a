"""Endpoints composed over files: mounts, constants, router subclasses, factories and loops."""

from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.endpoints import Surface, endpoints_of
from tests.drive import new_repo, user_env

_FASTAPI = {
    "api/__init__.py": """""",
    "api/base.py": """from fastapi import APIRouter
class AdminRouter(APIRouter):
    pass
""",
    "api/config.py": """API = "/api"
class Settings(BaseSettings):
    V1: str = "/v1"
settings = Settings()
""",
    "api/main.py": """from fastapi import FastAPI
from api.config import API, settings
from api import users
from api.users import admin, make
app = FastAPI()
for r in [users.router, admin]:
    app.include_router(r, prefix=API + settings.V1)
if DEBUG:
    app.include_router(make("/fac"), prefix="/d")
@app.get("/health")
def health(): ...
cache.get("/no")
""",
    "api/users.py": """from fastapi import APIRouter
from .base import AdminRouter
router = APIRouter(prefix="/users")
admin = AdminRouter(prefix="/admin")

@router.get("/{id}")
async def get_user(id: int): ...

@router.api_route("/x", methods=["GET", "POST"])
def x(): ...

@admin.post("/do")
def do(): ...

def make(prefix):
    r = APIRouter(prefix=prefix)
    @r.delete("/y")
    def y(): ...
    return r
""",
}
_FLASK = {
    "web/app.py": """from flask import Flask
from .bp import bp
def create_app():
    app = Flask(__name__)
    app.register_blueprint(bp, url_prefix="/over")
    @app.route("/")
    def index(): ...
    return app
""",
    "web/bp.py": """from flask import Blueprint
bp = Blueprint("b", __name__, url_prefix="/own")
@bp.route("/list", methods=["POST"])
def lst(): ...
""",
}
_EXPRESS = {
    "ts/app.js": """const express = require("express");
const users = require("./users");
const app = express();
app.get("/", (req, res) => {});
app.use("/users", auth, users);
app.route("/multi").get(a).post(b);
app.get("title");
""",
    "ts/users.js": """const { Router } = require("express");
const router = Router();
router.get("/:id", find);
function find() {}
module.exports = router;
""",
}
_NEST = {
    "ts/cats.controller.ts": """import { Controller, Get, Post } from "@nestjs/common";
@Controller("cats")
export class Cats {
  @Get(":id") find() {}
  @Post() make() {}
}
""",
    "ts/app.module.ts": """import { Module } from "@nestjs/common";
import { Cats } from "./cats.controller";
@Module({ controllers: [Cats] })
export class AppModule {}
""",
    "ts/main.ts": """import { NestFactory } from "@nestjs/core";
import { AppModule } from "./app.module";
async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.setGlobalPrefix("api");
}
bootstrap();
""",
}


def _surface(tmp_path: Path, files: dict[str, str]) -> list[str]:
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            surface: Surface = endpoints_of(snapshot)
            return [
                " ".join(
                    [
                        one.method,
                        one.route,
                        snapshot.qualified(one.handler) if one.handler else f"{one.path}:{one.handler_line}",
                        one.mounted,
                        *(f"{step.path}:{step.line}" for step in one.chain),
                    ]
                )
                for one in surface.endpoints
            ]
    finally:
        session.close()


def test_fastapi_routes_are_composed_over_files(tmp_path: Path) -> None:
    assert _surface(tmp_path, _FASTAPI) == [
        "POST /api/v1/admin/do api.users.do always api/main.py:7",
        "GET /api/v1/users/x api.users.x always api/main.py:7",
        "POST /api/v1/users/x api.users.x always api/main.py:7",
        "GET /api/v1/users/{id} api.users.get_user always api/main.py:7",
        "DELETE /d/fac/y api.users.make.y conditional api/main.py:9",
        "GET /health api.main.health always",
    ]


def test_a_blueprint_takes_the_prefix_that_it_is_registered_with(tmp_path: Path) -> None:
    assert _surface(tmp_path, _FLASK) == [
        "GET / web.app.create_app.index always",
        "POST /over/list web.bp.lst always web/app.py:5",
    ]


def test_express_routers_are_mounted_by_use(tmp_path: Path) -> None:
    assert _surface(tmp_path, _EXPRESS) == [
        "GET / ts/app.js:4 always",
        "GET /multi ts/app.js:6 always",
        "POST /multi ts/app.js:6 always",
        "GET /users/:id ts/users.find always ts/app.js:5",
    ]


def test_classes_of_nest_are_controllers(tmp_path: Path) -> None:
    assert _surface(tmp_path, _NEST) == [
        "POST /api/cats ts/cats.controller.Cats.make always ts/main.ts:4",
        "GET /api/cats/:id ts/cats.controller.Cats.find always ts/main.ts:4",
    ]


@pytest.mark.parametrize(
    "text",
    [
        'cache.get("/x")\n',
        'from fastapi import FastAPI\napp = other()\n@app.get("/x")\ndef f(): ...\n',
        'import requests\nrequests.get("/x")\n',
    ],
)
def test_without_a_receiver_that_resolves_there_is_no_route(tmp_path: Path, text: str) -> None:
    assert _surface(tmp_path, {"app.py": text}) == []
