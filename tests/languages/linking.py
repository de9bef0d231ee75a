"""What the rules of a language answer, as short texts."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import language_of
from codeplane.languages.modules import ModuleRules, module_rules
from tests.languages.sources import Files


def rules_of(path: str) -> ModuleRules:
    found = module_rules(language_of(path, b"") or "")
    assert found
    return found


def linked(files: Files, path: str, local: str) -> list[str]:
    """What the import of this local name or module means: `path`, or `path:name` for a definition."""
    imported = next(item for item in files.imports(path) if local in (item.alias, item.module))
    return sorted(shown(files, place) for place in rules_of(path).places(files, path, imported))


def seen(files: Files, path: str, definition: int = -1) -> list[list[str]]:
    """The groups of places whose names are seen without an import."""
    groups = rules_of(path).ambient(files, Place(RepoPath(path), definition))
    return [[shown(files, place) for place in group] for group in groups]


def shown(files: Files, place: Place) -> str:
    if place.definition < 0:
        return place.path
    return f"{place.path}:{files.facts[place.path].definitions[place.definition].name}"
