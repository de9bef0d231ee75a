"""Loads a language when it is first used: grammar, queries, hooks, and the version of all three."""

import ctypes
import hashlib
import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from tree_sitter import Language, Parser, Query

from codeplane.languages._spec import HERE, LanguageSpec, specs

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# These say how files belong together and what headers mean, not what is read out of a file.
_LINKING = (
    "arguments.py",
    "arranging.py",
    "carrying.py",
    "families.py",
    "headers.py",
    "modules.py",
    "moving.py",
    "ordering.py",
    "packages.py",
    "resolve.py",
    "tokens.py",
)


@dataclass(frozen=True)
class Grammar:
    """A language ready to read files."""

    spec: LanguageSpec
    language: Language
    parser: Parser
    query: Query
    hooks: ModuleType | None


def query_files(name: str) -> list[Path]:
    """The query files of a language, those of the language that it inherits from first."""
    inherited = specs()[name].inherits
    own = sorted((HERE / name).glob("*.scm"))
    if not inherited:
        return own
    kept = specs()[inherited].own_queries
    return [*(path for path in query_files(inherited) if path.name not in kept), *own]


def load_language(spec: LanguageSpec) -> Language:
    pointer = getattr(importlib.import_module(spec.grammar), spec.function)()
    # Older wheels give the address itself.
    return Language(_capsule(pointer, b"tree_sitter.Language", None) if isinstance(pointer, int) else pointer)


@cache
def grammar(name: str) -> Grammar:
    spec = specs()[name]
    language = load_language(spec)
    text = "\n".join(path.read_text() for path in query_files(name))
    return Grammar(spec, language, Parser(language), Query(language, text), hooks_of(name))


def readable(language: str, data: bytes) -> bytes:
    """The bytes of a file as the grammar can read them."""
    hooks = hooks_of(language)
    made: bytes = hooks.readable(data) if hooks and hasattr(hooks, "readable") else data
    return made


@cache
def hooks_of(language: str) -> ModuleType | None:
    """What a language says that queries cannot; of those that it inherits from, the nearest."""
    for name in (language, specs()[language].inherits):
        if name and (HERE / name / "hooks.py").exists():
            return importlib.import_module(f"codeplane.languages.{name}.hooks")
    return None


@cache
def readers_version() -> str:
    """Changes whenever any extractor does, or which files are read as what."""
    return hashlib.sha256(" ".join(map(extractor_version, sorted(specs()))).encode()).hexdigest()[:16]


@cache
def _engine() -> bytes:
    return b"".join(_told(path) for path in sorted(HERE.glob("*.py")) if path.name not in _LINKING)


def _told(path: Path) -> bytes:
    return path.name.encode() + b"\0" + path.read_bytes() + b"\0"


@cache
def extractor_version(name: str) -> str:
    """Changes whenever anything changes that decides which facts are read out of a file."""
    # Keeps the start of a worker quick: only those who compare versions ask for them.
    from importlib.metadata import version

    digest = hashlib.sha256(_engine())
    for path in sorted(_folder_files(name)):
        digest.update(_told(path))
    for wheel in ("tree-sitter", specs()[name].grammar.replace("_", "-")):
        digest.update(f"{wheel}=={version(wheel)}".encode())
    return digest.hexdigest()[:16]


def _folder_files(name: str) -> list[Path]:
    files = [path for path in (HERE / name).iterdir() if path.suffix in (".py", ".scm")]
    own = [path for path in files if path.name not in _LINKING]
    inherited = specs()[name].inherits
    return own + _folder_files(inherited) if inherited else own
