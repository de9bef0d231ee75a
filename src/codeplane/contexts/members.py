"""Workspace files: which package roots below them they list. Also what a canonical glob matches.

The texts come from the repository and are not trusted: every reader is linear in the size of the file, and
no pattern can make a match backtrack without bound.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from codeplane.core.documents import parse_json, parse_toml
from codeplane.languages.families import WorkspaceForm

_LARGEST_MARKER: Final = 1_048_576
_LARGEST_SECTION: Final = 65_536
_LONGEST_PATTERN: Final = 1_000
_MOST_PATTERNS: Final = 1_000


@dataclass(frozen=True)
class Listing:
    """The package roots that a workspace file lists, relative to its own directory."""

    roots: frozenset[str] = frozenset()
    globs: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    strict: bool = True  # False: the file cannot be read to the end, so nothing is known to be unlisted
    problem: str = ""

    def lists(self, root: str) -> bool:
        if not self.strict:
            return True
        is_listed = root in self.roots or matcher(self.globs).fullmatch(root) is not None
        return is_listed and matcher(self.excluded).fullmatch(root) is None


@dataclass(frozen=True)
class Unreadable:
    """A marker that is not what its name promises."""

    problem: str


def read_listing(form: WorkspaceForm, data: bytes | None) -> Listing | Unreadable | None:
    """Reads a workspace file; None when it is well formed and makes no workspace."""
    if data is None:
        return Unreadable("cannot be read")
    if len(data) > _LARGEST_MARKER:
        return Unreadable(f"larger than {_LARGEST_MARKER} bytes")
    try:
        return _READERS[form](data.decode("utf-8-sig"))
    except ValueError as error:
        return Unreadable(f"malformed: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    return " ".join(str(error).split())[:200]


def _parse_npm(text: str) -> Listing | None:
    package = parse_json(text)
    if not isinstance(package, dict):
        raise ValueError("not an object")
    workspaces = package.get("workspaces")
    if isinstance(workspaces, dict):
        workspaces = workspaces.get("packages")
    patterns = _string_list(workspaces or [], "workspaces")
    return _signed_listing(patterns) if patterns else None


_PACKAGES = re.compile(
    r"""^(?:packages|"packages"|'packages')[ \t]*:.*(?:\n(?:[ \t\-#\]].*)?)*+""", re.MULTILINE
)


def _parse_pnpm(text: str) -> Listing:
    text = text.replace("\r\n", "\n")
    section = _PACKAGES.search(text)
    if section is None:
        return Listing(strict=False)
    if len(section[0]) > _LARGEST_SECTION:
        raise ValueError("the list of packages is too long")
    above = "\n" * text.count("\n", 0, section.start())  # so that a problem is told with its line
    from codeplane.core.yaml_text import parse_yaml_texts  # few repositories have such a file

    tree = parse_yaml_texts(above + section[0])
    if not isinstance(tree, dict):
        raise ValueError("not a mapping")
    patterns = _string_list(next(iter(tree.values())) or [], "packages")
    return _signed_listing(patterns) if patterns else Listing(strict=False)


_BLOCK = re.compile(r"(\w+)[ \t]*\(")


def _go_work(text: str) -> Listing:
    roots: set[str] = set()
    block = ""
    for line in text.splitlines():
        words = line.partition("//")[0].strip()
        if block:
            if words == ")":
                block = ""
            elif words and block == "use":
                roots |= _paths_inside([_strip_quotes(words)])
            continue
        if (match := _BLOCK.fullmatch(words)) is not None:
            block = match[1]
        elif words.split(maxsplit=1)[:1] == ["use"]:
            roots |= _paths_inside([_strip_quotes(words.removeprefix("use").strip())])
    if block:
        raise ValueError(f"the block of {block} has no end")
    return Listing(roots=frozenset(roots))


def _strip_quotes(text: str) -> str:
    if text[:1] in ('"', "`"):
        if len(text) < 2 or text[-1] != text[0]:
            raise ValueError("a quote has no end")
        return text[1:-1]
    if not text or text.split() != [text]:
        raise ValueError("use without one directory")
    return text


def _parse_cargo(text: str) -> Listing | None:
    workspace = parse_toml(text).get("workspace")
    if workspace is None:
        return None
    if not isinstance(workspace, dict):
        raise ValueError("workspace is not a table")
    members = _string_list(workspace.get("members", []), "members")
    excludes = _string_list(workspace.get("exclude", []), "exclude")
    return _glob_listing(members, [below for path in excludes for below in (path, f"{path}/**")])


_GRADLE_TOKEN = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|[^\S\n]+)"
    r"|(?P<text>\"\"\".*?(?:\"\"\"|\Z)|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?)"
    r"|(?P<word>[\w.]+)|(?P<mark>.)",
    re.DOTALL,
)
_GRADLE_INCLUDE: Final = ("include", "settings.include")


