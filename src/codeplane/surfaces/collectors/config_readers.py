"""Reads of configuration keys by known functions, and by functions that hand their parameter to one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import (
    argument,
    bind_parameters,
    calls_function,
    full_name,
    loop_environments,
    parameter_names,
)
from codeplane.surfaces.collectors.block_prefixes import block_prefix
from codeplane.surfaces.collectors.called_objects import (
    classes_of,
    files_importing_objects,
    is_call_of,
    may_be_called,
)
from codeplane.surfaces.collectors.config_use import ConfigSurface, ConfigUse
from codeplane.surfaces.kind_rules import ReaderRule, readers_by_name
from codeplane.surfaces.recorder import Recorder, Remembered, remembered_of_file
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.values import Evaluator, Located

_LEVELS: Final = 2
_KEY: Final = re.compile(r"[^\s\"'`]{1,200}")
_PLACEHOLDER: Final = re.compile(r"\$\{([^:}\s]+)(?::([^}]*))?\}")
_WRITE: Final = re.compile(rb"\s*(?:[-+*|&.?]|\|\||\?\?)?=(?![=>~])")
_FALLBACK: Final = re.compile(
    rb"""\s*(?:\|\||\?\?|\?:|\bor\b)\s*("[^"\n]*"|'[^'\n]*'|\d+(?:\.\d+)?\b|true\b|false\b)"""
)
_DESTRUCTURED: Final = re.compile(
    r"""([A-Za-z_$][\w$]*)\s*(?::\s*[A-Za-z_$][\w$]*)?\s*(?:=\s*("[^"]*"|'[^']*'|[\w.]+))?\s*(?:,|$)"""
)
_LONGEST_DEFAULT: Final = 200


def file_reads(evaluator: Evaluator, path: RepoPath) -> list[ConfigUse]:
    """The reads in one file by functions and mappings that the rules name, without those by wrappers."""
    facts = evaluator.code.facts(path)
    readers = readers_by_name(rules_of(evaluator.code).config, facts.language) if facts is not None else {}
    if not readers:
        return []
    return list(_Sweep(evaluator, ConfigSurface()).reads_of_file(path, readers))


@dataclass(frozen=True)
class _Wrapper:
    """A function that hands a parameter to a reader: the call inside of it, and the reader or wrapper."""

    place: Place
    call: Located
    reader: ReaderRule
    inner: "_Wrapper | None" = None


def read_keys(evaluator: Evaluator, surface: ConfigSurface) -> Iterator[ConfigUse]:
    """Every read of a key by a function or mapping that the rules name, and by wrappers of them."""
    sweep = _Sweep(evaluator, surface)
    yield from sweep.direct_reads()
    wrappers = sweep.wrappers
    for _ in range(_LEVELS):
        sweep.wrappers = {}
        for wrapper in wrappers.values():
            yield from sweep.wrapped_reads(wrapper)
        wrappers = sweep.wrappers


class _FileReads(NamedTuple):
    """What one file reads by itself."""

    uses: tuple[ConfigUse, ...]
    wrappers: dict[tuple[Place, str], _Wrapper]
    dynamic: int


_READS: Final[InterfaceSlot[tuple[RepoPath, str], Remembered[_FileReads]]] = InterfaceSlot("keys of a file")


