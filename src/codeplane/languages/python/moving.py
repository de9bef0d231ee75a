"""How imports follow modules: absolute and relative ones, modules taken from packages, and dotted uses."""

import re
from collections.abc import Iterator, Sequence

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Moving, Stuck
from codeplane.languages.python import modules
from codeplane.languages.python.statements import Statement, Taken, statements, written

_PACKAGE = ("__init__.py", "__init__.pyi")


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """Every import statement that has to be written anew, and the dotted uses of modules it names."""
    file = _File(moving, path)
    heads: set[str] = set()
    for statement in statements(moving.read(path)):
        if statement.module is None:
            yield from file.import_(statement)
            heads |= {one.name.partition(".")[0] for one in statement.names if not one.alias}
        else:
            yield from file.from_(statement)
    yield from file.uses(heads)
    yield from _outside_packages(moving, path)


def _outside_packages(moving: Moving, path: str) -> Iterator[Stuck]:
    """Directories without a file of their own, inside of packages that have one."""
    above = moving.path(path).rpartition("/")[0] if path in moving.moves else ""
    while above:
        directory, above = above, above.rpartition("/")[0]
        if _is_package(moving.after, above) and not _is_package(moving.after, directory):
            yield Stuck(1, f"{directory} has no __init__.py.", "note")


def _is_package(sources: Sources, directory: str) -> bool:
    return any(sources.exists(f"{directory}/{name}") for name in _PACKAGE)