def _parse_gradle(text: str) -> Listing:
    tokens = [t for t in _GRADLE_TOKEN.finditer(text) if t.lastgroup != "skip"]
    roots: set[str] = set()
    for at, token in enumerate(tokens):
        if token["word"] in _GRADLE_INCLUDE:
            paths = _gradle_paths(tokens, at + 1)
            if paths is None:
                return Listing(strict=False)
            roots |= _paths_inside(paths)
        elif token["word"] is not None and token["word"].rpartition(".")[2] == "projectDir":
            return Listing(strict=False)
    return Listing(roots=frozenset(roots))


def _gradle_paths(tokens: Sequence[re.Match[str]], at: int) -> list[str] | None:
    """The directories that one `include` names, with their parents; None when one is not a plain literal."""
    arguments = _gradle_arguments(tokens, at)
    paths: list[str] = []
    for text in arguments or ():
        names = text.replace(":", "/").strip("/").split("/")
        paths += ["/".join(names[:end]) for end in range(1, len(names) + 1)]
    return paths if arguments else None


def _gradle_arguments(tokens: Sequence[re.Match[str]], at: int) -> list[str] | None:
    arguments: list[str] = []
    is_bracketed = at < len(tokens) and tokens[at][0] == "("
    is_wanted = True
    for index in range(at + is_bracketed, len(tokens)):
        token = tokens[index]
        if token[0] == "\n" and (is_bracketed or (is_wanted and arguments)):
            continue
        if is_wanted and _is_plain(token["text"]):
            arguments.append(token["text"].strip(token["text"][0]))
            is_wanted = False
        elif not is_wanted and token[0] == ",":
            is_wanted = True
        elif is_bracketed:
            return arguments if token[0] == ")" else None
        else:
            return arguments if token[0] in "\n;}" and not is_wanted else None
    return None if is_bracketed or is_wanted else arguments


def _is_plain(literal: str | None) -> bool:
    if literal is None or "\\" in literal or len(literal) > _LONGEST_PATTERN:
        return False
    if len(literal) < 2 or literal[-1] != literal[0]:
        return False
    return literal[0] == "'" or "$" not in literal


_READERS: Final[Mapping[WorkspaceForm, Callable[[str], Listing | None]]] = {
    "npm": _parse_npm,
    "pnpm": _parse_pnpm,
    "go_work": _go_work,
    "cargo": _parse_cargo,
    "gradle": _parse_gradle,
}


