"""The version of what reads facts out of files: facts of another version are read anew."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from codeplane.languages.spec import HERE, possible_languages, specs

# What decides which facts are read out of a file: the engine, and these files of a language's folder. All
# else says what facts mean and how files belong together.
ENGINE: Final = (
    "facts.py",
    "query.py",
    "spec.py",
    "style.py",
    "extraction/*.py",
    "rules/scoping.py",
    "rules/typing_rules.py",
)
OF_A_LANGUAGE: Final = (
    "__init__.py",
    "annotations.py",
    "builtin.py",
    "hooks.py",
    "scoping.py",
    "typing_rules.py",
    "*.scm",
)


@cache
def readers_version() -> str:
    """Changes whenever any extractor does, or which files are read as what."""
    return hashlib.sha256(" ".join(map(extractor_version, sorted(specs()))).encode()).hexdigest()[:16]


@cache
def extractor_version(name: str) -> str:
    """Changes whenever anything changes that decides which facts are read out of a file."""
    # Keeps the start of a worker quick: only those who compare versions ask for them.
    from importlib.metadata import version

    digest = hashlib.sha256(_engine_contents())
    for path in (*sorted(_folder_files(name)), *_content_rules(name)):
        digest.update(_file_contents(path))
    for wheel in ("tree-sitter", specs()[name].grammar.replace("_", "-")):
        digest.update(f"{wheel}=={version(wheel)}".encode())
    return digest.hexdigest()[:16]


@cache
def _engine_contents() -> bytes:
    return b"".join(_file_contents(path) for pattern in ENGINE for path in sorted(HERE.glob(pattern)))


def _file_contents(path: Path) -> bytes:
    return path.name.encode() + b"\0" + path.read_bytes() + b"\0"


def _content_rules(name: str) -> list[Path]:
    """What decides which files of an ending that several languages have are in a language."""
    sharing = {one for ext in specs()[name].extensions for one in possible_languages(f"name{ext}")}
    return [path for one in sorted(sharing) if (path := HERE / one / "content.py").exists()]


def _folder_files(name: str) -> list[Path]:
    own = [path for pattern in OF_A_LANGUAGE for path in (HERE / name).glob(pattern)]
    parent = specs()[name].inherits
    return own + _folder_files(parent) if parent else own


@cache
def sites_version() -> str:
    """Changes whenever anything changes that decides which sites are read out of a file whose facts are the
    same, or how they are packed."""
    files = [*(HERE / "sites").glob("*.py"), *HERE.glob("*/sites.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.parent.name.encode() + b"/" + _file_contents(path))
    return digest.hexdigest()[:16]
