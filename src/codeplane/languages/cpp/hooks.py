"""What queries cannot say: templates around what they declare, friends, access, overloads, nested namespaces,
and the paths in `using`.
"""

import re
from collections.abc import Iterable

from tree_sitter import Node

from codeplane.languages.c import hooks as c
from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.outline import Draft, Outline
from codeplane.languages.facts import ScopeKind

raw_names = c.raw_names

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_INCLUDE = re.compile(rb"#[ \t]*include[ \t]*(<[^>\n]+>|\"[^\"\n]+\")")
_USING = re.compile(
    rb"using\s+(?P<space>namespace\s+)?(?:typename\s+)?(?:::\s*)?(?P<path>[\w\x80-\xff:\s]+);"
)
_ALIAS = re.compile(rb"namespace\s+(?P<alias>\w+)\s*=\s*(?:::\s*)?(?P<path>[\w\x80-\xff:\s]+);")
_FUNCTIONS = ("function", "method", "constructor")
_TEMPLATED = frozenset(
    "class_specifier struct_specifier union_specifier function_definition declaration alias_declaration "
    "concept_definition".split()
)
_HEADER = 2_000  # bytes of a parameter list that are compared
_MOST_PARAMETERS = 100
_WORD = re.compile(rb"[\w\x80-\xff]+|::|<|>|[&*\[\]()]|\.\.\.|=")
_QUALIFIERS = frozenset(b"const volatile struct class enum union typename register".split())
_BUILTIN = frozenset(b"int char short long float double bool void unsigned signed auto wchar_t".split())
_WRAPPERS = 10


def adjust_captures(found: dict[str, list[Node]], _data: bytes, _root: Node) -> None:
    """Puts the captures of C right where C++ differs."""
    local = {node.id for node in found.get("hook.local", ())}
    methods = {node.id for node in found.get("hook.method", ())}
    lambdas = {node.id for node in found.get("hook.lambda", ())}
    _leave_out(found, "definition.function.forward", local)
    _leave_out(found, "definition.field", methods)
    _leave_out(found, "scope.function", lambdas)
    names = [name for node in found.get("hook.local", ()) if (name := _declared_name(node))]
    found.setdefault("bind.local", []).extend(names)
    found.setdefault("doubt", []).extend(names)
    _leave_out(found, "name", {name.id for name in names})
    _open_inline_namespaces(found)
    _split_qualified_names(found)
    _scope_templates(found)
    _mark_access(found)


def _leave_out(found: dict[str, list[Node]], capture: str, left_out: set[int]) -> None:
    if left_out and capture in found:
        found[capture] = [node for node in found[capture] if node.id not in left_out]


def _declared_name(node: Node | None) -> Node | None:
    """The name in a declarator."""
    for _ in range(_WRAPPERS):
        node = _inner_declarator(node) if node else None
        if node and node.type == "identifier":
            return node
    return None


def _open_inline_namespaces(found: dict[str, list[Node]]) -> None:
    """Names of an inline namespace are those of the namespace around it."""
    inline = [node for node in found.get("hook.namespace", ()) if node.children[0].type == "inline"]
    ids = {node.id for node in inline}
    _leave_out(found, "definition.namespace.more", ids)
    _leave_out(found, "scope.namespace", ids)
    _leave_out(found, "name", {name.id for node in inline if (name := node.child_by_field_name("name"))})


def _split_qualified_names(found: dict[str, list[Node]]) -> None:
    """`T::f` is named `f` and belongs to `T`."""
    for node in [*found.get("definition.function", ()), *found.get("definition.function.forward", ())]:
        inner: Node | None = node
        for _ in range(_WRAPPERS):
            inner = _inner_declarator(inner) if inner and inner.type != "qualified_identifier" else inner
        owner = inner.child_by_field_name("scope") if inner else None
        for _ in range(_WRAPPERS):
            if inner and inner.type == "qualified_identifier":
                inner = inner.child_by_field_name("name")
        if (
            owner
            and inner
            and inner.type in ("identifier", "destructor_name", "operator_name", "operator_cast")
        ):
            found.setdefault("extended", []).append(owner)
            found.setdefault("scope.outer", []).append(owner)
            found.setdefault("name", []).append(inner)


