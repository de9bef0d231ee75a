"""Configuration keys: readers of each language, wrappers, settings classes and files."""

from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.config_keys import config_surface
from tests.drive import new_repo, user_env

_LANGUAGES = {
    "python": (
        "a.py",
        """import os
import os as o
from os import environ, getenv as ge
A = os.environ["A"]
B = os.environ.get("B", "b")
C = os.getenv("C") or "c"
D = environ["D"]
E = ge("E", default="e")
F = o.environ.get("F")
os.environ["W"] = "1"
del os.environ["V"]
other.environ["X"]
for name in ("G", "H"):
    os.environ.get(name)
I = os.environ.get(PREFIX + "I")
""",
        ["A", "B=b", "C=c", "D", "E=e", "F", "G", "H"],
    ),
    "javascript": (
        "a.js",
        """const a = process.env.A || "a";
const b = process.env["B"] ?? 'b';
const { C, D = "d", E: local } = process.env;
process.env.W = "1";
other.env.X;
""",
        ["A=a", "B=b", "C", "D=d", "E"],
    ),
    "typescript": (
        "a.ts",
        """import { env } from "node:process";
const a: string = process.env.A!;
const b = env["B"];
const c = import.meta.env.VITE_C;
const d = Deno.env.get("D");
""",
        ["A", "B", "D", "VITE_C"],
    ),
    "java": (
        "A.java",
        """package a;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.env.Environment;
class A {
  @Value("${app.key:dflt}") String key;
  Environment env;
  void f() { System.getenv("A"); System.getenv().getOrDefault("B", "b"); env.getProperty("app.q"); }
}
""",
        ["A", "B=b", "app.key=dflt", "app.q"],
    ),
    "kotlin": (
        "a.kt",
        'class A {\n  fun f() {\n    System.getenv("A")\n    System.getenv()["B"]\n  }\n}\n',
        ["A", "B"],
    ),
    "csharp": (
        "a.cs",
        """using System;
using Microsoft.Extensions.Configuration;
class A {
  private readonly IConfiguration _config;
  A(IConfiguration config) { _config = config; var p = config["P"]; }
  void F() {
    var a = Environment.GetEnvironmentVariable("A");
    var b = _config["B:C"];
    var c = _config.GetValue<int>("D", 3);
    var d = _config.GetSection("S")["T"];
  }
}
""",
        ["A", "B:C", "D=3", "P", "S", "S:T"],
    ),
    "go": (
        "a.go",
        """package a
import (
    "os"
    "github.com/spf13/viper"
)
func f() {
    os.Getenv("A")
    v, ok := os.LookupEnv("B")
    viper.GetString("c.d")
}
""",
        ["A", "B", "c.d"],
    ),
    "rust": (
        "a.rs",
        """use std::env;
use std::env::var;
fn f() {
    let a = env::var("A");
    let b = var("B");
    let c = std::env::var_os("C");
    let d = env!("D");
    let e = option_env!("E");
}
""",
        ["A", "B", "C", "D", "E"],
    ),
    "ruby": (
        "a.rb",
        """ENV["A"]
ENV.fetch("B", "b")
Rails.application.credentials.dig(:aws, :key)
Rails.application.credentials.secret
ENV["W"] = "1"
""",
        ["A", "B=b", "aws.key", "secret"],
    ),
    "php": (
        "a.php",
        "<?php\n$a = getenv('A');\n$b = $_ENV['B'];\n$c = env('C', 'c');\n",
        ["A", "B", "C=c"],
    ),
    "c": ("a.c", '#include <stdlib.h>\nint main() { char *k = getenv("A"); }\n', ["A"]),
    "cpp": ("a.cpp", 'int main() { auto k = std::getenv("A"); auto j = getenv("B"); }\n', ["A", "B"]),
}


def _keys(tmp_path: Path, files: dict[str, str]) -> list[str]:
    """Each key as `key=default`, with `!` before one that is only defined."""
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            return [
                f"{'!' * use.is_definition}{use.key}" + (f"={use.default}" if use.default is not None else "")
                for use in config_surface(snapshot).uses
            ]
    finally:
        session.close()


@pytest.mark.parametrize("language", _LANGUAGES)
def test_reads_of_the_environment(tmp_path: Path, language: str) -> None:
    name, text, keys = _LANGUAGES[language]
    assert _keys(tmp_path, {name: text}) == keys


