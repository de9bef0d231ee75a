"""A moved file or directory where no fact tells of it: its path and its module name in strings and texts."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.languages.modules import module_rules
from codeplane.languages.moving import Moving, relative
from codeplane.names import Codebase, Snapshot
from codeplane.refactor.mentions import words
from codeplane.refactor.plan import Group, Mention, Site
from codeplane.refactor.text import Lines

_BETWEEN: Final = re.compile(r"\.|::|/|\\")
_QUOTED: Final = re.compile(r"([\"'`])(\.\.?/[^\"'`\n]*)\1")
_UNNAMED: Final = ("__init__", "index", "mod")
_WORD: Final = re.compile(rb"[\w$-]")


class Form(NamedTuple):
    """One way to write where something is: `before` and `after` around its own name."""

    before: str
    name: str
    after: str
    new: str

    @property
    def old(self) -> str:
        return f"{self.before}{self.name}{self.after}"


def forms(moving: Moving, after: Codebase, old: str, new: str) -> list[Form]:
    """The ways to name a file or directory that moves: by its path, and by its module where it has a name."""
    name, dot, ending = posixpath.basename(old).partition(".")
    variants = [_form(old, name, dot + ending, new)]
    is_file = old in moving.moves
    if is_file and name not in _UNNAMED:
        variants.append(_form(_without(old), name, "", _without(new)))
    inside = [one for one in moving.moves if one == old or one.startswith(f"{old}/")]
    for was, now in _modules(moving, after, old, inside):
        last = _BETWEEN.split(was)[-1]
        if was != now and _BETWEEN.search(was) and ("::" in was) == ("::" in now):
            variants.append(_form(was, last, "", now))
    return list(dict.fromkeys(one for one in variants if one.name and _BETWEEN.search(one.old)))


def _without(path: str) -> str:
    directory, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return f"{directory}/{stem}" if directory else stem


def _form(old: str, name: str, after: str, new: str) -> Form:
    return Form(old[: len(old) - len(name) - len(after)], name, after, new)


def _modules(moving: Moving, after: Codebase, old: str, inside: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names of a module before and after; of a directory, what those of its files begin with."""
    own = posixpath.basename(old).partition(".")[0]
    if own in _UNNAMED:
        own = posixpath.basename(posixpath.dirname(old))
    for path in sorted(inside):
        facts = after.facts(moving.path(path))
        rules = module_rules(facts.language) if facts is not None else None
        if rules is None:
            continue
        was, now = (
            rules.module_name(moving.before, path),
            rules.module_name(after.rule_sources, moving.path(path)),
        )
        while was and _BETWEEN.split(was)[-1] != own and old not in moving.moves:
            was, now = _shorter(was), _shorter(now)
        if was and now and _BETWEEN.split(was)[-1] == own:
            yield was, now
            return


def _shorter(module: str) -> str:
    separators = list(_BETWEEN.finditer(module))
    return module[: separators[-1].start()] if separators else ""


def open_places(
    snapshot: Snapshot, moving: Moving, path_forms: Sequence[Form], own_sites: Collection[Site]
) -> tuple[list[Group], list[Mention]]:
    """Strings that name what moves, which somebody has to decide about, and mentions in comments."""
    lines = {(site.path, site.line) for site in own_sites}
    texts: dict[RepoPath, Lines] = {}
    strings: dict[tuple[str, int, int], Site] = {}
    prose: dict[tuple[str, int, int], Site] = {}
    for name in sorted({one.name for one in path_forms}):
        own = sorted((one for one in path_forms if one.name == name), key=lambda one: -len(one.old))
        for word in words.words(snapshot, name, name, holding=_any_of(own)):
            path = word.site.path
            if path not in texts:
                texts[path] = Lines(snapshot.source(path))
            site = _named(texts[path], word, own) or _relative(texts[path], moving, word, own)
            if site is None or (site.path, site.line) in lines:
                continue
            target = prose if word.where in ("comment", "document") else strings
            target.setdefault((site.path, site.line, site.column), site)
    mentions = [
        Mention(site, "low" if is_past else "high", is_past=is_past)
        for (path, _, _), site in sorted(prose.items())
        for is_past in (words.is_history(path),)
    ]
    groups = []
    if strings:
        sites = tuple(site for _, site in sorted(strings.items()))
        about = f"`{path_forms[0].name}` in strings that name it by its path"
        groups.append(Group("", about, sites, "low", ("path_in_string",), "scope_resolution"))
    return groups, mentions


def _any_of(own: Sequence[Form]) -> re.Pattern[bytes]:
    """What a file has that may name what moves: one of its forms, or a path that begins at the file."""
    name = re.escape(own[0].name.encode("utf-8", "surrogateescape"))
    whole = (re.escape(form.old.encode("utf-8", "surrogateescape")) for form in own)
    return re.compile(b"|".join((*whole, rb"\./[^\"'`\n]*" + name)))


def _named(lines: Lines, word: words.Word, own: Sequence[Form]) -> Site | None:
    at = lines.offset(word.site.line, word.site.column)
    for form in own:
        before = form.before.encode("utf-8", "surrogateescape")
        whole = form.old.encode("utf-8", "surrogateescape")
        start = at - len(before)
        if start < 0 or not lines.data.startswith(whole, start):
            continue
        is_begun = _WORD.match(lines.data, max(0, start - 1)) if start else None
        is_inside = (
            start > 1
            and lines.data[start - 1 : start] in (b".", b"/", b"\\", b":")
            and bool(_WORD.match(lines.data, start - 2))
        )
        goes_on = _WORD.match(lines.data, start + len(whole))
        if not is_begun and not is_inside and not goes_on:
            column = word.site.column - len(before)
            return replace(word.site, column=column, old=form.old, new=form.new, tier=Tier.UNKNOWN)
    return None


def _relative(lines: Lines, moving: Moving, word: words.Word, own: Sequence[Form]) -> Site | None:
    """A string with a path that begins at the file that it stands in."""
    if word.where != "string":
        return None
    here = word.site.path
    text = lines.text(word.site.line)
    for literal in _QUOTED.finditer(text):
        start = len(text[: literal.start(2)].encode("utf-8", "surrogateescape"))
        end = start + len(literal[2].encode("utf-8", "surrogateescape"))
        if not start <= word.site.column < end:
            continue
        resolution = posixpath.normpath(posixpath.join(posixpath.dirname(here), literal[2]))
        for form in own:
            if "/" in form.old and (resolution == form.old or resolution.startswith(f"{form.old}/")):
                to = form.new + resolution[len(form.old) :]
                new = relative(posixpath.dirname(moving.path(here)), to)
                return Site(RepoPath(here), word.site.line, start, literal[2], new, Tier.UNKNOWN, "string")
    return None
