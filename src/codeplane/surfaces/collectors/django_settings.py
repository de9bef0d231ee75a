"""Django settings: assignments in the settings modules, and reads of `django.conf.settings`."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import Import
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.calls import argument
from codeplane.surfaces.collectors.config_use import ConfigUse
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_SETTING: Final = re.compile(r"[A-Z][A-Z0-9_]+")
_SETTINGS: Final = "django.conf.settings"
_MODULE_KEY: Final = "DJANGO_SETTINGS_MODULE"
_READ: Final = re.compile(rb"([A-Za-z_]\w*)\s*\.\s*([A-Z][A-Z0-9_]+)\b(?!\s*=[^=])")
_PATTERN: Final = "Django settings"


def django_keys(evaluator: Evaluator) -> Iterator[ConfigUse]:
    """The settings that the modules named by DJANGO_SETTINGS_MODULE define, and those that the code reads."""
    code = evaluator.code
    for path in sorted(code.importing({"django", "conf"})):
        facts = code.facts(path)
        if facts is not None and facts.language == "python":
            yield from _reads_of_file(evaluator, path)
    for path in sorted(_settings_modules(evaluator)):
        facts = code.require_facts(path)
        for item in facts.definitions:
            is_top = item.parent < 0 and item.kind in ("variable", "constant")
            if is_top and _SETTING.fullmatch(item.name):
                yield ConfigUse(item.name, path, item.name_line, _PATTERN, is_definition=True)


def _reads_of_file(evaluator: Evaluator, path: RepoPath) -> Iterator[ConfigUse]:
    code = evaluator.code
    aliases = {
        (item.alias or item.name).encode()
        for item in code.require_facts(path).imports
        if item.module == "django.conf" and item.name == "settings"
    }
    if not aliases:
        return
    starts = set(code.all_occurrences(path).starts)
    for match in _READ.finditer(code.source(path)):
        if match[1] not in aliases or match.start(1) not in starts:
            continue  # in a comment or a text, or another object
        owner = Located(path, Value(ValueKind.NAME, match[1].decode(), match.start(1)))
        thing = evaluator.evaluate(owner)
        if thing.kind is ThingKind.EXTERNAL and thing.text == _SETTINGS:
            yield _read(evaluator, path, match.start(1), match[2].decode(), None)
    for site in evaluator.sites(path).sites:
        call = Located(path, site.value)
        if site.kind is not SiteKind.CALL or site.value.text != "getattr" or site.value.is_method:
            continue
        target, key, default = argument(call, "arg0"), argument(call, "arg1"), argument(call, "arg2")
        if target is None or key is None or evaluator.evaluate(target).text != _SETTINGS:
            continue
        text = evaluator.text(key)
        if text is not None and _SETTING.fullmatch(text):
            fallback = default.value.text if default is not None and default.value.text != "None" else None
            yield _read(evaluator, path, site.start, text, fallback or None)


def _read(evaluator: Evaluator, path: RepoPath, start: int, key: str, default: str | None) -> ConfigUse:
    symbol = evaluator.definition_around(path, start)
    return ConfigUse(key, path, evaluator.line_of(path, start), _PATTERN, False, default, symbol)


def _settings_modules(evaluator: Evaluator) -> set[RepoPath]:
    """The files that DJANGO_SETTINGS_MODULE is set to, and those that they import with a star."""
    code = evaluator.code
    modules: set[RepoPath] = set()
    for path in code.paths_with_any(["setdefault", "environ"]):
        facts = code.facts(path)
        if facts is None or facts.language != "python" or _MODULE_KEY.encode() not in code.source(path):
            continue
        for site in evaluator.sites(path).sites:
            key, text = site.value.argument(0), site.value.argument(1)
            if key is None or text is None or key.text != _MODULE_KEY or text.kind is not ValueKind.TEXT:
                continue
            import_item = Import(0, "python_import", text.text, "", "", 0, 0)
            modules |= {place.path for place in code.module_places(path, import_item)}
    for path in sorted(modules):
        for number, item in enumerate(code.imports(path)):
            target = code.imported(path, number) if item.name == "*" else UNRESOLVED
            if target not in (UNRESOLVED, AMBIGUOUS) and not is_external(target):
                modules.add(target[0].path)
    return {path for path in modules if code.facts(path) is not None}
