"""Which kinds of surfaces are read of which framework: what the rule files say."""

from collections.abc import Iterator

from codeplane.surfaces.annotated.rule import annotation_rules
from codeplane.surfaces.fact_rules import fact_rules
from codeplane.surfaces.flow.rule import flow_rules
from codeplane.surfaces.kind_rules import config_rules, table_rules
from codeplane.surfaces.rule import built_in_rules

# Kinds that code reads without a rule file, since they are the language's own.
_BY_CODE = (
    ("rails", "endpoint", ("ruby",)),
    ("sinatra", "endpoint", ("ruby",)),
    ("laravel", "endpoint", ("php",)),
    ("grpc, grpc-gateway", "endpoint", ("proto",)),
    ("application.yml, application.properties", "config", ("java", "kotlin")),
    ("dotenv, compose files", "config", ("all",)),
    ("raise, throw", "exception", ("all",)),
)


def coverage_rows() -> Iterator[tuple[str, list[str], list[str]]]:
    """Each framework with its languages and kinds, by name."""
    table: dict[str, tuple[set[str], set[str]]] = {}
    for framework, kind, languages in _entries():
        row = table.setdefault(framework, (set(), set()))
        row[0].update(languages)
        row[1].add(kind)
    for framework, (language_names, kinds) in sorted(table.items(), key=lambda item: item[0].lower()):
        yield framework, sorted(language_names), sorted(kinds)


def _entries() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for rule in built_in_rules():
        for name in {rule.framework, *(one.framework for one in rule.types.values())} - {""}:
            yield name, "endpoint", rule.languages
        if rule.middleware:
            yield rule.framework, "middleware", rule.languages
    for flow in flow_rules():
        yield flow.framework, "endpoint", flow.languages
    for annotation in annotation_rules():
        yield annotation.framework, "endpoint", annotation.languages
    for config in config_rules():
        yield config.framework, "config", config.languages
    for table in table_rules():
        yield table.framework, "table", table.languages
    for facts in fact_rules():
        for pattern in facts.facts:
            yield facts.framework, pattern.kind, facts.languages
    yield from _BY_CODE
