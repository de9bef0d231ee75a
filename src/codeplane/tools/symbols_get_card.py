from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.annotations import (
    AnnotationRow,
    annotation_phrases,
    annotation_rows,
    thrown_exceptions,
)
from codeplane.answers.output import Output
from codeplane.answers.references import PossibleUses, counted, possible_text, possible_uses
from codeplane.core.places import Place
from codeplane.graph.card import Card, card_of
from codeplane.graph.hierarchy import Related
from codeplane.graph.places import place_of, position, qualified, short
from codeplane.graph.possible_uses import CERTAIN
from codeplane.graph.slices import dependents, used_imports, variables
from codeplane.jail import shown
from codeplane.names import DefFact, Snapshot
from codeplane.search.disambiguation import likeliest
from codeplane.session import Call
from codeplane.surfaces.definition_facts import DefinitionFacts
from codeplane.tools._parameters import SymbolName
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST_CALLS = 20
_MOST_MEMBERS = 60
_MOST_TESTS = 20
_MOST_TYPES = 12
_LONGEST_DOC = 1_500
_SHORT_DOC = 600
_MOST_SHOWN = 45
_MOST_POSSIBLE = 8
_FEW_TESTS = 5
_MOST_SLICED = 60
_DEPENDENTS_DEPTH = 3

Slice = Literal["def_use", "imports", "dependents"]


class SymbolsGetCardInput(Input):
    symbol: SymbolName
    slices: Annotated[list[Slice] | None, synonyms("include", "slice")] = Field(
        default=None,
        description="Also its variables, the imports it uses, who depends on it.",
        json_schema_extra=UNLISTED,
    )


class SymbolsGetCardOutput(Output):
    symbol: str = Field(description="Qualified name.")
    uid: str = Field(description="Stable id; it survives edits around the definition.")
    kind: str = Field(description="Kind of definition.")
    at: str = Field(description="`path:first-last`, the lines of the whole definition.")
    signature: str | None = Field(default=None, description="Header as written.")
    documentation: str | None = Field(default=None, description="Docstring or the comment above.")
    container: str | None = Field(default=None, description="Enclosing definition.")
    visibility: str = Field(description="`public` or `private`, by the language's own conventions.")
    traits: list[str] | None = Field(default=None, description="static, abstract, async, override, test.")
    bases: list[str] | None = Field(default=None, description="Classes that it extends or implements.")
    implements: list[str] | None = Field(
        default=None, description="Interfaces that it implements without naming them."
    )
    implemented_by: list[str] | None = Field(
        default=None, description="Types that implement it without naming it."
    )
    overrides: list[str] | None = Field(default=None, description="Members of bases that it replaces.")
    members: list[str] | None = Field(
        default=None, description="`line kind name [×overloads]` of what is inside."
    )
    calls: list[str] | None = Field(default=None, description="`tier name path:line` of what it calls.")
    facts: list[AnnotationRow] | None = Field(
        default=None,
        description="What frameworks mean here: endpoints, keys, tables, middleware, messages, retries…",
    )
    thrown_exceptions: list[str] | None = Field(default=None, description="What it raises itself.")
    callers: dict[str, int] | None = Field(default=None, description="Calls to it by tier.")
    possible_callers: list[PossibleUses] | None = Field(
        default=None, description="Possible calls, by receiver."
    )
    references: dict[str, int] | None = Field(default=None, description="References to it by tier.")
    tests: list[str] | None = Field(default=None, description="Test files that certainly refer to it.")
    def_use: list[str] | None = Field(
        default=None, description="`name defined lines used lines`, with `def→use` pairs by position."
    )
    imports: list[str] | None = Field(default=None, description="`line name = module.name → where`.")
    dependents: list[str] | None = Field(
        default=None, description="`depth kind tier from → to` of what certainly refers to it, three levels."
    )
    more: dict[str, int] | None = Field(default=None, description="What was left out of the lists.")

    def render(self) -> str:
        marks = [*([] if self.visibility == "public" else [self.visibility]), *(self.traits or ())]
        lines = [" ".join([*marks, self.kind, self.symbol, f"({self.at})"])]
        lines += [self.signature] if self.signature else []
        lines += [_cut(self.documentation, _SHORT_DOC)] if self.documentation else []
        lines += [f"extends: {', '.join(map(_without_tier, self.bases))}"] if self.bases else []
        for name in ("implements", "implemented_by"):
            if some := getattr(self, name):
                left = (self.more or {}).get(name, 0)
                text = ", ".join([*some, *([f"{left} more"] if left > 0 else [])])
                lines.append(f"{name.replace('_', ' ')}: {text}")
        lines += [f"overrides: {', '.join(map(_without_tier, self.overrides))}"] if self.overrides else []
        lines += [f"{word}: {text}" for word, text in annotation_phrases(self.facts or ())]
        lines += self._members_text()
        lines += self._calls_text()
        lines += self._uses_text()
        for name in ("def_use", "imports", "dependents"):
            lines += [f"{name}:", *some] if (some := getattr(self, name)) else []
        return "\n".join(lines)

    def _members_text(self) -> list[str]:
        kinds: dict[str, list[str]] = {}
        for member in (self.members or [])[:_MOST_SHOWN]:
            line, kind, name = member.split(" ", 2)
            kinds.setdefault(kind, []).append(f"{name}:{line}")
        lines = [f"{kind}: {', '.join(some)}" for kind, some in kinds.items()]
        left = len(self.members or ()) - _MOST_SHOWN + (self.more or {}).get("members", 0)
        return [*lines, f"{left} more members"] if left > 0 else lines

    def _calls_text(self) -> list[str]:
        files: dict[str, list[str]] = {}
        exceptions = {text.rpartition(".")[2] for text in self.thrown_exceptions or ()}
        for entry in self.calls or ():
            name, at = _without_tier(entry).rsplit(" ", 1)
            path, _, line = at.rpartition(":")
            if name in exceptions:
                continue  # said above
            files.setdefault(path, []).append(f"{name}:{line}")
        calls = [f"  {path}: {', '.join(names)}" for path, names in files.items()]
        left = (self.more or {}).get("calls", 0)
        calls += [f"  {left} more"] if left else []
        return ["calls:", *calls] if calls else []

    def _uses_text(self) -> list[str]:
        callers, possible = self.callers or {}, self.possible_callers or ()
        lines = [f"callers: {counted(callers, {})}"] if callers else []
        lines += possible_text(possible, sum(map(callers.get, ("anchored", "unknown"), (0, 0))), "calls")
        lines += [f"references: {counted(self.references, {})}"] if self.references else []
        tests = [*(self.tests or ())]
        left = len(tests) - _FEW_TESTS + (self.more or {}).get("tests", 0)
        more = f" and {left} more" if left > 0 else ""
        return [*lines, f"tests: {', '.join(tests[:_FEW_TESTS])}{more}"] if tests else lines