def _inner_declarator(node: Node) -> Node | None:
    """The declarator in a declarator; that of a reference has no field."""
    inner = node.child_by_field_name("declarator")
    if inner is None and node.type == "reference_declarator":
        inner = node.named_children[-1] if node.named_children else None
    return inner


def _scope_templates(found: dict[str, list[Node]]) -> None:
    """What a template declares begins with its parameters, which are names of it."""
    around: dict[int, Node] = {}
    kinds = {
        node.id: capture for capture in found if capture.startswith("definition.") for node in found[capture]
    }
    for node in sorted(found.get("hook.template", ()), key=lambda node: node.start_byte):
        outer = around.get(node.id, node)
        inner = next((child for child in node.named_children if child.type in _TEMPLATED), None)
        inner_template = next(
            (child for child in node.named_children if child.type == "template_declaration"), None
        )
        if inner_template:
            around[inner_template.id] = outer
        elif inner and inner.id in kinds:
            around[inner.id] = outer
            if kinds[inner.id] not in ("definition.function", "definition.class", "definition.struct"):
                found.setdefault("scope.function", []).append(outer)
        else:
            # A variable, a friend: its parameters would be names of the scope around.
            found.setdefault("scope.unknown", []).append(outer)
    if around:
        for capture in found:
            if capture.startswith("definition.") or capture in ("scope.class", "scope.function"):
                found[capture] = [around.get(node.id, node) for node in found[capture]]


def _mark_access(found: dict[str, list[Node]]) -> None:
    """Marks what is private, and what is `static` in a class, which says nothing about the file."""
    statics: list[Node] = []
    private: list[Node] = []
    in_class: set[int] = set()
    for capture, is_private in (("hook.class", True), ("hook.struct", False)):
        for body in found.get(capture, ()):
            is_hidden = is_private
            for member in body.named_children:
                if member.type == "access_specifier":
                    is_hidden = member.text == b"private"
                elif is_hidden and member.child_count:
                    private += member.children[:1]
                in_class |= {node.id for node in _static_specifiers(member)}
    for node in found.get("modifier.private", ()):
        (statics if node.id in in_class else private).append(node)
    found["modifier.private"] = private
    found.setdefault("modifier.static", []).extend(statics)


