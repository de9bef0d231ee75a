"""All rules that count for a state of the code: those of CodePlane, and those of a trusted repository."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from codeplane.core.errors import PackInvalid
from codeplane.names import Codebase
from codeplane.storage.files import read_small
from codeplane.surfaces.annotated.rule import AnnotationRule, annotation_rules
from codeplane.surfaces.fact_rules import FactRule, fact_rules
from codeplane.surfaces.flow.rule import FlowRule, flow_rules
from codeplane.surfaces.kind_rules import ConfigRule, TableRule, config_rules, table_rules
from codeplane.surfaces.rule import Rule, built_in_rules
from codeplane.surfaces.rule_source import LOADERS

MOST_FILES: Final = 100
LARGEST_FILE: Final = 256 << 10


class RuleSet(NamedTuple):
    """Rules of every kind. Equal digests are equal rules."""

    endpoints: tuple[Rule, ...]
    flows: tuple[FlowRule, ...]
    annotations: tuple[AnnotationRule, ...]
    config: tuple[ConfigRule, ...]
    tables: tuple[TableRule, ...]
    facts: tuple[FactRule, ...]
    digest: str = ""


class RuleFile(BaseModel):
    """A file of rules of a repository: lists of rules by kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoints: tuple[Rule, ...] = ()
    flows: tuple[FlowRule, ...] = ()
    annotations: tuple[AnnotationRule, ...] = ()
    config: tuple[ConfigRule, ...] = ()
    tables: tuple[TableRule, ...] = ()
    facts: tuple[FactRule, ...] = ()


@cache
def built_in_set() -> RuleSet:
    """The rules that come with CodePlane."""
    return RuleSet(
        built_in_rules(), flow_rules(), annotation_rules(), config_rules(), table_rules(), fact_rules()
    )


def rules_of(code: Codebase) -> RuleSet:
    """The rules that count for a state."""
    return code.answers(LOADERS).get("", built_in_set)()


def read_rules(folder: Path) -> RuleSet:
    """The rules of CodePlane and of a folder, which the caller has made sure is trusted."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError:
        return built_in_set()
    if len(files) > MOST_FILES:
        raise PackInvalid(
            f"{folder} has {len(files)} files; at most {MOST_FILES} are read.", file=str(folder)
        )
    rules, digest = built_in_set(), hashlib.sha256()
    for file in files:
        text = _read_text(file)
        digest.update(f"{file.name}\0{len(text)}\0{text}".encode())
        rules = _joined(rules, _parsed(str(file), text))
    return rules._replace(digest=digest.hexdigest() if files else "")


def _joined(rules: RuleSet, more: RuleFile) -> RuleSet:
    return rules._replace(
        endpoints=rules.endpoints + more.endpoints,
        flows=rules.flows + more.flows,
        annotations=rules.annotations + more.annotations,
        config=rules.config + more.config,
        tables=rules.tables + more.tables,
        facts=rules.facts + more.facts,
    )


def _read_text(file: Path) -> str:
    data = read_small(file, LARGEST_FILE)
    if data is None:
        raise PackInvalid(f"{file}: not a plain file of at most {LARGEST_FILE} bytes.", file=str(file))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PackInvalid(f"{file}: not UTF-8.", file=str(file)) from error


@cache
def _parsed(label: str, text: str) -> RuleFile:
    """The rules of a file; `PackInvalid` with the line that is wrong."""
    from codeplane.core.yaml_text import parse_yaml, yaml_lines  # its parser takes long to load

    try:
        return RuleFile.model_validate(parse_yaml(text) or {})
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        first = min(
            errors, key=lambda one: one["type"] == "missing"
        )  # a misspelt field is one that is missing
        way = tuple(first["loc"])
        lines = yaml_lines(text)
        while way and way not in lines:
            way = way[:-1]
        line = lines.get(way, 1)
        where = ".".join(map(str, first["loc"]))
        raise PackInvalid(f"{label}:{line}: {where}: {first['msg']}.", file=label, line=line) from error
    except ValueError as error:
        raise PackInvalid(f"{label}: {error}.", file=label) from error