class _Sweep:
    """One pass over the files whose words the rules name."""

    def __init__(self, evaluator: Evaluator, surface: ConfigSurface) -> None:
        self._evaluator, self._surface = evaluator, surface
        self._code = evaluator.code
        self.wrappers: dict[tuple[Place, str], _Wrapper] = {}

    def direct_reads(self) -> Iterator[ConfigUse]:
        rules = rules_of(self._code).config
        readers: dict[str, Mapping[str, ReaderRule]] = {}
        words = sorted({word for rule in rules for word in rule.words})
        paths = set(self._code.paths_with_any(words))
        paths |= files_importing_objects(self._evaluator, readers_by_name(rules, "python"))
        for path in sorted(paths):
            facts = self._code.facts(path)
            if facts is None:
                continue
            if facts.language not in readers:
                readers[facts.language] = readers_by_name(rules, facts.language)
            if readers[facts.language]:
                yield from self._remembered_reads(path, readers[facts.language])

    def _remembered_reads(self, path: RepoPath, readers: Mapping[str, ReaderRule]) -> Iterator[ConfigUse]:
        """The reads of one file, which are read again only where a file that they rest on has changed."""
        code = self._code
        if not isinstance(code, Recorder):
            yield from self.reads_of_file(path, readers)
            return
        key = (path, rules_of(self._code).digest)
        reads = remembered_of_file(code, _READS, key, lambda: self._read_apart(path, readers))
        yield from reads.uses
        self.wrappers |= {key: one for key, one in reads.wrappers.items() if key not in self.wrappers}
        for _ in range(reads.dynamic):
            self._surface.count_dynamic(path)

    def _read_apart(self, path: RepoPath, readers: Mapping[str, ReaderRule]) -> "_FileReads":
        apart = _Sweep(self._evaluator, ConfigSurface())
        uses = tuple(apart.reads_of_file(path, readers))
        return _FileReads(uses, apart.wrappers, sum(apart._surface.dynamic.values()))

    def reads_of_file(self, path: RepoPath, readers: Mapping[str, ReaderRule]) -> Iterator[ConfigUse]:
        """The reads of one file."""
        last_names = {_last_name(name) for name in readers}
        aliases = {
            item.alias for item in self._code.require_facts(path).imports if item.name in last_names
        } - {""}
        objects = may_be_called(self._evaluator, path, classes_of(readers))
        sites = self._evaluator.sites(path).sites
        for site in sites:
            value = site.value
            if site.kind is SiteKind.ASSIGN and site.name.startswith("{"):
                yield from self._destructured(path, site, readers)
            if value.kind is not ValueKind.CALL or site.kind is SiteKind.RAISE:
                continue
            is_candidate = value.text in last_names or value.text in aliases or "*" in last_names
            is_candidate |= is_call_of(value, objects)
            if not is_candidate or (site.outer >= 0 and sites[site.outer].value == value):
                continue
            name = full_name(self._evaluator, Located(path, value))
            reader = readers.get(name) or readers.get(f"{name.rpartition('.')[0]}.*")
            if reader is None:
                continue
            if not self._is_write(path, site):
                yield from self._uses(path, site, reader)
            elif reader.writes:
                yield from self._uses(path, site, reader.model_copy(update={"role": "definition"}))

    def _is_write(self, path: RepoPath, site: Site) -> bool:
        if site.kind is not SiteKind.SUBSCRIPT:
            return False
        source = self._code.source(path)
        is_called = source[site.end : site.end + 1] == b"("  # `process.env.hasOwnProperty(…)`
        is_deleted = source[max(0, site.start - 7) : site.start].rstrip().endswith((b"del", b"delete"))
        return is_called or is_deleted or _WRITE.match(source, site.end) is not None

    def _destructured(
        self, path: RepoPath, site: Site, readers: Mapping[str, ReaderRule]
    ) -> Iterator[ConfigUse]:
        """`const { HOME, PORT = 80 } = process.env`."""
        value = Value(ValueKind.CALL, "[]", site.value.start, (site.value,), is_method=True)
        reader = readers.get(full_name(self._evaluator, Located(path, value)))
        body = site.name.strip("{} \n\t")
        if reader is None or "{" in body or "..." in body:
            return
        for match in _DESTRUCTURED.finditer(body):
            default = match[2].strip("\"'") if match[2] else None
            yield self._use(path, site, reader, match[1], default)

    def _uses(self, path: RepoPath, site: Site, reader: ReaderRule) -> Iterator[ConfigUse]:
        for environment in loop_environments(self._evaluator, path, site):
            call = Located(path, site.value, environment)
            keys = self._keys(call, reader)
            if keys is None:
                if not self._note_wrapper(call, site, reader, None):
                    self._surface.count_dynamic(path)
                continue
            prefix = block_prefix(self._evaluator, path, site, reader.block) if reader.block else ""
            if prefix is None:
                self._surface.count_dynamic(path)
                continue
            for key, default in keys:
                if default is None:
                    default = self._default(call, reader, site)
                key = f"{prefix}{key}"
                yield self._use(path, site, reader, key, default)

    def _use(
        self, path: RepoPath, site: Site, reader: ReaderRule, key: str, default: str | None
    ) -> ConfigUse:
        return ConfigUse(
            key,
            path,
            self._evaluator.line_of(path, site.start),
            reader.pattern or reader.call[0],
            reader.role == "definition",
            default,
            self._evaluator.definition_around(path, site.start),
            reader.required and default is None and not self._has_default(site, reader),
        )

    def _has_default(self, site: Site, reader: ReaderRule) -> bool:
        """Whether a call names a default, whatever that is."""
        return (
            bool(reader.default) and argument(Located(RepoPath(""), site.value), reader.default) is not None
        )

    # Keys

    def _keys(self, call: Located, reader: ReaderRule) -> list[tuple[str, str | None]] | None:
        """The keys of a call with the defaults that stand in them; None where they aren't known."""
        match reader.form:
            case "member":
                return [(call.value.text, None)] if not call.value.arguments else []
            case "path":
                return self._path_key(call)
            case "keywords":
                return [(item.keyword, None) for item in call.value.arguments if _KEY.fullmatch(item.keyword)]
            case "keys":
                return self._mapping_keys(call, reader)
        choice = argument(call, reader.key)
        if choice is None:
            return []
        texts = self._texts(choice)
        if texts is None:
            return None
        if reader.form == "placeholder":
            return [(match[1], match[2]) for text in texts for match in _PLACEHOLDER.finditer(text)]
        prefix = self._section_prefix(call, reader)
        if prefix is None:
            return None
        return [(f"{prefix}{text}", None) for text in texts if _KEY.fullmatch(text)]

    def _mapping_keys(self, call: Located, reader: ReaderRule) -> list[tuple[str, str | None]] | None:
        """The keys of a mapping that is an argument, or behind a name that is one."""
        item = call.value.argument(int(reader.key.removeprefix("arg")))
        if item is None:
            return []
        source = call._replace(value=item)
        if item.kind is ValueKind.NAME:
            source = self._evaluator.source_of(source) or source
        items = source.value.items if source.value.kind is ValueKind.MAPPING else None
        return [(one.keyword, None) for one in items if one.keyword] if items is not None else None

    def _path_key(self, call: Located) -> list[tuple[str, str | None]] | None:
        """`dig(:aws, :key)` as one key."""
        items = [Located(call.path, item, call.environment) for item in call.value.arguments]
        parts = [text.lstrip(":") for text in map(self._evaluator.text, items) if text]
        return [(".".join(parts), None)] if parts and len(parts) == len(items) else None

    def _texts(self, choice: Located) -> list[str] | None:
        text = self._evaluator.text(choice)
        if text is not None:
            return [text.removeprefix(":")]
        items = self._evaluator.items(choice)
        texts = [self._evaluator.text(item) for item in items] if items else [None]
        return None if None in texts else [item for item in texts if item is not None]

    def _section_prefix(self, call: Located, reader: ReaderRule) -> str | None:
        prefix = ""
        receiver = call.value.receiver
        while reader.section and receiver is not None and receiver.kind is ValueKind.CALL:
            if receiver.text in reader.section:
                section = argument(Located(call.path, receiver, call.environment), "arg0")
                text = self._evaluator.text(section) if section is not None else None
                if text is None:
                    return None
                prefix = f"{text}:{prefix}"
            receiver = receiver.receiver
        return prefix

    def _default(self, call: Located, reader: ReaderRule, site: Site) -> str | None:
        choice = argument(call, reader.default) if reader.default else None
        if choice is not None:
            return self._literal(choice)
        match = _FALLBACK.match(self._code.source(call.path), site.end)
        return match[1].decode("utf-8", "replace").strip("\"'")[:_LONGEST_DEFAULT] if match else None

    def _literal(self, choice: Located) -> str | None:
        if choice.value.kind is ValueKind.CONSTANT:
            return choice.value.text if choice.value.text not in ("None", "null", "nil") else None
        text = self._evaluator.text(choice)
        return text[:_LONGEST_DEFAULT] if text is not None else None

    # Wrappers

    def _note_wrapper(self, call: Located, site: Site, reader: ReaderRule, inner: _Wrapper | None) -> bool:
        """Whether the key is a parameter of the function around, which makes that a reader too."""
        place = self._evaluator.definition_around(call.path, site.start)
        key = self._inner_key(call, reader, inner)
        if place is None or key is None or reader.form not in ("plain", "placeholder"):
            return False
        parameters = set(parameter_names(self._evaluator, place))
        names = {item.text for item in key.walk() if item.kind is ValueKind.NAME}
        shapes = {item.kind for item in key.walk()}
        if not names & parameters or shapes - {ValueKind.NAME, ValueKind.CONCAT, ValueKind.TEXT}:
            return False
        if any(self._is_reassigned(place, name) for name in names & parameters):
            return False
        wrapper = _Wrapper(place, call, reader, inner)
        self.wrappers.setdefault((place, str(key)), wrapper)
        return True

    def _inner_key(self, call: Located, reader: ReaderRule, inner: _Wrapper | None) -> Value | None:
        """The argument of a call that becomes the key."""
        if inner is None:
            choice = argument(call, reader.key)
            return choice.value if choice is not None else None
        environment = bind_parameters(self._evaluator, inner.place, call)
        key = self._inner_key(inner.call, reader, inner.inner)
        names = [item.text for item in key.walk() if item.text in environment.values] if key else []
        return environment.values[names[0]].value if len(names) == 1 else None

    def _is_reassigned(self, place: Place, name: str) -> bool:
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        if any(
            first <= site.start < last for site in self._evaluator.sites(place.path).by_name.get(name, ())
        ):
            return True
        source = self._code.source(place.path)[first:last]
        return re.search(rb"\b%s\s*[-+.|]=" % re.escape(name.encode()), source) is not None

    def wrapped_reads(self, wrapper: _Wrapper) -> Iterator[ConfigUse]:
        """The keys that callers of a wrapper give."""
        name = self._code.definition(wrapper.place).name
        for path in sorted(self._code.paths_with(name)):
            for site in self._evaluator.sites(path).sites:
                if site.value.kind is not ValueKind.CALL or site.kind is not SiteKind.CALL:
                    continue
                is_call = site.value.text == name and calls_function(
                    self._evaluator, Located(path, site.value), wrapper.place
                )
                if is_call:
                    yield from self._wrapped_uses(path, site, wrapper)

    def _wrapped_uses(self, path: RepoPath, site: Site, wrapper: _Wrapper) -> Iterator[ConfigUse]:
        for environment in loop_environments(self._evaluator, path, site):
            call = Located(path, site.value, environment)
            inner_call = self._innermost(wrapper, call)
            keys = self._keys(inner_call, wrapper.reader)
            if keys is None:
                if not self._note_wrapper(call, site, wrapper.reader, wrapper):
                    self._surface.count_dynamic(path)
                continue
            for key, default in keys:
                choice = argument(inner_call, wrapper.reader.default) if wrapper.reader.default else None
                if default is None and choice is not None:
                    default = self._literal(choice)
                use = self._use(path, site, wrapper.reader, key, default)
                yield replace(use, pattern=f"{use.pattern} via {self._code.qualified(wrapper.place)}")

    def _innermost(self, wrapper: _Wrapper, call: Located) -> Located:
        """The call of the reader at the bottom, with the parameters on the way as this call gives them."""
        environment = bind_parameters(self._evaluator, wrapper.place, call)
        inner = wrapper.call._replace(environment=environment)
        return inner if wrapper.inner is None else self._innermost(wrapper.inner, inner)


def _last_name(name: str) -> str:
    return "[]" if name.endswith("[]") else name.rpartition(".")[2].removesuffix("()")
