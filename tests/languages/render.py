"""Facts as a person reads them: what a language case expects."""

from codeplane.languages import facts as f
from codeplane.languages.facts import Facts, Reason, Role, ScopeKind

_FLAGS = {
    f.FLAG_PRIVATE: "private",
    f.FLAG_STATIC: "static",
    f.FLAG_ABSTRACT: "abstract",
    f.FLAG_ASYNC: "async",
    f.FLAG_OVERRIDE: "override",
    f.FLAG_TEST: "test",
    f.FLAG_MORE: "more",
}


def render(facts: Facts) -> str:
    """Every fact, one to a line. `#2` is the bind or definition of that number."""
    parts = [f"state: {facts.state}" + (f" ({facts.reason})" if facts.reason else "")]
    parts += [f"package: {facts.package}"] if facts.package else []
    for title, lines in (
        ("scopes", _scopes(facts)),
        ("definitions", _definitions(facts)),
        ("binds", _binds(facts)),
        ("imports", _imports(facts)),
        ("exports", _exports(facts)),
        ("dynamic", _dynamics(facts)),
        ("written", [" ".join(facts.written)] if facts.written else []),
        ("names", _names(facts)),
    ):
        if lines:
            parts += [f"{title}:", *(f"  {line}" for line in lines)]
    return "\n".join(parts) + "\n"


def _sure(certain: bool) -> str:
    return "" if certain else " ?"


def _scopes(facts: Facts) -> list[str]:
    return [
        f"{at} {ScopeKind(scope.kind).name.lower()} {scope.span.start_line}-{scope.span.end_line}"
        f" in {scope.parent}"
        for at, scope in enumerate(facts.scopes)
        if at
    ]


def _definitions(facts: Facts) -> list[str]:
    lines = []
    for at, item in enumerate(facts.definitions):
        span = item.span
        line = f"#{at} {item.kind} {item.name} {span.start_line}:{span.start_column}"
        line += f"-{span.end_line}:{span.end_column} in scope {item.scope}"
        line += f" of #{item.parent}" if item.parent >= 0 else ""
        line += f" opens {item.body}" if item.body >= 0 else ""
        line += "".join(f" {word}" for flag, word in _FLAGS.items() if item.flags & flag)
        line += f" owner {item.owner}" if item.owner else ""
        line += f" bases {', '.join(item.bases)}" if item.bases else ""
        line += f" : {item.annotation}" if item.annotation else ""
        lines.append(line + (f" | {item.signature}" if item.signature else ""))
    return lines


def _binds(facts: Facts) -> list[str]:
    lines = []
    for at, bind in enumerate(facts.binds):
        what = Reason(bind.reason).name.lower()
        target = {Reason.DEF_IN_SCOPE: f" #{bind.target}", Reason.IMPORT_ALIAS: f" import {bind.target}"}
        line = (
            f"#{at} {bind.name} in {bind.scope} {what}{target.get(bind.reason, '')} {bind.line}:{bind.column}"
        )
        lines.append(line + (f" : {bind.type_name}" if bind.type_name else "") + _sure(bind.certain))
    return lines


def _imports(facts: Facts) -> list[str]:
    return [
        f"{at} {item.kind} {item.module!r} {item.name or '-'} as {item.alias or '-'} in {item.scope}"
        f" {item.line}:{item.column}{' reexport' if item.reexport else ''}{_sure(item.certain)}"
        for at, item in enumerate(facts.imports)
    ]


def _exports(facts: Facts) -> list[str]:
    return [
        item.name
        + (f" from {item.local or '-'}" if item.local != item.name else "")
        + f" {item.evidence}{_sure(item.certain)}"
        for item in facts.exports
    ]


def _dynamics(facts: Facts) -> list[str]:
    return [
        f"{item.pattern} {item.line}:{item.column} {' '.join(map(repr, item.literals))}".rstrip()
        + (" computed" if item.computed else "")
        for item in facts.dynamics
    ]


def _names(facts: Facts) -> list[str]:
    found = [(place.line, place.column, name, place) for name, place in facts.occurrences.all()]
    lines = []
    for line, column, name, place in sorted(found, key=lambda item: item[:3]):
        receiver = f"{facts.receivers[place.receiver - 1]} . " if place.receiver else ""
        arrow = f" -> #{place.target - 1}" if place.target else ""
        sure = "" if place.receiver or not place.target else _sure(facts.binds[place.target - 1].certain)
        role = Role(place.role).name.lower()
        lines.append(f"{line}:{column} {receiver}{name} {role} in {place.scope}{arrow}{sure}")
    return lines
