"""Keys that files define: dotenv, compose and Spring's properties. Their values are never shown."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.documents import Malformed
from codeplane.core.paths import RepoPath
from codeplane.names import Codebase
from codeplane.surfaces.collectors.config_use import ConfigUse

_DOTENV: Final = (
    ".env .env.example .env.sample .env.template .env.dist .env.local .env.development .env.test "
    ".env.production .env.staging env.example example.env sample.env .flaskenv"
).split()
_COMPOSE: Final = (
    "docker-compose.yml docker-compose.yaml compose.yml compose.yaml docker-compose.override.yml "
    "docker-compose.override.yaml docker-compose.dev.yml docker-compose.prod.yml docker-compose.test.yml"
).split()
_PROPERTIES: Final = "application.properties bootstrap.properties".split()
_ASSIGNMENT: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=")
_PROPERTY: Final = re.compile(r"\s*([A-Za-z_][\w.\-\[\]]*)\s*[=:]")
_VARIABLE: Final = re.compile(r"\$(?<!\$\$)\{([A-Za-z_]\w*)(?::?-([^{}]*))?[^{}]*\}")


def file_definitions(code: Codebase) -> Iterator[ConfigUse]:
    """The keys that files of known names define, and the variables that compose files ask for."""
    for name in _DOTENV:
        for path in code.paths_named(name):
            yield from _keys_of_lines(code, path, _ASSIGNMENT, "dotenv")
    for name in _PROPERTIES:
        for path in code.paths_named(name):
            yield from _keys_of_lines(code, path, _PROPERTY, "application.properties")
    for name in _COMPOSE:
        for path in code.paths_named(name):
            yield from _compose_keys(code, path)


def _keys_of_lines(
    code: Codebase, path: RepoPath, form: re.Pattern[str], pattern: str
) -> Iterator[ConfigUse]:
    for number, line in enumerate(_text_of(code, path).splitlines(), 1):
        match = form.match(line)
        if match is not None and not line.lstrip().startswith(("#", "!")):
            yield ConfigUse(match[1], path, number, pattern, is_definition=True)


def _compose_keys(code: Codebase, path: RepoPath) -> Iterator[ConfigUse]:
    from codeplane.core.yaml_text import parse_yaml_texts, yaml_lines  # its parser takes long to load

    text = _text_of(code, path)
    try:
        document, lines = parse_yaml_texts(text), yaml_lines(text)
    except Malformed:
        return
    services = document.get("services") if isinstance(document, dict) else None
    for service, body in services.items() if isinstance(services, dict) else ():
        environment = body.get("environment") if isinstance(body, dict) else None
        where: tuple[str | int, ...] = ("services", str(service), "environment")
        if isinstance(environment, dict):
            for key in environment:
                yield ConfigUse(str(key), path, lines.get((*where, str(key)), 1), "compose", True)
        elif isinstance(environment, list):
            for number, item in enumerate(environment):
                key = str(item).partition("=")[0].strip()
                yield ConfigUse(key, path, lines.get((*where, number), 1), "compose", True)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            for match in _VARIABLE.finditer(line):
                yield ConfigUse(match[1], path, number, "compose interpolation", False, match[2])


def _text_of(code: Codebase, path: RepoPath) -> str:
    return (code.read(path) or b"").decode("utf-8", "replace")
