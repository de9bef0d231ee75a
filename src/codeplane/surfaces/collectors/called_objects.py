"""Objects that read configuration when they are called: `env = Env()`, then `env("KEY")` anywhere."""

from collections.abc import Iterator, Mapping

from codeplane.core.paths import RepoPath
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.calls import full_name
from codeplane.surfaces.kind_rules import ReaderRule
from codeplane.surfaces.values import Evaluator, Located

_CALLED = "()()"


def classes_of(readers: Mapping[str, ReaderRule]) -> frozenset[str]:
    """The full names of classes whose instances are called to read a key."""
    return frozenset(name.removesuffix(_CALLED) for name in readers if name.endswith(_CALLED))


def may_be_called(evaluator: Evaluator, path: RepoPath, classes: frozenset[str]) -> frozenset[str]:
    """The names of a file that may be such objects: what it makes of such a class, and what it imports."""
    if not classes:
        return frozenset()
    local = {name for name, _ in _made_objects(evaluator, path, classes)}
    imported = {item.alias or item.name for item in evaluator.code.require_facts(path).imports}
    return frozenset(local | imported)


def is_call_of(value: Value, names: frozenset[str]) -> bool:
    """Whether a call reads a key by one of such objects, as it is written."""
    first = value.argument(0)
    is_read = first is not None and first.kind in (ValueKind.TEXT, ValueKind.NAME, ValueKind.CONCAT)
    return is_read and value.receiver is None and value.text in names


def files_importing_objects(evaluator: Evaluator, readers: Mapping[str, ReaderRule]) -> set[RepoPath]:
    """The files that import such an object from the file that makes it."""
    classes = classes_of(readers)
    if not classes:
        return set()
    code = evaluator.code
    names = {
        name
        for path in sorted(code.paths_with_any(sorted({_last(one) for one in classes})))
        if (facts := code.facts(path)) is not None and facts.language == "python"
        for name, call in _made_objects(evaluator, path, classes)
        if evaluator.definition_around(path, call.value.start) is None
        and full_name(evaluator, call) in classes
    }
    return {
        path
        for path in code.paths_with_any(sorted(names))
        if (facts := code.facts(path)) is not None and any(item.name in names for item in facts.imports)
    }


def _made_objects(
    evaluator: Evaluator, path: RepoPath, classes: frozenset[str]
) -> Iterator[tuple[str, Located]]:
    """The names that a file gives instances of classes of such a name."""
    last_names = {_last(name) for name in classes}
    aliases = {
        item.alias for item in evaluator.code.require_facts(path).imports if item.name in last_names
    } - {""}
    for site in evaluator.sites(path).sites:
        is_maker = site.kind is SiteKind.CALL and site.value.text in last_names | aliases
        if is_maker and site.name.isidentifier():
            yield site.name, Located(path, site.value)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
