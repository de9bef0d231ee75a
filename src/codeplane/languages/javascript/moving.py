"""How specifiers follow files: relative ones stay relative, configured ones keep their prefix."""

import posixpath
from collections.abc import Iterator

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.javascript import modules
from codeplane.languages.javascript.manifests import configs, joined
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Moving, Stuck, quoted, relative, respelled

_ENDINGS = (".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_OUTPUTS = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """Every specifier that leads elsewhere, and relative ones to files that are no modules."""
    yield from respelled(modules.places, moving, path, _module_texts)
    for item in moving.before.import_statements(path):
        if item.module.startswith((".", "..")) and not modules.places(moving.before, path, item):
            yield from _asset_change(moving, path, item)


def _asset_change(moving: Moving, path: str, item: Import) -> Iterator[TextEdit | Stuck]:
    file, _, query = item.module.partition("?")
    old = joined(posixpath.dirname(path), file)
    new = moving.path(old) if old is not None else None
    if old is None or new is None or not moving.before.exists(old):
        if path in moving.moves:
            text = f"`{item.module}` leads to no file that is known, and its place changes."
            yield Stuck(item.line, text, "doubt")
        return
    text = relative(posixpath.dirname(moving.path(path)), new) + (f"?{query}" if query else "")
    data = moving.read(path)
    quotation = quoted(data, item)
    if quotation is not None and posixpath.normpath(text) != posixpath.normpath(item.module):
        start = quotation[0]
        line = data.count(b"\n", 0, start) + 1
        yield TextEdit(line, start - (data.rfind(b"\n", 0, start) + 1), quotation[1], text)


def _module_texts(moving: Moving, path: str, item: Import, target: str) -> Iterator[str]:
    texts = list(shapes(item.module, target))
    here = posixpath.dirname(path)
    if not item.module.startswith("."):
        yield from configured(moving.after, path, item.module, texts)
    for shape in texts:
        yield relative(here, shape)


def shapes(module: str, target: str) -> Iterator[str]:
    """The path of a file as the old specifier writes paths: with or without ending, by its directory."""
    ending = next((one for one in _ENDINGS if target.endswith(one)), "")
    stem = target.removesuffix(ending)
    is_index = posixpath.basename(stem) == "index"
    suffix = next((one for one in _ENDINGS if module.endswith(one)), "")
    if suffix:
        yield target if suffix == ending else stem + (_OUTPUTS.get(ending, ending) or suffix)
        yield stem + suffix
    names_index = posixpath.basename(module) == "index"
    if is_index and not names_index and not suffix:
        yield posixpath.dirname(stem)
    yield stem
    yield target


def configured(sources: Sources, path: str, module: str, shapes: list[str]) -> Iterator[str]:
    """The pattern of `paths` that the old specifier used, then others, then `baseUrl`."""
    for config in configs(sources, path):
        patterns = sorted(config.paths, key=lambda one: not module.startswith(one.partition("*")[0]))
        for pattern in patterns:
            for target in config.paths[pattern]:
                start, star, end = (joined(config.paths_base, target) or "").partition("*")
                for shape in shapes:
                    inside = shape.startswith(start) and shape.endswith(end) and len(shape) >= len(start)
                    if star and inside:
                        yield pattern.replace("*", shape[len(start) : len(shape) - len(end)], 1)
                    elif not star and shape == start:
                        yield pattern
        is_mapped = any(module.startswith(one.partition("*")[0]) for one in config.paths if one != "*")
        if config.base_url is not None and not is_mapped:
            prefix = f"{config.base_url}/" if config.base_url else ""
            yield from (shape.removeprefix(prefix) for shape in shapes if shape.startswith(prefix))
