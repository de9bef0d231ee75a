"""Endpoints: routes on objects and classes, composed over the mounts that lead to them.

Nothing composed is stored: a path is an answer, worked out from sites, imports and rules.
"""

from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import EpochSlot, InterfaceSlot
from codeplane.names import Codebase
from codeplane.surfaces.annotated.endpoints import AnnotatedFramework
from codeplane.surfaces.dsl.grpc import Grpc
from codeplane.surfaces.dsl.laravel import Laravel
from codeplane.surfaces.dsl.rails import Rails
from codeplane.surfaces.dsl.sinatra import Sinatra
from codeplane.surfaces.flow.endpoints import FlowFramework
from codeplane.surfaces.flow.files import files_of, users_of
from codeplane.surfaces.framework import Framework
from codeplane.surfaces.recorder import Remembered, remembered
from codeplane.surfaces.routes import Endpoint, Step, Surface
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Evaluator

__all__ = ["Endpoint", "Step", "Surface", "endpoints_of"]

_DSL_WORDS: Final = {"ruby": ("draw", "Sinatra"), "php": ("Route",), "proto": ("rpc",)}
_ENDPOINTS: Final[EpochSlot[str, Surface]] = EpochSlot("endpoints")
_KEPT: Final[InterfaceSlot[str, Remembered[Surface]]] = InterfaceSlot("endpoints over edits")
_FRAMEWORK_FILES: Final[EpochSlot[str, frozenset[RepoPath]]] = EpochSlot("files that import a framework")


def endpoints_of(code: Codebase, rules: Sequence[Rule] | None = None) -> Surface:
    """Every endpoint of a state of the code."""
    if rules is None:
        digest = rules_of(code).digest
        return code.once(_ENDPOINTS, digest, lambda: remembered(code, _KEPT, digest, _collect_all))
    return _collect(code, rules)


def _collect_all(code: Codebase) -> Surface:
    return _collect(code, rules_of(code).endpoints)


def framework_files(code: Codebase) -> frozenset[RepoPath]:
    """The files that import a framework which has endpoints."""
    return code.once(_FRAMEWORK_FILES, rules_of(code).digest, lambda: frozenset(_importing(code)))


def route_files(code: Codebase) -> set[RepoPath]:
    """The files whose sites are read for endpoints, as far as imports and words tell."""
    rules, evaluator = rules_of(code), ScriptEvaluator(code)
    paths = {path for rule in rules.endpoints for path in Framework(evaluator, rule).candidates()}
    paths |= {path for rule in rules.annotations for path in users_of(code, rule)}
    return paths.union(*(files_of(code, rule) for rule in rules.flows))


def gated_languages(code: Codebase) -> frozenset[str]:
    """The languages whose endpoints stand in files that `framework_files` has, or are named there."""
    rules = rules_of(code)
    others = {language for rule in rules.annotations for language in rule.languages}
    languages = {language for rule in rules.endpoints for language in rule.languages}
    return frozenset(languages.union(*(rule.languages for rule in rules.flows)) - others)


def _importing(code: Codebase) -> set[RepoPath]:
    rules, evaluator = rules_of(code), Evaluator(code)
    paths = {path for rule in rules.endpoints for path in Framework(evaluator, rule).importing_files()}
    paths |= {path for rule in rules.annotations for path in users_of(code, rule)}
    paths |= {
        path
        for path in code.paths_with_any([word for words in _DSL_WORDS.values() for word in words])
        if (facts := code.facts(path)) is not None and facts.language in _DSL_WORDS
    }
    return paths.union(*(files_of(code, rule) for rule in rules.flows))


def _collect(code: Codebase, rules: Sequence[Rule]) -> Surface:
    evaluator = ScriptEvaluator(code)
    endpoints: list[Endpoint] = []
    dynamic: dict[RepoPath, int] = {}
    for rule in rules:
        framework = Framework(evaluator, rule)
        endpoints += framework.endpoints()
        for path, count in framework.dynamic.items():
            dynamic[path] = dynamic.get(path, 0) + count
    others: list[FlowFramework | AnnotatedFramework | Rails | Sinatra | Laravel | Grpc] = [
        *(FlowFramework(evaluator, rule) for rule in rules_of(code).flows),
        *(AnnotatedFramework(evaluator, rule) for rule in rules_of(code).annotations),
        *(kind(evaluator) for kind in (Rails, Sinatra, Laravel, Grpc)),
    ]
    for other in others:
        endpoints += other.endpoints()
        for path, count in other.dynamic.items():
            dynamic[path] = dynamic.get(path, 0) + count
    unique = dict.fromkeys(endpoints)
    return Surface(
        tuple(sorted(unique, key=lambda one: (one.route, one.method, one.path, one.line))), dynamic
    )
