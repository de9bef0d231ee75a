"""The facts of a state by kind: what rules and the languages themselves say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import EpochSlot, InterfaceSlot
from codeplane.names import Codebase
from codeplane.surfaces.exceptions import files_that_raise, raised_facts
from codeplane.surfaces.fact_reader import FactReader
from codeplane.surfaces.fact_rules import FactPattern, FactRule
from codeplane.surfaces.facts import REVERSED, Fact, FactKind, FactSurface
from codeplane.surfaces.recorder import Remembered, remembered
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.values import Evaluator

MOST_FACTS: Final = 50_000
_FACTS: Final[EpochSlot[tuple[str, str], FactSurface]] = EpochSlot("facts of a kind")

_KEPT: Final[InterfaceSlot[tuple[str, str], Remembered[FactSurface]]] = InterfaceSlot("facts over edits")


def fact_surface(code: Codebase, kind: FactKind) -> FactSurface:
    """Every fact of one kind in a state of the code."""
    key = (kind, rules_of(code).digest)
    return code.once(
        _FACTS, key, lambda: remembered(code, _KEPT, key, lambda recorder: _collect(recorder, kind))
    )


def facts_of_file(code: Codebase, path: RepoPath) -> list[Fact]:
    """The facts of all kinds in one file."""
    evaluator = Evaluator(code)
    facts = list(raised_facts(evaluator, path))
    if code.facts(path) is not None:
        for kind in ("di", "middleware", "log", "retry"):
            facts += FactReader(evaluator, all_rules(code), kind).facts(path)
    return sorted(dict.fromkeys(facts), key=lambda fact: (fact.line, fact.kind, fact.name))


def all_rules(code: Codebase) -> list[FactRule]:
    """The rules of facts, and those of middleware in the rules of endpoints."""
    rules = rules_of(code)
    return [*rules.facts, *(_middleware_rule(rule) for rule in rules.endpoints if rule.middleware)]


def optional_frameworks(code: Codebase) -> set[str]:
    """Frameworks whose facts are told only to who names them."""
    return {rule.framework for rule in rules_of(code).facts if rule.optional}


def _collect(code: Codebase, kind: FactKind) -> FactSurface:
    evaluator, surface = Evaluator(code), FactSurface()
    places: set[tuple[RepoPath, int, str]] = set()
    for fact in _facts(evaluator, kind, all_rules(code)):
        place = (fact.path, fact.start, fact.name)
        if place in places:
            continue  # two rules say the same
        places.add(place)
        if len(surface.facts) >= MOST_FACTS:
            surface.is_cut = True
            break
        surface.facts.append(fact)
    surface.sort()
    if kind == "middleware":
        surface.facts = _in_order(surface.facts)
    return surface


def _facts(evaluator: Evaluator, kind: FactKind, rules: Sequence[FactRule]) -> Iterator[Fact]:
    if kind == "exception":
        for path in files_that_raise(evaluator.code):
            yield from raised_facts(evaluator, path)
        return
    reader = FactReader(evaluator, rules, kind)
    for path in reader.paths():
        yield from reader.facts(path)


def _middleware_rule(rule: Rule) -> FactRule:
    """The middleware of a rule for endpoints: methods of its objects."""
    patterns = []
    for one in rule.middleware:
        owners = tuple(f"{name}()" for kind in one.owner for name in rule.types[kind].new)
        for names, selection in ((one.call, one.name), (one.decorator, "decorated")):
            if names:
                patterns.append(
                    FactPattern(
                        kind="middleware",
                        owner=owners,
                        methods=dict.fromkeys(names, ""),
                        name=selection,
                        skip=owners,
                        order=one.order,
                    )
                )
    words = tuple(sorted({name for pattern in patterns for name in pattern.methods}))
    return FactRule(framework=rule.framework, languages=rule.languages, words=words, facts=tuple(patterns))


def _in_order(facts: Sequence[Fact]) -> list[Fact]:
    """Middleware in the order in which it runs: one pipeline for each place that puts one together."""
    pipelines: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in facts:
        pipelines.setdefault((fact.path, fact.pipeline, fact.framework), []).append(fact)
    return [
        replace(fact, position=number)
        for pipeline in pipelines.values()
        for number, fact in enumerate(_running_order(pipeline), 1)
    ]


def _running_order(pipeline: Sequence[Fact]) -> Iterator[Fact]:
    """What is wrapped around the rest by each call begins with the last one."""
    yield from reversed([fact for fact in pipeline if fact.position == REVERSED])
    yield from (fact for fact in pipeline if fact.position != REVERSED)