class _File:
    """One file with imports, by its old path."""

    def __init__(self, moving: Moving, path: str) -> None:
        self._moving, self._path = moving, path
        self._here = moving.path(path)

    def import_(self, statement: Statement) -> Iterator[TextEdit | Stuck]:
        """`import a.b`, with uses of `a.b` where there is no alias."""
        for name in statement.names:
            old = self._module_places(name.name)
            if not old:
                continue
            targets = [self._moving.place(place) for place in old]
            if self._leads_to(name.name, targets):
                continue
            new = self._absolute_text(name.name, old[0], targets[0])
            if new is None:
                yield Stuck(name.line, f"`{name.name}` cannot be imported by an absolute name any more.")
                continue
            if "." not in name.name and not name.alias:
                yield TextEdit(name.line, name.column, name.name, f"{new} as {name.name}")
                continue
            yield TextEdit(name.line, name.column, name.name, new)

    def uses(self, heads: set[str]) -> Iterator[TextEdit]:
        """The places where a module stands behind its packages, the longest names first."""
        lines = self._moving.read(self._path).split(b"\n")
        mentions = [
            (f"{receiver}.{name}", line, column - len(receiver.encode("utf-8", "surrogateescape")) - 1)
            for receiver, name, line, column in self._moving.behind(self._path)
            if receiver.partition(".")[0] in heads
        ]
        new = {text: self._used_text(text) for text in {text for text, _, _ in mentions}}
        positions: set[tuple[int, int]] = set()
        for text, line, column in sorted(mentions, key=lambda one: -len(one[0])):
            is_written = lines[line - 1].startswith(text.encode("utf-8", "surrogateescape"), max(column, 0))
            if new[text] != text and is_written and (line, column) not in positions:
                positions.add((line, column))
                yield TextEdit(line, column, text, new[text])

    def _used_text(self, text: str) -> str:
        old = self._module_places(text)
        targets = [self._moving.place(place) for place in old]
        if not old or self._leads_to(text, targets):
            return text
        return self._absolute_text(text, old[0], targets[0]) or text

    def from_(self, statement: Statement) -> Iterator[TextEdit | Stuck]:
        """`from a import b`: what is taken may be a name of the module or a module inside it."""
        assert statement.module is not None, "BUG: a statement with a module was asked for"
        old = self._module_places(statement.module)
        groups: dict[str, list[tuple[str, str]]] = {}
        for entry in statement.names:
            source = self._new_source(statement.module, old, entry)
            if source is None:
                text = f"`from {statement.module} import {entry.name}` cannot be written any more."
                yield Stuck(statement.line, text)
                return
            module, name, alias = source
            groups.setdefault(module, []).append((name, alias))
        same = [(entry.name, entry.alias) for entry in statement.names]
        if groups == {statement.module: same}:
            return
        if len(groups) == 1 and next(iter(groups.values())) == same:
            yield from self._module_alone(statement, next(iter(groups)))
            return
        if not statement.is_plain:
            yield Stuck(statement.line, "An import with comments inside would have to be taken apart.")
            return
        yield self._split_statement(statement, groups)

    def _module_alone(self, statement: Statement, new: str) -> Iterator[TextEdit | Stuck]:
        assert statement.module is not None, "BUG: a statement with a module was asked for"
        match = re.match(r"from(\s+)([.\w]+)", statement.text)
        if match is None or match[2] != statement.module:
            yield Stuck(statement.line, f"`{statement.module}` is not written as such.")
            return
        yield TextEdit(statement.line, statement.column + match.start(2), statement.module, new)

    def _split_statement(self, statement: Statement, groups: dict[str, list[tuple[str, str]]]) -> TextEdit:
        lines = self._moving.read(self._path).split(b"\n")
        line = lines[statement.line - 1]
        before = line[: statement.column].decode("utf-8", "surrogateescape")
        last = lines[statement.line + statement.text.count("\n") - 1]
        is_alone = not before.strip() and b";" not in last
        between = f"\n{before}" if is_alone else "; "
        text = between.join(written(module, names) for module, names in groups.items())
        return TextEdit(statement.line, statement.column, statement.text, text)

    def _new_source(self, module: str, old: Sequence[Place], taken: Taken) -> tuple[str, str, str] | None:
        """Module, name and alias by which a name is imported afterwards."""
        same = (module, taken.name, taken.alias)
        if not old:
            leads_now = bool(self._places_of(module, self._moving.after, self._here))
            return same if not leads_now and not (module.startswith(".") and self._is_moving) else None
        inner = self._inner_module(module, taken)
        if inner is not None:
            return self._of_package(module, old[0], inner, taken)
        targets = [self._moving.place(place) for place in old]
        if self._leads_to(module, targets):
            return same
        new = self._respelled_module(module, old[0], targets[0])
        return (new, taken.name, taken.alias) if new is not None else None

    def _of_package(
        self, module: str, package: Place, inner: Place, taken: Taken
    ) -> tuple[str, str, str] | None:
        """A module that is taken from its package."""
        target = self._moving.place(inner)
        parent, name = _parent_of(target.path)
        if not parent:
            return None
        own = (f"{parent}/{file}" for file in _PACKAGE)
        at = Place(RepoPath(next(filter(self._moving.after.exists, own), f"{parent}/")))
        alias = taken.alias or (taken.name if name != taken.name else "")
        if self._leads_to(module, [at]):
            return module, name, alias
        new = self._respelled_module(module, package, at)
        return (new, name, alias) if new is not None else None

    def _inner_module(self, module: str, taken: Taken) -> Place | None:
        """The module that a name of a `from` statement is, where it is one."""
        for at, item in enumerate(self._moving.before.import_statements(self._path)):
            if (item.line, item.column) == (taken.line, taken.column) and item.module == module:
                places = self._moving.meant(self._path, at)
                if item.name != "*" and len(places) == 1 and places[0].definition == -1:
                    parent, name = _parent_of(places[0].path)
                    base = modules.places(self._moving.before, self._path, item)
                    is_inside = any(_package_directory(place.path) == parent for place in base)
                    return places[0] if is_inside and name == taken.name else None
        return None

    @property
    def _is_moving(self) -> bool:
        return self._here != self._path

    def _module_places(self, text: str) -> Sequence[Place]:
        return self._places_of(text, self._moving.before, self._path)

    def _leads_to(self, text: str, wanted: Sequence[Place]) -> bool:
        is_found = list(self._places_of(text, self._moving.after, self._here)) == list(wanted)
        return is_found and (not text.startswith(".") or self._is_inside(text))

    def _is_inside(self, text: str) -> bool:
        """Whether the dots of a relative import stay in a package, as far as they did before."""
        up = len(text) - len(text.lstrip("."))
        directory = self._here.rpartition("/")[0]
        for _ in range(up - 1):
            directory = directory.rpartition("/")[0]
        after = self._moving.after
        if any(after.exists(f"{directory}/{name}".lstrip("/")) for name in _PACKAGE):
            return True
        return directory == self._path.rpartition("/")[0] or not self._is_moving

    def _places_of(self, text: str, sources: Sources, path: str) -> Sequence[Place]:
        return modules.places(sources, path, Import(0, "python_from", text, "", "", 0, 0))

    def _respelled_module(self, module: str, old: Place, new: Place) -> str | None:
        """The text for a module in the form of the old one, else in the other."""
        texts = [self._relative_text(new), self._absolute_text(module, old, new)]
        if not module.startswith("."):
            texts.reverse()
        return next((text for text in texts if text is not None and self._leads_to(text, [new])), None)

    def _relative_text(self, new: Place) -> str | None:
        here = self._here.split("/")[:-1]
        there = [part for part in _module_stem(new.path).split("/") if part]
        depth = 0
        while depth < min(len(here), len(there)) and here[depth] == there[depth]:
            depth += 1
        if not depth:
            return None
        return "." * (len(here) - depth + 1) + ".".join(there[depth:])

    def _absolute_text(self, module: str, old: Place, new: Place) -> str | None:
        """The dotted name below the root that the old one began at, else below its own source root."""
        texts = []
        parts = module.split(".")
        stem = _module_stem(old.path).split("/")
        if not module.startswith(".") and stem[-len(parts) :] == parts:
            root = stem[: -len(parts)]
            there = _module_stem(new.path).split("/")
            if there[: len(root)] == root:
                texts.append(".".join(there[len(root) :]))
        if not new.path.endswith("/"):
            texts.append(modules.module_name(self._moving.after, new.path))
        return next((text for text in texts if text and self._leads_to(text, [new])), None)


def _module_stem(path: str) -> str:
    """The path of a module without its ending; of a package its directory."""
    directory, _, name = path.rpartition("/")
    return directory if name in _PACKAGE or not name else path.rsplit(".", 1)[0]


def _package_directory(path: str) -> str:
    """The directory that the modules inside a package are in."""
    directory, _, name = path.rpartition("/")
    return directory if name in _PACKAGE or not name else path


def _parent_of(path: str) -> tuple[str, str]:
    """The directory that a module is in and its name there."""
    parent, _, name = _module_stem(path).rpartition("/")
    return parent, name
