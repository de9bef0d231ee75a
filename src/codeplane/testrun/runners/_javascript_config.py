"""Which files jest and vitest take for tests, as far as their configuration says it in literals.

A configuration is a program, and it is never run: `include: ['test/**/*.ts']` is read, `include: patterns()`
is not, and the usual names hold in its place.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from codeplane.core.documents import json_object
from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.runners._tree import inside

Accepts = Callable[[str], bool]

_USUAL: Final = re.compile(r"(?:^|/)__tests__/|\.(?:test|spec)\.[cm]?[jt]sx?$")
_TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)"""
    r"""|(?P<word>[\w$]+)|(?P<sign>\.\.\.|[\[\]{}(),:])|(?P<other>[^\s])""",
    re.DOTALL,
)
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_EXTENDED: Final = re.compile(r"([?@])\(([^()]*)\)")
_LARGEST: Final = 100_000
_DEEPEST: Final = 40
_OPAQUE: Final = object()


def accepts_vitest(tree: Tree, root: RepoPath, configs: Sequence[str]) -> Accepts:
    """Whether vitest takes a file of a project for a test; `configs` are names of its configuration."""
    for text in _config_texts(tree, root, configs):
        for tokens, at in _values_of(text, "test"):
            test = _parse_value(tokens, at)[0]
            if isinstance(test, dict):
                return _by_globs(root, list(_vitest_parts(test)))
    return is_usual


def accepts_jest(tree: Tree, root: RepoPath, configs: Sequence[str]) -> Accepts:
    """Whether jest takes a file of a project for a test; `configs` are names of its configuration."""
    package = json_object(tree.text(RepoPath(f"{root}/package.json" if root else "package.json"))).get("jest")
    settings: dict[str, list[str]] = {}
    for name in ("testMatch", "testRegex", "testPathIgnorePatterns"):
        values = list(_setting_values(package, name)) if isinstance(package, dict) else []
        for text in _config_texts(tree, root, configs):
            values += [_parse_value(tokens, at)[0] for tokens, at in _values_of(text, name)]
        settings[name] = [one for value in values for one in _strings_of(value)[0]]
    expression = _compile_patterns(settings["testPathIgnorePatterns"])
    pattern = _compile_patterns(settings["testRegex"]) if settings["testRegex"] else None
    by_name = _by_globs(root, [(settings["testMatch"], [])]) if settings["testMatch"] else is_usual

    def accepts(path: str) -> bool:
        own = f"/{inside(path, root)}"
        if expression is not None and expression.search(own):
            return False
        if pattern is not None:
            return pattern.search(own) is not None
        return by_name(path)

    return accepts


def is_usual(path: str) -> bool:
    """Whether a file has a name that jest and vitest take for a test unless they are told otherwise."""
    return _USUAL.search(f"/{path}") is not None


def _vitest_parts(test: Mapping[str, Any]) -> Iterator[tuple[list[str] | None, list[str]]]:
    """What each project of a configuration includes, None for the usual names, and what it excludes."""
    include, is_whole = _strings_of(test.get("include", _OPAQUE))
    own = include if include and is_whole else None
    excludes = _strings_of(test.get("exclude"))[0]
    projects = [one for one in _as_list(test.get("projects")) if isinstance(one, dict)]
    if not projects:
        yield own, excludes
        if include and own is None:
            yield include, excludes
    for project in projects:
        part = project.get("test")
        part = part if isinstance(part, dict) else {}
        inner, inner_excluded = _strings_of(part.get("include"))[0], _strings_of(part.get("exclude"))[0]
        inherits = "extends" in project
        yield inner or (own if inherits else None), inner_excluded + (excludes if inherits else [])


def _by_globs(root: RepoPath, parts: Sequence[tuple[list[str] | None, list[str]]]) -> Accepts:
    patterns = [(_compile_globs(include), _compile_globs(exclude)) for include, exclude in parts]

    def accepts(path: str) -> bool:
        own = inside(path, root)
        return any(
            (globs.holds(own) if globs is not None else is_usual(path))
            and not (excludes is not None and excludes.holds(own))
            for globs, excludes in patterns
        )

    return accepts