@tool(Effect.READ, "symbols", standard=True)
def symbols_get_card(call: Call, args: SymbolsGetCardInput) -> SymbolsGetCardOutput:
    """Shows what a symbol is: signature, documentation, members, calls, callers, tests.

    Use when:
    - you want to know a function or class before you read or change it
    Not for:
    - its source text (use `read_source`) or each reference (use `refs_find`)
    Examples:
    - By the end of its qualified name: {"symbol": "Model.save"}
    - By where it is defined: {"symbol": "app/models.py:12"}
    - With its variables: {"symbol": "app.views.index", "slices": ["def_use", "imports"]}
    """
    return call.ask(lambda snapshot: _make_output(call, snapshot, args))


def _make_output(call: Call, snapshot: Snapshot, args: SymbolsGetCardInput) -> SymbolsGetCardOutput:
    choice = likeliest(snapshot, args.symbol)
    call.warn(choice.note(args.symbol))
    card = card_of(snapshot, choice.definition, _MOST_CALLS)
    definition = card.definition
    call.instead_of_files(snapshot, [definition.path])
    slices = args.slices or []
    facts = DefinitionFacts(snapshot, is_local=True).at(place_of(definition))
    span = definition.span
    members = _members(snapshot, card.members)
    left_out = {
        "members": len(members) - _MOST_MEMBERS,
        "tests": len(card.tests) - _MOST_TESTS,
        "calls": card.more_calls,
        "implements": len(card.implements) - _MOST_TYPES,
        "implemented_by": len(card.implemented_by) - _MOST_TYPES,
    }
    return SymbolsGetCardOutput(
        symbol=shown(snapshot.qualified_name(definition.path, definition.position)),
        uid=snapshot.uid(definition.path, definition.position),
        kind=definition.kind,
        at=f"{shown(definition.path)}:{span.start_line}-{span.end_line}",
        signature=shown(definition.signature) or None,
        documentation=_cut(card.documentation, _LONGEST_DOC) or None,
        container=qualified(snapshot, card.container) if card.container else None,
        visibility=card.visibility,
        traits=card.traits or None,
        bases=[_related(snapshot, one) for one in card.bases] or None,
        implements=_render_types(snapshot, card.implements) or None,
        implemented_by=_render_types(snapshot, card.implemented_by) or None,
        overrides=[_related(snapshot, one) for one in card.overrides] or None,
        members=members[:_MOST_MEMBERS] or None,
        calls=_calls(snapshot, card) or None,
        facts=annotation_rows(facts) or None,
        thrown_exceptions=thrown_exceptions(facts) or None,
        callers={tier.value: count for tier, count in card.callers.items()} or None,
        possible_callers=possible_uses(snapshot, card.possible, _MOST_POSSIBLE) or None,
        references={tier.value: count for tier, count in card.references.items()} or None,
        tests=[shown(path) for path in card.tests[:_MOST_TESTS]] or None,
        def_use=_render_variables(snapshot, definition) if "def_use" in slices else None,
        imports=_imports(snapshot, definition) if "imports" in slices else None,
        dependents=_render_dependents(snapshot, definition) if "dependents" in slices else None,
        more={name: count for name, count in left_out.items() if count > 0} or None,
    )


