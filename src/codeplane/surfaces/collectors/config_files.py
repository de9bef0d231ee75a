"""Keys that files define: dotenv, compose and Spring's properties. Their values are never shown."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from codeplane.core.documents import Malformed, decode_json
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
_PROPERTIES: Final = re.compile(r"(?:^|/)(?:application|bootstrap)(?:-[\w.]+)?\.properties\Z")
_DOCUMENTS: Final = re.compile(r"(?:^|/)(?:application|bootstrap)(?:-[\w.]+)?\.ya?ml\Z")
_APP_SETTINGS: Final = re.compile(r"(?:^|/)appsettings(?:\.[\w-]+)?\.json\Z")
_MOST_KEYS: Final = 2_000  # of one document
_ASSIGNMENT: Final = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=")
_PROPERTY: Final = re.compile(r"\s*([A-Za-z_][\w.\-\[\]]*)\s*[=:]")
_VARIABLE: Final = re.compile(r"\$(?<!\$\$)\{([A-Za-z_]\w*)(?::?-([^{}]*))?[^{}]*\}")


def file_definitions(code: Codebase) -> Iterator[ConfigUse]:
    """The keys that files of known names define, and the variables that compose files ask for."""
    for name in _DOTENV:
        for path in code.paths_named(name):
            yield from _keys_of_lines(code, path, _ASSIGNMENT, "dotenv")
    for path in code.layout.ordered:
        if _PROPERTIES.search(path):
            yield from _keys_of_lines(code, path, _PROPERTY, "application.properties")
        elif _DOCUMENTS.search(path):
            yield from _keys_of_documents(code, path)
        elif _APP_SETTINGS.search(path):
            yield from _keys_of_json(code, path)
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


def _keys_of_documents(code: Codebase, path: RepoPath) -> Iterator[ConfigUse]:
    """`application.yml`: the leaves of its documents, with dots between their names."""
    from codeplane.core.yaml_text import parse_yaml_texts, yaml_lines  # its parser takes long to load

    first = 0
    for text in re.split(r"(?m)^---.*$", _text_of(code, path)):
        try:
            document, lines = parse_yaml_texts(text), yaml_lines(text)
        except Malformed:
            document, lines = None, {}
        for way in islice(_leaves(document), _MOST_KEYS):
            key = ".".join(map(str, way))
            yield ConfigUse(key, path, first + lines.get(way, 1), "application.yml", is_definition=True)
        first += text.count("\n")


def _keys_of_json(code: Codebase, path: RepoPath) -> Iterator[ConfigUse]:
    """`appsettings.json`: its leaves, with colons between their names."""
    text = _text_of(code, path)
    try:
        document = decode_json(text.lstrip("\ufeff").encode())
    except Malformed:
        return
    for way in islice(_leaves(document), _MOST_KEYS):
        at = text.find(f'"{way[-1]}"')
        line = text.count("\n", 0, max(at, 0)) + 1
        yield ConfigUse(":".join(map(str, way)), path, line, "appsettings.json", is_definition=True)


def _leaves(document: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The ways to the values of a document; a list is one value."""
    if isinstance(document, dict) and document and len(way) < 20:
        for key, value in document.items():
            yield from _leaves(value, (*way, str(key)))
    elif way:
        yield way


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