def _compile_globs(patterns: Sequence[str] | None) -> Globs | None:
    """Patterns of picomatch; `?(c|m)` is `{,c,m}` for ours."""
    ready = []
    for pattern in patterns or ():
        sign, body = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
        body = body.removeprefix("<rootDir>").removeprefix("./").lstrip("/")
        body = _EXTENDED.sub(
            lambda one: "{" + ("," if one[1] == "?" else "") + one[2].replace("|", ",") + "}", body
        )
        ready.append(f"{sign}/{body}")
    try:
        return Globs(ready) if ready else None
    except InvalidArgument:
        return None


def _compile_patterns(patterns: Sequence[str]) -> Any:
    if not patterns:
        return None
    import re2  # large, and most projects have no such setting

    options = re2.Options()
    options.log_errors = False
    text = "|".join(f"(?:{one.replace('<rootDir>', '^')})" for one in patterns)
    try:
        return re2.compile(text, options)
    except re2.error:
        return None


def _config_texts(tree: Tree, root: RepoPath, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if text := tree.text(RepoPath(f"{root}/{name}" if root else name)):
            yield text[:_LARGEST]


def _values_of(text: str, key: str) -> Iterator[tuple[list[str], int]]:
    """The tokens of a configuration, and where the value of each property of this name begins."""
    tokens = [one[0] for one in _TOKEN.finditer(text) if one.lastgroup]
    for at in range(len(tokens) - 2):
        if tokens[at].strip("'\"") == key and tokens[at + 1] == ":":
            yield tokens, at + 2


def _parse_value(tokens: Sequence[str], at: int, depth: int = 0) -> tuple[Any, int]:
    """The literal that begins at a token, and the token after it; what is computed is opaque."""
    first = tokens[at] if at < len(tokens) else ""
    value: Any = _OPAQUE
    if first in ("{", "[") and depth < _DEEPEST:
        value, after = (_parse_object if first == "{" else _parse_array)(tokens, at + 1, depth + 1)
    elif first[:1] in ("'", '"', "`"):
        value, after = re.sub(r"\\(.)", r"\1", first[1:-1]), at + 1
    else:
        after = at
    end = _skip_expression(tokens, after)
    return (value if end == after else _OPAQUE), end


def _parse_object(tokens: Sequence[str], at: int, depth: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while at < len(tokens) and tokens[at] != "}":
        if at + 1 < len(tokens) and tokens[at + 1] == ":":
            values[tokens[at].strip("'\"")], end = _parse_value(tokens, at + 2, depth)
        else:
            end = _skip_expression(tokens, at)
        at = end + (end < len(tokens) and tokens[end] == ",")
        if end < len(tokens) and tokens[end] not in (",", "}"):
            break
    return values, at + 1


def _parse_array(tokens: Sequence[str], at: int, depth: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while at < len(tokens) and tokens[at] != "]":
        value, end = _parse_value(tokens, at, depth)
        values.append(value)
        at = end + (end < len(tokens) and tokens[end] == ",")
        if end < len(tokens) and tokens[end] not in (",", "]"):
            break
    return values, at + 1


def _skip_expression(tokens: Sequence[str], at: int) -> int:
    """The comma or bracket that ends an expression."""
    closing: list[str] = []
    while at < len(tokens):
        token = tokens[at]
        if not closing and token in (",", "}", "]", ")"):
            break
        if token in _CLOSING:
            closing.append(_CLOSING[token])
        elif closing and token == closing[-1]:
            closing.pop()
        at += 1
    return at


def _setting_values(settings: Mapping[str, Any], name: str) -> Iterator[Any]:
    """The values of a setting, its projects included."""
    if name in settings:
        yield settings[name]
    for project in _as_list(settings.get("projects")):
        if isinstance(project, dict):
            yield from _setting_values(project, name)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings_of(value: Any) -> tuple[list[str], bool]:
    """The texts of a text or a list, and whether they are all there is."""
    if isinstance(value, str):
        return [value], True
    texts = [one for one in _as_list(value) if isinstance(one, str)]
    return texts, isinstance(value, list) and len(texts) == len(value)
