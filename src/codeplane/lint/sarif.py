"""Commands of the user's that print SARIF 2.1: any linter that is not known here."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from codeplane.config.settings import CustomLinter
from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding, Unit
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import Json, items, mapping, number, object_of, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

FILES: Final = "{files}"
# Results of these kinds are no problems.
_GOOD: Final = ("pass", "notApplicable", "open", "informational")


class Custom(Linter):
    """A configured command; where it has an argument `{files}`, it gets files there."""

    def __init__(self, said: CustomLinter) -> None:
        self.name = said.name
        self.program = said.cmd[0]
        self.globs = said.paths
        self.timeout_sec = said.timeout_sec
        self.install = f"Install {said.cmd[0]}, or take it out of lint.custom."
        self._arguments = said.cmd[1:]
        self.is_whole = FILES not in said.cmd

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(RepoPath(""), "lint.custom")]

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()]
        arguments = [one for part in self._arguments for one in (names if part == FILES else [part])]
        return Command((str(self.at(place, project)), *arguments), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return sarif_findings(object_of(finished.stdout))


def sarif_findings(document: Json) -> list[Finding]:
    """The results of all runs that are problems, at their first places."""
    return [
        _parse_finding(run, result)
        for run in items(document.get("runs"))
        for result in items(run.get("results"))
        if result.get("kind") not in _GOOD and not result.get("suppressions")
    ]


def _parse_finding(run: Json, result: Json) -> Finding:
    where = mapping((items(result.get("locations")) or [{}])[0].get("physicalLocation"))
    region = mapping(where.get("region"))
    rule = _find_rule(run, result)
    line = number(region.get("startLine"))
    column = number(region.get("startColumn"))
    # An end that is not said is the end of the line, or of the first line.
    end = number(region.get("endColumn"))
    unit: Unit = "points" if run.get("columnKind") == "unicodeCodePoints" else "utf16"
    default = mapping(rule.get("defaultConfiguration")).get("level", "warning")
    return Finding(
        _location_path(run, mapping(where.get("artifactLocation"))),
        line,
        column,
        _message_text(result, rule),
        word(result.get("ruleId")) or word(rule.get("id")),
        severity_of(result.get("level", default), "warning"),
        (number(region.get("endLine")) or line) if end else 0,
        end,
        unit=unit,
    )


def _find_rule(run: Json, result: Json) -> Json:
    rules = items(mapping(mapping(run.get("tool")).get("driver")).get("rules"))
    at, rule_id = result.get("ruleIndex"), result.get("ruleId")
    if isinstance(at, int) and 0 <= at < len(rules):
        return rules[at]
    return next((rule for rule in rules if rule.get("id") == rule_id), {})


def _message_text(result: Json, rule: Json) -> str:
    """The text, or that of the rule with its placeholders filled in."""
    message = mapping(result.get("message"))
    text = word(message.get("text")) or word(message.get("markdown"))
    if text:
        return text
    strings = mapping(rule.get("messageStrings"))
    text = word(mapping(strings.get(word(message.get("id")))).get("text"))
    arguments = message.get("arguments")
    for at, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        text = text.replace(f"{{{at}}}", str(argument))
    return text or word(mapping(rule.get("shortDescription")).get("text"))


def _location_path(run: Json, location: Mapping[str, object]) -> str:
    """The file of a location; its base may be given elsewhere."""
    uri = word(location.get("uri"))
    bases = mapping(run.get("originalUriBaseIds"))
    base = word(mapping(bases.get(word(location.get("uriBaseId")))).get("uri"))
    parts = urlsplit(base + uri if base and not urlsplit(uri).scheme else uri)
    return unquote(parts.path) if parts.scheme in ("", "file") else uri
