"""Adds a parameter to a function."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.c.operations._fragments import FRAMES
from codeplane.languages.c.operations._guards import keyword_error, lines_of, refuse_unsafe
from codeplane.languages.c.operations._signatures import (
    Signature,
    comments_above,
    refuse_counting,
    refuse_other_counts,
    signature_notes,
    signatures_of,
)
from codeplane.languages.c.operations._tokens import declaration_of, names_in
from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.fragments import fragment_node
from codeplane.languages.operations.signature_arguments import added_parameter, parameter_place_errors


def _check_places(arguments: Arguments) -> Sequence[str]:
    errors = parameter_place_errors(arguments)
    kind, name = arguments.text("type").strip(), arguments.text("name").strip()
    if error := keyword_error("name", name):
        errors.append(error)
    if kind == "void" or _declared_text(kind, name) is None:
        errors.append("`type`: send the type of one parameter, as `const char *` or `int (*)(int)`.")
    return errors


@operation(
    version=1,
    target="definition",
    arguments=added_parameter(position="first, or last, as by default", is_type_required=True),
    check_arguments=_check_places,
)
def add_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Adds a parameter to a function, in its definition and all its prototypes of the file.

    Calls stay as they are.
    """
    refuse_unsafe(source)
    name, kind = arguments.text("name").strip(), arguments.text("type").strip()
    text = _declared_text(kind, name)
    assert text is not None, "BUG: the arguments were not checked"
    signatures = signatures_of(source, match)
    main = signatures[0]
    refuse_other_counts(source, signatures)
    existing = main.index_of(name)
    if existing is not None:
        return _compare_existing(source, main, existing, text)
    index = _asked_index(main, arguments)
    notes = _body_notes(source, main, name)
    refuse_counting(source, signatures, index)
    edits = []
    for one in signatures:
        own = text if any(each.name for each in one.parameters) or not one.named else kind
        own = text if one is main or one.owner.type == "function_definition" else own
        edits += [one.items.replace(0, own)] if one.is_void else one.items.insert(_own_index(one, index), own)
    notes += signature_notes(source, match, signatures)
    comments = list(comments_above(source, signatures))
    if comments and not any(name in source.text(one) for one in comments):
        notes.append(f"The comment above describes parameters, and not `{name}`.")
    return Outcome(edits, notes)


def _own_index(signature: Signature, index: int) -> int:
    return 0 if signature.is_empty else index


def _declared_text(kind: str, name: str) -> str | None:
    """A type with a name in its place: `int (*cb)(int)` of `int (*)(int)`; None where it is no type."""
    node = fragment_node("c", FRAMES["type"], kind)
    if node is None or node.type != "parameter_declaration":
        return None
    start, text = node.start_byte, kind.encode()
    declarator = node.child_by_field_name("declarator")
    if declarator is not None and not declarator.type.startswith("abstract_"):
        return kind if _own_name(declarator) == name else None
    place, is_before = _name_place(node, declarator)
    head, tail = text[: place - start].decode(), text[place - start :].decode()
    is_tight = head.endswith(("(", " ")) or (head.endswith("*") and _is_spaced(head))
    joint = "" if is_tight else " "
    is_joined = is_before or not tail.strip() or tail.lstrip().startswith(")")
    return f"{head}{joint}{name}{tail}" if is_joined else f"{head}{joint}{name} {tail.strip()}"


def _is_spaced(head: str) -> bool:
    """Whether stars belong to the name, as in `char *`, `char *const *` and `int (*`."""
    bare = head.rstrip("*")
    return bare.endswith((" ", "("))


def _name_place(node: Node, declarator: Node | None) -> tuple[int, bool]:
    """The byte of a declaration at which its name goes, and whether the rest follows without a blank."""
    if declarator is None:
        kind = node.child_by_field_name("type")
        ends = [child.end_byte for child in node.children if child.type == "type_qualifier"]
        return max([kind.end_byte if kind is not None else node.end_byte, *ends]), False
    while True:
        inner = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if child.type.startswith("abstract_")), None
        )
        if inner is not None:
            declarator = inner
        elif declarator.type == "abstract_pointer_declarator":
            return declarator.end_byte, False
        else:
            return declarator.start_byte, True


def _own_name(declarator: Node) -> str:
    node: Node | None = declarator
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    return (node.text or b"").decode() if node is not None else ""


def _compare_existing(source: Source, main: Signature, index: int, text: str) -> Outcome:
    own = source.text(main.parameters[index].node)
    if "".join(own.split()) == "".join(text.split()):
        return Outcome()
    raise OperationRefused(f"The function has another parameter of that name: `{own}`.", main.declarator)


def _asked_index(main: Signature, arguments: Arguments) -> int:
    last = len(main.named)
    if arguments.optional("position") == "first":
        return 0
    for key, distance in (("after", 1), ("before", 0)):
        neighbour = arguments.optional(key)
        if neighbour is None:
            continue
        index = main.index_of(neighbour)
        if index is None:
            raise OperationRefused(f"The function has no parameter `{neighbour}`.", main.declarator)
        return index + distance
    return last


def _body_notes(source: Source, main: Signature, name: str) -> list[str]:
    """Refuses a name that the body uses for something else; what is said where nothing declares it."""
    body = main.owner.child_by_field_name("body")
    uses = (
        [one for one in names_in(source, body, name) if one.type in ("identifier", "type_identifier")]
        if body
        else []
    )
    if not uses:
        return []
    everywhere = [one for one in names_in(source, source.root, name) if one.type != "field_identifier"]
    is_type = any(one.type == "type_identifier" for one in uses)
    declarations = [one for one in everywhere if _is_visible(main, one)]
    if is_type or declarations:
        places = lines_of(source, [one.start_byte for one in uses])
        raise OperationRefused(
            f"The body means something else by `{name}`, at {places}; take another name.", main.owner
        )
    return [f"The body uses `{name}` already, at {lines_of(source, [one.start_byte for one in uses])}."]


def _is_visible(main: Signature, node: Node) -> bool:
    """Whether a name is declared by the function itself or by the file."""
    declaration = declaration_of(node)
    if declaration is None:
        return node.parent is not None and node.parent.type in ("preproc_def", "preproc_function_def")
    if declaration.type in ("parameter_declaration", "field_declaration"):
        return False
    is_inside = main.owner.start_byte <= node.start_byte < main.owner.end_byte
    parent = declaration.parent
    while parent is not None and parent.type != "compound_statement":
        parent = parent.parent
    return is_inside or parent is None
