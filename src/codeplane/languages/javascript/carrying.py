"""How a definition goes to another module: what it needs is imported there, and who imports it follows."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.text import LineStarts
from codeplane.languages.facts import Import
from codeplane.languages.javascript import modules
from codeplane.languages.javascript.moving import configured, shapes
from codeplane.languages.javascript.statements import Name, Statement, parsed, replaced, statements, with_name
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Stuck, relative
from codeplane.languages.ordering import differences
from codeplane.languages.rules.carrying import Carrying, CarryRules, Wanted

_MODULES: Final = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs")
_COMMON: Final = re.compile(
    rb"^(?:module\.)?exports(?:\.\w+)*\s*=|^(?:const|var|let)[^\n=]*=\s*require\(", re.MULTILINE
)
_DIRECTIVE: Final = re.compile(rb"\A\s*(['\"])use (?:client|server|strict)\1;?")
# The comments that a file begins with, as far as they are set apart or say how the file is to be read.
_HEAD: Final = re.compile(
    rb"\A(?:(?:#![^\n]*|//[^\n]*|/\*(?:(?!\*/).)*\*/)\n)*"
    rb"(?:#![^\n]*|/\*(?:(?!\*/).)*\*/(?=\n\n)|(?://|/\*)\s*(?:eslint-disable(?!-)|@ts-|@jest-|@vitest-)[^\n]*)",
    re.DOTALL,
)
_SINGLE: Final = re.compile(rb"(?<![\w'])'[^'\"\n]*'")
_DOUBLE: Final = re.compile(rb"\"[^\"'\n]*\"")
_MOST_BESIDE: Final = 20
_HOISTED: Final = ("function_declaration", "generator_function_declaration", "function_signature")
_TYPES: Final = ("interface_declaration", "type_alias_declaration")


class JavaScriptCarrying(CarryRules):
    """How a definition of JavaScript or TypeScript goes to another module."""

    cycles_load = True
    static_kinds = frozenset(("js_import",))

    def objection(self, carrying: Carrying) -> str | None:
        """Only modules of the standard can be told apart by their statements."""
        for path in (carrying.source, carrying.target):
            if not path.endswith(_MODULES) or path.endswith(".d.ts"):
                return f"`{path}` is no module that a symbol can be moved from or to."
            if _COMMON.search(carrying.read(path)):
                return (
                    f"`{path}` uses `require` or `module.exports`: only ES modules can be told for certain."
                )
        paths = (carrying.source, carrying.target)
        source, target = (_DIRECTIVE.match(carrying.read(path)) for path in paths)
        if not carrying.is_new and (source and source[0].strip()) != (target and target[0].strip()):
            return "One of the files begins with a directive that the other one does not have."
        return None

    def file_header(self, carrying: Carrying) -> str:
        """The directive of the old file."""
        match = _DIRECTIVE.match(carrying.read(carrying.source))
        return f"{match[0].decode().strip()}\n" if match else ""

    def standalone_text(self, data: bytes, line: int, text: str, *, is_imported: bool) -> str | Stuck:
        """A definition that others import is exported."""
        node = _declaration_at(data, line)
        if node is None:
            return Stuck(line, "Its declaration is not understood.")
        if node.type == "export_statement":
            if any(one.type == "default" for one in node.children):
                return Stuck(line, "It is the default export of its module: name it first.")
            return text
        if not is_imported:
            return text
        first = (node.text or b"").split(b"\n")[0].decode("utf-8", "surrogateescape")
        rows = text.split("\n")
        at = next((number for number, row in enumerate(rows) if row.startswith(first)), None)
        if at is None:
            return Stuck(line, "Its declaration is not understood.")
        rows[at] = f"export {rows[at]}"
        return "\n".join(rows)

    def export_edit(self, data: bytes, line: int) -> TextEdit | Stuck | None:
        """What makes a definition one that others can import; None where it is exported."""
        node = _declaration_at(data, line)
        if node is None:
            return Stuck(line, "Its declaration is not understood.")
        if node.type == "export_statement":
            is_default = any(one.type == "default" for one in node.children)
            return Stuck(line, "It is the default export of its module.") if is_default else None
        at, column = LineStarts(data).position(node.start_byte)
        return TextEdit(at, column, "", "export ")

    def is_type(self, data: bytes, line: int) -> bool:
        """Whether a definition is there for the compiler alone."""
        node = _declaration_at(data, line)
        inner = node.child_by_field_name("declaration") if node is not None else None
        return (inner or node) is not None and (inner or node).type in _TYPES  # type: ignore[union-attr]

    def runs_nothing(self, data: bytes, line: int) -> bool:
        """Whether a definition is there before its module is run: functions that are declared, and types."""
        node = _declaration_at(data, line)
        inner = (node.child_by_field_name("declaration") or node) if node is not None else None
        return inner is not None and inner.type in (*_HOISTED, *_TYPES)

    def drop_imports(self, data: bytes, items: Sequence[Import]) -> Sequence[TextEdit] | None:
        """Names out of their statements, and statements that take nothing any more."""
        return self.redirect_imports(data, [(item, None) for item in items])

    def redirect_imports(
        self, data: bytes, moves: Sequence[tuple[Import, str | None]]
    ) -> Sequence[TextEdit] | None:
        """Names that come from another module from now on, or from none."""
        lines = LineStarts(data)
        own = {one.start: one for one in statements(data)}
        before = dict(own)
        following: dict[int, list[Statement]] = {}
        for item, module in moves:
            at = lines.offset(item.line, item.column)
            holder = next((key for key, one in before.items() if _name_at(one, at) is not None), None)
            name = _name_at(before[holder], at) if holder is not None else None
            if holder is None or name is None or not before[holder].is_plain:
                return None
            own[holder] = _without_name(own[holder], at)
            if module is None:
                continue
            statement = _with_name(before[holder], name, module)
            same = next((key for key, one in own.items() if _takes_alike(one, statement)), None)
            late = following.setdefault(holder, [])
            beside = next((number for number, one in enumerate(late) if _takes_alike(one, statement)), None)
            if same is not None and isinstance(name, Name):
                own[same] = with_name(own[same], name)
            elif beside is not None and isinstance(name, Name):
                late[beside] = with_name(late[beside], name)
            else:
                late.append(statement)
        changes = []
        for key, one in before.items():
            new = [] if own[key].is_empty and not one.is_empty else [own[key]]
            new += following.get(key, [])
            if new != [one]:
                changes.append((one, new))
        return list(differences(data, replaced(data, changes)))

    def is_deferred(self, data: bytes, item: Import) -> bool:
        """Whether an import is for types, or made by a call."""
        if item.kind not in ("js_import", "js_export"):
            return True
        at = LineStarts(data).offset(item.line, item.column)
        for one in statements(data):
            if one.start <= at < one.end:
                binding = _name_at(one, at)
                return one.is_type or (isinstance(binding, Name) and binding.is_type)
        return False

    def module_text(self, sources: Sources, path: str, target: str) -> str | None:
        """The specifier by which a file imports another, as the files around it write theirs."""
        for like in (*_written_in(sources, path), "./x"):
            for text in _module_texts(sources, path, like, target):
                places = modules.places(sources, path, Import(0, "js_import", text, "", "", 0, 0))
                if list(places) == [Place(RepoPath(target))]:
                    return text
        return None

    def import_from(self, item: Import, module: str, data: bytes) -> Wanted:
        """The import of one thing from a module by another text."""
        at = LineStarts(data).offset(item.line, item.column)
        one = next((it for it in statements(data) if it.start <= at < it.end), None)
        binding = _name_at(one, at) if one is not None else None
        is_type = one is not None and (one.is_type or (isinstance(binding, Name) and binding.is_type))
        is_export = one is not None and one.is_export
        if not item.name:
            return Wanted(module, "*", item.alias, is_type=is_type)
        alias = item.alias if item.alias != item.name else ""
        return Wanted(module, item.name, alias, is_type=is_type, is_export=is_export)

    def is_plain(self, data: bytes, item: Import) -> bool:
        """Whether an import is a statement at the top of its module."""
        at = LineStarts(data).offset(item.line, item.column)
        return any(one.start <= at < one.end for one in statements(data))

    def add_imports(self, sources: Sources, path: str, data: bytes, wanted: Sequence[Wanted]) -> bytes:
        """A file with more imports, in the statements that take from the same modules."""
        model = None if statements(data) else _import_model(sources, path, data)
        for one in wanted:
            data = _with_statement(data, one, model)
        return data


RULES: Final = JavaScriptCarrying()


def _declaration_at(data: bytes, line: int) -> Node | None:
    """The statement at the top of a module that a line belongs to."""
    start = LineStarts(data).offset(line, 0)
    row = data.find(b"\n", start)
    end = row if row >= 0 else len(data)
    for node in parsed(data).children:
        if node.type != "comment" and node.start_byte < end and node.end_byte > start:
            return node
    return None


def _name_at(one: Statement, at: int) -> Name | str | None:
    """What a statement takes at a byte: a name, or `default` or `*`."""
    if one.default is not None and one.default[1] == at:
        return "default"
    if one.namespace is not None and one.namespace[1] == at:
        return "*"
    return next((name for name in one.names if name.start == at), None)


def _without_name(one: Statement, at: int) -> Statement:
    if one.default is not None and one.default[1] == at:
        return replace(one, default=None)
    if one.namespace is not None and one.namespace[1] == at:
        return replace(one, namespace=None)
    names = tuple(name for name in one.names if name.start != at)
    return replace(one, names=names, has_braces=bool(names))


def _with_name(one: Statement, name: Name | str, module: str) -> Statement:
    new = replace(one, module=module, default=None, namespace=None, names=(), has_braces=False, is_star=False)
    if isinstance(name, Name):
        return replace(new, names=(name,), has_braces=True)
    return replace(new, default=one.default) if name == "default" else replace(new, namespace=one.namespace)


def _takes_alike(one: Statement, other: Statement) -> bool:
    """Whether names can go from one statement into another."""
    is_same = (one.module, one.is_export, one.is_type) == (other.module, other.is_export, other.is_type)
    return is_same and one.is_plain and one.namespace is None and not one.is_star and one.has_braces


def _module_texts(sources: Sources, path: str, like: str, target: str) -> Iterator[str]:
    texts = list(shapes(like, target))
    if not like.startswith("."):
        yield from configured(sources, path, like, texts)
    for shape in texts:
        yield relative(posixpath.dirname(path), shape)


def _written_in(sources: Sources, path: str) -> Iterator[str]:
    """The specifiers of a file that lead into the repository, else those of the files beside it."""
    directory = posixpath.dirname(path)
    beside = [
        posixpath.join(directory, name) for name in sources.names_in(directory) if name.endswith(_MODULES)
    ]
    for one in (path, *beside):
        texts = [item.module for item in sources.imports(one) if item.kind in ("js_import", "js_export")]
        leading = [
            text for text in texts if modules.places(sources, one, Import(0, "js_import", text, "", "", 0, 0))
        ]
        if leading:
            yield from sorted(dict.fromkeys(leading), key=lambda text: not text.startswith("."))
            return


def _import_model(sources: Sources, path: str, data: bytes) -> Statement:
    """How a file without imports would write one: by its own texts, else as the files beside it do."""
    directory = posixpath.dirname(path)
    names = [name for name in sources.names_in(directory) if name.endswith(_MODULES)][:_MOST_BESIDE]
    others = (sources.read(posixpath.join(directory, name)) or b"" for name in names)
    beside = next((found[-1] for one in others if (found := statements(one))), Statement(0, 0, ""))
    quote = beside.quote
    if data.strip():
        single, double = len(_SINGLE.findall(data)), len(_DOUBLE.findall(data))
        quote = "'" if single > double else '"' if double > single else quote
        return Statement(0, 0, "", quote=quote, ending=";" if b";\n" in data else "")
    return Statement(0, 0, "", quote=quote, ending=beside.ending)


def _with_statement(data: bytes, one: Wanted, model: Statement | None) -> bytes:
    own = statements(data)
    assert one.module is not None, "BUG: what is imported comes from a module"
    model = own[-1] if own or model is None else model
    new = Statement(
        0, 0, one.module, is_export=one.is_export, is_type=one.is_type, quote=model.quote, ending=model.ending
    )
    if one.name == "*":
        new = replace(new, namespace=(one.alias, -1))
    elif one.name == "default" and not one.is_export:
        new = replace(new, default=(one.alias, -1))
    else:
        name = Name(one.name, one.alias)
        same = next((it for it in own if _takes_alike(it, new)), None)
        if same is not None:
            return replaced(data, [(same, [with_name(same, name)])])
        new = replace(new, names=(name,), has_braces=True)
    text = new.text().encode("utf-8", "surrogateescape")
    alike = [it for it in own if it.is_export == one.is_export] or ([] if one.is_export else own)
    is_near = one.module.startswith(".")
    kindred = [it for it in alike if it.module.startswith(".") == is_near]
    if kindred or (alike and is_near):
        end = (kindred or alike)[-1].end
        return data[:end] + b"\n" + text + data[end:]
    if alike or own:
        start = alike[0].start if alike else own[-1].end
        gap = b"" if alike else b"\n"
        return data[:start] + gap + text + (b"\n" if alike else b"") + data[start:]
    return _with_first_statement(data, text)


def _with_first_statement(data: bytes, text: bytes) -> bytes:
    """The first statement of a file: behind a directive or the comment that the file begins with."""
    head = _DIRECTIVE.match(data) or _HEAD.match(data)
    if head is None:
        return text + (b"\n\n" + data.lstrip(b"\n") if data.strip() else b"\n")
    rest = data[head.end() :].lstrip(b"\n")
    return head[0] + b"\n\n" + text + (b"\n\n" + rest if rest else b"\n")
