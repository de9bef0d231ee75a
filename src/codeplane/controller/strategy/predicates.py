"""The predicates that conditions of features and strategies may name. Each gives its evidence, or nothing."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from codeplane.controller.strategy.task_view import TaskView, fold_words

Predicate = Callable[[TaskView, Sequence[str]], str | None]


def prompt_mentions(view: TaskView, values: Sequence[str]) -> str | None:
    """The prompt has one of these words or phrases; hyphens and case make no difference."""
    phrase = next((value for value in values if fold_words(value) in view.words), None)
    return f"the prompt mentions {phrase!r}" if phrase is not None else None


def artifact_of_kind(view: TaskView, values: Sequence[str]) -> str | None:
    """An artefact of one of these kinds has been fetched: `jira`, `api` or `operation`."""
    kind = next((value for value in values if value in view.artifact_kinds), None)
    return f"{view.artifact_kinds[kind]} has been fetched" if kind is not None else None


def file_named(view: TaskView, values: Sequence[str]) -> str | None:
    """A file of the task matches one of these globs; `**/` also matches nothing."""
    for path in view.files:
        for glob in values:
            if fnmatchcase(path, glob) or (glob.startswith("**/") and fnmatchcase(path, glob[3:])):
                return f"{path} is named like {glob}"
    return None


def imports_module(view: TaskView, values: Sequence[str]) -> str | None:
    """A file of the task imports a module that matches one of these globs."""
    for path in view.files:
        for module in view.imports.get(path, ()):
            if any(fnmatchcase(module, glob) for glob in values):
                return f"{path} imports {module}"
    return None


def file_contains(view: TaskView, values: Sequence[str]) -> str | None:
    """A file of the task contains one of these texts, as it is written here."""
    for path in view.files:
        for value in values:
            if value in view.contents.get(path, ""):
                return f"{path} contains {value}"
    return None


PREDICATES: Final[Mapping[str, Predicate]] = {
    predicate.__name__: predicate
    for predicate in (prompt_mentions, artifact_of_kind, file_named, imports_module, file_contains)
}