def _render_types(snapshot: Snapshot, types: Sequence[Related]) -> list[str]:
    """`name (path:line)` of the first, with what is only told by their methods."""
    places = [(one.place, one.tier) for one in types[:_MOST_TYPES] if one.place is not None]
    marks = {True: "", False: ", by its methods"}
    return [
        f"{short(snapshot, place)} ({position(snapshot, place)}{marks[tier in CERTAIN]})"
        for place, tier in places
    ]


def _related(snapshot: Snapshot, one: Related) -> str:
    if one.place is None:
        return shown(one.name)
    return f"{one.tier} {qualified(snapshot, one.place)} {position(snapshot, one.place)}"


def _members(snapshot: Snapshot, places: Sequence[Place]) -> list[str]:
    """A line for each member; overloads and the parts of a property are one."""
    alike: dict[Place, int] = {}
    for place in places:
        facts = snapshot.require_facts(place.path)
        first = Place(place.path, facts.group(place.definition)[0])
        alike[first] = alike.get(first, 0) + 1
    lines = []
    for place, count in alike.items():
        item = snapshot.definition(place).item
        times = f" ×{count}" if count > 1 else ""
        lines.append(f"{item.name_line} {item.kind} {shown(item.name)}{times}")
    return lines


def _calls(snapshot: Snapshot, card: Card) -> list[str]:
    return [f"{tier} {short(snapshot, place)} {position(snapshot, place)}" for place, tier in card.calls]


def _render_variables(snapshot: Snapshot, definition: DefFact) -> list[str]:
    lines = []
    for one in variables(snapshot, definition)[:_MOST_SLICED]:
        flow = " ".join(
            f"{definition_line}→{use_line}" for definition_line, use_line in one.flow[:_MOST_SLICED]
        )
        kind = "parameter " if one.is_parameter else ""
        definitions, uses = _render_numbers(one.definition_lines), _render_numbers(one.use_lines)
        lines.append(f"{kind}{shown(one.name)} defined {definitions} used {uses} {flow}")
    return [text.rstrip() for text in lines]


def _render_numbers(lines: Sequence[int]) -> str:
    return ",".join(map(str, lines[:_MOST_SLICED])) or "-"


def _imports(snapshot: Snapshot, definition: DefFact) -> list[str]:
    lines = []
    for one in used_imports(snapshot, definition)[:_MOST_SLICED]:
        item = one.item
        source = f"{item.module}.{item.name}" if item.name else item.module
        where = f" → {position(snapshot, one.target[0])}" if one.target else ""
        lines.append(f"{item.line} {shown(item.alias or item.name or item.module)} = {shown(source)}{where}")
    return lines


def _render_dependents(snapshot: Snapshot, definition: DefFact) -> list[str]:
    return [
        f"{one.depth} {one.kind} {one.tier} {qualified(snapshot, one.source)} → {short(snapshot, one.target)}"
        for one in dependents(snapshot, definition, _DEPENDENTS_DEPTH, _MOST_SLICED)
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _without_tier(text: str) -> str:
    """`tier name path:line` without the tier, where that is certain."""
    tier, _, rest = text.partition(" ")
    return rest if tier in CERTAIN else text
