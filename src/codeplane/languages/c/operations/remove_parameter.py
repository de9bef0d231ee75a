"""Removes a parameter of a function."""

from collections.abc import Sequence

from codeplane.core.edits import TextEdit
from codeplane.languages.c.operations._directives import Preprocessed
from codeplane.languages.c.operations._guards import lines_of, refuse_unsafe
from codeplane.languages.c.operations._signatures import (
    Signature,
    comments_above,
    refuse_counting,
    refuse_other_counts,
    signature_notes,
    signatures_of,
)
from codeplane.languages.c.operations._tokens import macros_in, mentions, names_in
from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.signature_arguments import removed_parameter


@operation(
    version=1,
    target="definition",
    arguments=removed_parameter(),
)
def remove_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes a parameter of a function, in its definition and all its prototypes of the file.

    The last one leaves `(void)`. Calls stay as they are.
    """
    refuse_unsafe(source)
    name = arguments.text("name").strip()
    signatures = signatures_of(source, match)
    main = next((one for one in signatures if one.index_of(name) is not None), None)
    if main is None:
        if signatures[0].named and not any(one.name for one in signatures[0].named):
            raise OperationRefused("The parameters of the prototype have no names.", match.node)
        return Outcome()
    signatures = [main, *(one for one in signatures if one is not main)]
    index = main.index_of(name)
    assert index is not None, "BUG: a parameter that went"
    refuse_other_counts(source, signatures)
    refuse_counting(source, signatures, index)
    _refuse_last(main)
    if not arguments.flag("force"):
        for one in signatures:
            _refuse_used(source, one, name, index)
    edits: list[TextEdit] = []
    notes: list[str] = []
    for one in signatures:
        outcome = _remove_from(source, one, index)
        edits += outcome.edits
        notes += outcome.notes
    notes += signature_notes(source, match, signatures)
    notes += [
        f"The comment at line {source.line_of(one.start_byte)} describes `{name}`."
        for one in comments_above(source, signatures)
        if mentions(source.text(one), name)
    ]
    return Outcome(edits, notes)


def _refuse_last(main: Signature) -> None:
    if len(main.named) == 1 and len(main.parameters) > 1:
        raise OperationRefused("Nothing but `...` would be left, which C does not take.", main.declarator)


def _remove_from(source: Source, signature: Signature, index: int) -> Outcome:
    if signature.is_empty:
        return Outcome()
    if len(signature.parameters) > 1:
        return signature.items.remove([index])
    outcome = signature.items.remove([index])
    item = signature.items.items[0]
    if len(item.lead) + len(item.tail) or signature.items.comments:
        return Outcome([signature.items.replace(0, "void")])
    opening, closing = signature.items.opening, signature.items.closing
    assert opening is not None and closing is not None, "BUG: parameters without brackets"
    return Outcome([source.replace(opening.end_byte, closing.start_byte, "void")], outcome.notes)


def _refuse_used(source: Source, signature: Signature, name: str, index: int) -> None:
    parameter = signature.parameters[index] if signature.parameters else None
    name = parameter.name if parameter is not None and parameter.name else name
    body = signature.owner.child_by_field_name("body")
    uses = (
        [one.start_byte for one in names_in(source, body, name) if one.type == "identifier"] if body else []
    )
    uses += _other_uses(source, signature, name, index)
    if not uses and body is not None:
        macros = [one for one in macros_in(Preprocessed(source)) if mentions(one.body, name)]
        uses = [use.start_byte for one in macros for use in names_in(source, body, one.name)]
    if uses:
        raise OperationRefused(
            f"The function uses `{name}` at {lines_of(source, uses)}; change that first, or send `force`.",
            signature.declarator,
        )


def _other_uses(source: Source, signature: Signature, name: str, index: int) -> Sequence[int]:
    """Where other parameters use one: `n` in `int n, int a[n]`."""
    return [
        node.start_byte
        for at, one in enumerate(signature.parameters)
        if at != index
        for node in names_in(source, one.node, name)
    ]
