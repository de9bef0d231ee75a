"""Renames a definition, a variable or a parameter in its file."""

import re
import unicodedata
from collections.abc import Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Facts, ScopeKind
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.addresses import find_definitions
from codeplane.languages.operations.bindings import bind_at, facts_of, lines_of, refuse_collisions, uses_of
from codeplane.languages.python.operations._guards import refuse_unsafe
from codeplane.languages.python.operations._members import member_uses
from codeplane.languages.python.operations._occurrences import dynamic_reads

_DUNDER = re.compile(r"__\w+__\Z")


def _check_name(arguments: Arguments) -> Sequence[str]:
    new = arguments.text("to").strip()
    if unicodedata.normalize("NFKC", new) != new:
        return [f"`to`: Python reads {new!r} as {unicodedata.normalize('NFKC', new)!r}; send that."]
    return ["`to`: names with two underscores on both sides are Python's own."] if _DUNDER.match(new) else []


def _is_done(source: Source, target: str, arguments: Arguments) -> bool:
    head, separator, _ = target.rpartition(".")
    return bool(find_definitions(source, head + separator + arguments.text("to")))


@operation(
    version=1,
    target="definition",
    arguments=(Argument("to", "name", "the new name", is_required=True),),
    check_arguments=_check_name,
    is_done=_is_done,
)
def rename_symbol(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Renames a definition, a variable, a parameter or an import in its file.

    Every place of the file that means it by its scope changes; refused where a place may mean it or not.
    """
    new = arguments.text("to").strip()
    refuse_unsafe(source, new)
    node = match.captures["name"][0]
    old = source.text(node)
    if old == new:
        return Outcome()
    facts = facts_of(source)
    bind = bind_at(source, facts, node)
    if bind is None:
        raise OperationRefused(f"What `{old}` means can't be told.", node)
    _refuse_special(source, facts, old, new)
    refuse_collisions(source, facts, bind, new)
    is_member = facts.scopes[facts.binds[bind].scope].kind is ScopeKind.CLASS
    places = member_uses(source, facts, bind) if is_member else uses_of(source, facts, old, bind)
    _refuse_dynamic(source, facts, bind, node)
    places += _keyword_uses(source, facts, node, old)
    edits = [_edit_at(source, place, old, new) for place in sorted(set(places))]
    return Outcome(edits, _rename_notes(source, facts, bind, places))


def _refuse_special(source: Source, facts: Facts, old: str, new: str) -> None:
    if _DUNDER.match(old):
        raise OperationRefused(f"`{old}` has its meaning by its name.")
    if old.startswith("__") != new.startswith("__"):
        raise OperationRefused(
            "Two underscores before a name make it private to its class; keep them or leave them."
        )
    normal = unicodedata.normalize("NFKC", old)
    alike = [
        one for one in facts.occurrences.texts if one != old and unicodedata.normalize("NFKC", one) == normal
    ]
    if alike:
        raise OperationRefused(
            f"The file spells `{old}` also as `{alike[0]}`, which Python takes for the same name."
        )
    mangled_name = re.compile(rb"\b_\w+?" + old.encode("utf-8", "surrogateescape") + rb"\b")
    if old.startswith("__") and (place := mangled_name.search(source.data)):
        raise OperationRefused(f"Line {source.line_of(place.start())} spells `{old}` as Python mangles it.")


def _refuse_dynamic(source: Source, facts: Facts, bind: int, node: Node) -> None:
    """Refuses names that code asks for by their text."""
    old, scope = facts.binds[bind].name, facts.scopes[facts.binds[bind].scope]
    places = [source.line_offset(one.line) + one.column for one in facts.dynamics if old in one.literals]
    if places:
        raise OperationRefused(f"The code asks for `{old}` by its text at {lines_of(source, places)}.", node)
    if scope.kind is ScopeKind.FUNCTION:
        body = _function_around(node)
        reads = list(dynamic_reads(source, facts, body)) if body is not None else []
        if reads:
            raise OperationRefused(
                f"The function reads its variables without naming them at {lines_of(source, reads)}.", node
            )


def _function_around(node: Node) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type != "function_definition":
        parent = parent.parent
    return parent


def _keyword_uses(source: Source, facts: Facts, node: Node, old: str) -> list[int]:
    """The keywords at calls of the function whose parameter it is; refused where a call may be another's."""
    function = _parameter_function(node)
    name = function.child_by_field_name("name") if function is not None else None
    if name is None:
        return []
    own, text = bind_at(source, facts, name), source.text(name)
    places, unclear = [], []
    for keyword, callee in _keyword_arguments(source, old):
        if callee.type == "identifier" and source.text(callee) == text and own is not None:
            places += [keyword.start_byte] if bind_at(source, facts, callee) == own else []
        elif callee.type == "attribute" and source.text(callee).rpartition(".")[2] == text:
            unclear.append(keyword.start_byte)
    if unclear:
        raise OperationRefused(f"`{old}=` at {lines_of(source, unclear)} may be this parameter or not.", node)
    return places


def _parameter_function(node: Node) -> Node | None:
    parent = node.parent
    while parent is not None and parent.type not in ("parameters", "lambda_parameters", "block", "module"):
        parent = parent.parent
    return parent.parent if parent is not None and parent.type == "parameters" else None


def _keyword_arguments(source: Source, name: str) -> list[tuple[Node, Node]]:
    """The keywords of a name at calls, and what is callee."""
    result, waiting = [], [source.root]
    while waiting:
        node = waiting.pop()
        waiting += node.named_children
        if node.type != "keyword_argument" or node.parent is None or node.parent.parent is None:
            continue
        keyword = node.child_by_field_name("name")
        callee = node.parent.parent.child_by_field_name("function")
        if keyword is not None and callee is not None and source.text(keyword) == name:
            result.append((keyword, callee))
    return result


def _edit_at(source: Source, place: int, old: str, new: str) -> TextEdit:
    """One name replaced; `import a` becomes `import a as b`."""
    size = len(old.encode("utf-8", "surrogateescape"))
    node = source.root.descendant_for_byte_range(place, place + size)
    dotted_name = node.parent if node is not None and node.parent is not None else None
    outer = dotted_name.parent if dotted_name is not None and dotted_name.type == "dotted_name" else None
    if (
        dotted_name is None
        or outer is None
        or not outer.type.endswith(("import_statement", "from_statement"))
    ):
        return source.replace(place, place + size, new)
    if dotted_name.child_count > 1:
        raise OperationRefused(
            f"`{source.text(dotted_name)}` is imported with its dots, so it has no name to change.",
            dotted_name,
        )
    return source.insert(place + size, f" as {new}")


def _rename_notes(source: Source, facts: Facts, bind: int, places: Sequence[int]) -> list[str]:
    name, scope = facts.binds[bind].name, facts.scopes[facts.binds[bind].scope]
    notes = []
    if scope.kind in (ScopeKind.FILE, ScopeKind.CLASS) and not name.startswith("_"):
        notes.append(f"Only this file changes; others may use `{name}`.")
    word = re.compile(rb"\b" + re.escape(name.encode("utf-8", "surrogateescape")) + rb"\b")
    occurrences = set(facts.occurrences.starts_of(name)) | set(places)
    texts = [one.start() for one in word.finditer(source.data) if one.start() not in occurrences]
    if texts:
        notes.append(f"Texts or comments name `{name}` at {lines_of(source, texts)}.")
    expressions = [one for one in places if source.data[one + len(name) : one + len(name) + 1] == b"="]
    if any(_is_interpolated(source, one) for one in expressions):
        notes.append("A formatted string prints the name itself.")
    return notes


def _is_interpolated(source: Source, place: int) -> bool:
    node = source.root.descendant_for_byte_range(place, place)
    return node is not None and node.parent is not None and node.parent.type == "interpolation"