def test_a_function_that_hands_its_parameter_to_a_reader_is_a_reader(tmp_path: Path) -> None:
    files = {
        "env.py": """import os
def get_env(name, default=None):
    return os.environ.get(name, default)
def get_bool(key):
    return get_env(f"APP_{key}", "no") == "yes"
def upper(name):
    name = name.upper()
    return os.environ[name]
class Reader:
    def read(self, name):
        return os.environ[name]
    def use(self):
        return self.read("D")
""",
        "use.py": """from env import get_env, get_bool, upper, Reader
import env
A = get_env("A", "a")
B = env.get_env(name="B")
C = get_bool("C")
upper("nope")
E = Reader().read("E")
other.get_env("X")
""",
    }
    assert _keys(tmp_path, files) == ["A=a", "APP_C=no", "B", "D", "E"]


def test_fields_of_settings_classes(tmp_path: Path) -> None:
    files = {
        "base.py": """from typing import ClassVar
from pydantic import Field, AliasChoices
from pydantic_settings import BaseSettings, SettingsConfigDict
class Base(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="APP_")
    debug: bool = False
    limit: ClassVar[int] = 3
    plain = 4
    def method(self): ...
class Other(BaseSettings):
    url: str = Field("u", validation_alias="THE_URL")
    both: str = Field(validation_alias=AliasChoices("ONE", "TWO"))
class Computed(BaseSettings):
    model_config = make()
    secret: str
class NoSettings:
    x: int = 1
""",
        "child.py": """from base import Base
class Child(Base):
    class Config:
        env_prefix = "CHILD_"
    name: str
""",
    }
    assert _keys(tmp_path, files) == [
        "APP_DEBUG=False",
        "CHILD_DEBUG=False",
        "CHILD_NAME",
        "ONE",
        "THE_URL=u",
        "TWO",
    ]


def test_options_and_configurations_of_frameworks(tmp_path: Path) -> None:
    files = {
        "cli.py": """import click, typer
@click.option("--x", envvar="X_VAR", default="x")
@click.option("--y")
def main(x, y, z=typer.Option("z", envvar=["Z1", "Z2"])): ...
""",
        "web.py": """from flask import Flask, current_app
app = Flask(__name__)
app.config["SECRET"]
app.config["WRITTEN"] = 1
def f():
    return current_app.config.get("PAGE", 20)
cfg.config["NO"]
""",
    }
    assert _keys(tmp_path, files) == ["PAGE=20", "SECRET", "!WRITTEN", "X_VAR=x", "Z1=z", "Z2=z"]


def test_settings_of_django(tmp_path: Path) -> None:
    files = {
        "manage.py": 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "site1.settings")\n',
        "site1/__init__.py": "",
        "site1/settings.py": "DEBUG = True\nlower = 1\n",
        "site1/views.py": """from django.conf import settings
def f():
    # settings.COMMENT
    return settings.DEBUG, getattr(settings, "PAGE", 10), settings.configure
""",
    }
    assert _keys(tmp_path, files) == [
        "!DEBUG",
        "DEBUG",
        "DJANGO_SETTINGS_MODULE=site1.settings",
        "PAGE=10",
    ]


def test_definitions_in_files(tmp_path: Path) -> None:
    files = {
        ".env.example": "# comment\nexport A=secret\nB =\n",
        "docker-compose.yml": """services:
  web:
    environment:
      C: "1"
      D: ${E:-e}
  db:
    environment:
      - F=1
""",
        "src/main/resources/application.properties": "# no\nserver.port=80\n",
    }
    assert _keys(tmp_path, files) == ["!A", "!B", "!C", "!D", "E=e", "!F", "!server.port"]


def test_properties_of_spring(tmp_path: Path) -> None:
    text = """package a;
import org.springframework.boot.context.properties.ConfigurationProperties;
@ConfigurationProperties(prefix = "mail")
class Mail { private String hostName; private int port; }
"""
    assert _keys(tmp_path, {"Mail.java": text}) == ["mail.host-name", "mail.port"]


def test_recursive_functions_are_not_followed_without_end(tmp_path: Path) -> None:
    returns = "".join(f"    if x == {n}: return walk(x + {n})\n" for n in range(20))
    uses = "A = walk(1).environ.get('NO')\nB = os.environ['B']\n"
    text = f"import os\ndef walk(x):\n{returns}    return x\n{uses}"
    assert _keys(tmp_path, {"a.py": text}) == ["B"]