def _static_specifiers(member: Node) -> Iterable[Node]:
    """The `static` of a member."""
    if member.type == "template_declaration":
        member = member.named_children[-1]
    for child in member.children:
        if child.type == "storage_class_specifier":
            yield from child.children


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Kinds of functions, nested namespaces, and doubt about overloads."""
    c.reshape_outline(outline, data)
    groups: dict[tuple[int, bytes], list[Draft]] = {}
    for draft in list(outline.drafts):
        if draft.kind == "namespace":
            _nest_namespaces(outline, draft, data)
        elif draft.kind in _FUNCTIONS and draft.name[0] >= 0:
            _reshape_function(outline, draft, data)
            if draft.name[0] >= 0 and draft.owner[0] < 0:
                groups.setdefault((draft.scope, data[slice(*draft.name)]), []).append(draft)
    for drafts in groups.values():
        if len(drafts) > 1 and len({_parameter_types(draft, data) for draft in drafts}) > 1:
            for draft in drafts:
                draft.forward = draft.opens_group = draft.more = False
                draft.doubtful = True


def _reshape_function(outline: Outline, draft: Draft, data: bytes) -> None:
    name = data[slice(*draft.name)]
    if data[max(0, draft.start - 40) : draft.start].rstrip().endswith(b"friend"):
        _move_friend_out(outline, draft)
        return
    if draft.owner[0] >= 0:
        draft.kind = "method"
        path = data[draft.owner[0] : draft.name[0]].rstrip(b": \t\r\n")
        if name.startswith(b"~"):
            path = path.rstrip(b"~: \t\r\n")
        draft.owner = (draft.owner[0], draft.owner[0] + len(path))
        if b">" in path.rstrip(b">") or path.count(b"<") != path.count(b">"):
            last = path.rfind(b"::") + 2
            draft.owner = (draft.owner[0] + last, draft.owner[1])
        head = path.partition(b"<")[0] if path.endswith(b">") else path
        if head.rpartition(b"::")[2].strip() == name:
            draft.kind = "constructor"
    elif draft.kind == "method" and draft.parent >= 0:
        holder = outline.drafts[draft.parent]
        names = (data[slice(*holder.name)], data[slice(*holder.owner)] if holder.owner[0] >= 0 else b"")
        if name in names:
            draft.kind = "constructor"


def _move_friend_out(outline: Outline, draft: Draft) -> None:
    """A friend is a function outside of the class; one without a body is only mentioned."""
    if draft.forward:
        draft.name = (-1, -1)
        return
    draft.kind = "function"
    while outline.kinds[draft.scope] == ScopeKind.CLASS:
        draft.scope = outline.parents[draft.scope]
        draft.parent = outline.drafts[draft.parent].parent if draft.parent >= 0 else -1


def _nest_namespaces(outline: Outline, draft: Draft, data: bytes) -> None:
    """`namespace a::b` is a namespace in a namespace. Its own name is no name of the scope around."""
    names = [match.span() for match in _NAME.finditer(data, *draft.name)] if draft.name[0] >= 0 else []
    parent = draft.parent
    for span in names[:-1]:
        outer = Draft("namespace.more", draft.start, draft.end, draft.scope, parent)
        outer.name, outer.body_start = span, draft.body_start
        outer.doubtful = parent != draft.parent
        parent = len(outline.drafts)
        outline.drafts.append(outer)
    if len(names) > 1:
        draft.name, draft.parent, draft.doubtful = names[-1], parent, True


def _parameter_types(draft: Draft, data: bytes) -> tuple[object, ...]:
    """What tells a function from others of its name: the types of its parameters as far as they are written
    the same, `const` after them, and whether it is a template."""
    end = draft.body_start if draft.body_start >= 0 else draft.end
    header = data[draft.name[1] : min(end, draft.name[1] + _HEADER)]
    depth = 0
    parts: list[list[bytes]] = [[]]
    for match in re.finditer(rb"[(<\[{]|[)>\]}]|,|[^\s(<\[{)>\]},]+", header):
        token = match.group()
        if token in (b")", b">", b"]", b"}"):
            depth -= 1
            if depth == 0:
                break
        if token == b"," and depth == 1:
            parts.append([])
        elif depth:
            parts[-1].append(token)
        if token in (b"(", b"<", b"[", b"{"):
            depth += 1
    else:
        return (draft.start,)
    after = header[match.end() :].split(b"=")[0].partition(b":")[0].split()
    types = tuple(_parameter_type(b" ".join(part)) for part in parts[:_MOST_PARAMETERS])
    return types, b"const" in after, data[draft.start : draft.start + 8] == b"template"


def _parameter_type(parameter: bytes) -> bytes:
    """The type of a parameter without its name and default."""
    words = _WORD.findall(parameter.partition(b"=")[0])
    if len(words) > 1 and _NAME.fullmatch(words[-1]) and words[-1] not in _BUILTIN | _QUALIFIERS:
        before = words[:-1]
        if before[-1] != b"::" and any(word not in _QUALIFIERS for word in before):
            words = before
    return b" ".join(words)


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """The imports that a statement amounts to, and the other names in it."""
    start, end = node.start_byte, node.end_byte
    if kind == "c_include":
        match = _INCLUDE.match(data, start, end)
        module = match.group(1).strip(b'"') if match else b""
        return ([Imported(kind, module, b"*", b"", start, None)] if module else []), []
    pattern = {"cpp_using": _USING, "cpp_alias": _ALIAS}.get(kind)
    match = pattern.match(data, start, end) if pattern else None
    if not match:
        return [], []
    first = match.start("path")
    names = [one.span() for one in _NAME.finditer(data, first, match.end("path"))]
    texts = [data[slice(*span)] for span in names]
    mentions = [Mention(*span, first if span[0] > first else -1) for span in names]
    path = b"::".join(texts)
    if not texts:
        return [], []
    if kind == "cpp_alias":
        alias = match.span("alias")
        return [Imported(kind, path, b"", data[slice(*alias)], alias[0], alias)], mentions
    if match.group("space"):
        return [Imported(kind, path, b"*", b"", start, None)], mentions
    if len(texts) < 2 or texts[-1] == texts[-2]:
        return [], mentions
    return [
        Imported(kind, path.rpartition(b"::")[0], texts[-1], texts[-1], names[-1][0], names[-1])
    ], mentions[:-1]