def _string_list(value: Any, name: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise ValueError(f"{name} is not a list of texts")


def _signed_listing(patterns: Iterable[str]) -> Listing:
    globs = list(patterns)
    return _glob_listing(
        [pattern for pattern in globs if not pattern.startswith("!")],
        [pattern[1:] for pattern in globs if pattern.startswith("!")],
    )


def _glob_listing(members: Iterable[str], excluded: Iterable[str]) -> Listing:
    try:
        includes, excludes = (
            _paths_inside(_expand_patterns(members)),
            _paths_inside(_expand_patterns(excluded)),
        )
        globs = sorted(glob for glob in includes if _is_wild(glob))
        if len(globs) > _MOST_PATTERNS or len(excludes) > _MOST_PATTERNS:
            raise _Unclear("there are too many patterns")
    except _Unclear as unclear:
        return Listing(strict=False, problem=f"not enforced: {unclear}")
    roots = frozenset(glob for glob in includes if not _is_wild(glob))
    return Listing(roots, tuple(globs), tuple(sorted(excludes)))


class _Unclear(Exception):
    """A pattern has a meaning that canonical globs do not express."""


_BRACES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")


def _expand_patterns(patterns: Iterable[str]) -> Iterator[str]:
    """Patterns without braces; `a/**` stands for `a` too, as package managers have it."""
    alternatives = 0
    for pattern in patterns:
        if len(pattern) > _LONGEST_PATTERN:
            raise _Unclear("a pattern is too long")
        if any(mark in pattern for mark in "[]()\\"):
            raise _Unclear(f"the pattern {pattern} is not understood")
        pending = [pattern]
        while pending:
            text = pending.pop()
            if (braces := _BRACES.search(text)) is None:
                yield text
                yield text.removesuffix("/").removesuffix("/**")
                continue
            before, after, ways = text[: braces.start()], text[braces.end() :], braces[1].split(",")
            pending += [before + way + after for way in ways]
            alternatives += len(ways)
            if alternatives > _MOST_PATTERNS:
                raise _Unclear("there are too many alternatives")


def _paths_inside(paths: Iterable[str]) -> set[str]:
    """Paths below the workspace file, normalised; `""` is its own directory."""
    normal = (posixpath.normpath(path) for path in paths if path)
    return {
        "" if path == "." else path for path in normal if path != ".." and not path.startswith(("../", "/"))
    }


def _is_wild(glob: str) -> bool:
    return "*" in glob or "?" in glob


def literal_glob(path: str) -> str:
    """The glob that matches exactly this path."""
    return re.sub(r"([*?\\])", r"\\\1", path)


@lru_cache(maxsize=4096)
def matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One regular expression that fully matches what any of the globs matches."""
    names = [_segment_regex(glob[3:]) for glob in globs if glob.startswith("**/") and "/" not in glob[3:]]
    floating = [_glob_regex(glob[3:]) for glob in globs if glob.startswith("**/") and "/" in glob[3:]]
    anchors = [_glob_regex(glob) for glob in globs if not glob.startswith("**/")]
    ways = []
    if names:
        ways.append(f"(?>(?:.*/)?)(?:{'|'.join(names)})")
    if floating:
        ways.append(f"(?:[^/]+/)*(?:{'|'.join(floating)})")
    return re.compile("|".join(ways + anchors) or r"(?!)", re.DOTALL)


def _glob_regex(glob: str) -> str:
    """Between two `**`, the first place that fits is as good as any: atomic groups keep the match linear."""
    groups: list[list[str]] = [[]]
    for segment in glob.split("/"):
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(_segment_regex(segment))
    if len(groups) == 1:
        return "/".join(groups[0])
    first, *middle, last = groups
    head = "".join(f"{segment}/" for segment in first)
    for group in middle:
        if group:
            head += f"(?>(?:[^/]+/)*?{'/'.join(group)}/)"
    return head + (f"(?:[^/]+/)*{'/'.join(last)}" if last else ".+")


def _segment_regex(text: str) -> str:
    chunks: list[list[str]] = [[]]
    for part in re.findall(r"\\.|\*+|.", text, re.DOTALL):
        if part[0] == "*":
            chunks.append([])
        else:
            chunks[-1].append("[^/]" if part == "?" else re.escape(part[-1]))
    first, *rest = ("".join(chunk) for chunk in chunks)
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle if chunk) + f"[^/]*{last}"
