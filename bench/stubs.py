"""Types out of the stubs of a package, as transforms of deltas."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

_MOVED = {"typing_extensions": "typing"}


class Signature(NamedTuple):
    """A function of a file: its address, its class and where it stands."""

    address: str
    owner: str | None
    node: ast.FunctionDef

    @property
    def arguments(self) -> list[ast.arg]:
        one = self.node.args
        rest = [item for item in (one.vararg, one.kwarg) if item is not None]
        return [*one.posonlyargs, *one.args, *one.kwonlyargs, *rest]


def signatures_in(path: Path) -> Iterator[Signature]:
    """The functions of a file that stand in it or in its classes, once for each name."""
    yield from _signatures(ast.parse(path.read_text()), None, "")


def _signatures(node: ast.Module | ast.ClassDef, owner: str | None, prefix: str) -> Iterator[Signature]:
    names = [one.name for one in node.body if isinstance(one, ast.FunctionDef)]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and names.count(one.name) == 1:
            yield Signature(prefix + one.name, owner, one)
        elif isinstance(one, ast.ClassDef):
            yield from _signatures(one, one.name, f"{prefix}{one.name}.")


@dataclass
class PackageStubs:
    """The stubs of a package beside its sources."""

    package: Path
    trees: Mapping[str, ast.Module]  # of stubs, by the path of the source
    classes: Mapping[str, tuple[str, ast.ClassDef]]  # of stubs: where it is, and what it has

    @classmethod
    def read(cls, stubs: Path, package: Path) -> "PackageStubs":
        trees = {
            f"{package.name}/{path.relative_to(stubs).with_suffix('.py').as_posix()}": ast.parse(
                path.read_text()
            )
            for path in sorted(stubs.rglob("*.pyi"))
            if (package / path.relative_to(stubs).with_suffix(".py")).exists()
        }
        classes = {
            one.name: (path, one)
            for path, tree in trees.items()
            for one in tree.body
            if isinstance(one, ast.ClassDef)
        }
        return cls(package, trees, classes)

    @property
    def sources(self) -> list[str]:
        return list(self.trees)

    def type_transforms(self, path: str, signature: Signature) -> list[dict[str, Any]]:
        """The annotations of a function; none where the stubs don't have it."""
        stub = self._stub_of(path, signature)
        if stub is None:
            return []
        types = {one.arg: one.annotation for one in stub.arguments if one.annotation is not None}
        base = {"operation": "add_type_annotation", "target": signature.address}
        transforms = [
            {**base, "parameter": one.arg, "type": self._written(path, types[one.arg])}
            for one in signature.arguments
            if one.arg in types
        ]
        if stub.node.returns is not None:
            transforms.append({**base, "type": self._written(path, stub.node.returns)})
        return transforms

    def import_transforms(self, path: str) -> list[dict[str, Any]]:
        """What the annotations of a file need, for the type checker alone."""
        statements = {"from __future__ import annotations": False}
        for signature in signatures_in(self.package.parent / path):
            stub = self._stub_of(path, signature)
            for annotation in stub.annotations if stub is not None else ():
                for name in _names_of(ast.parse(self._written(path, annotation), mode="eval")):
                    if statement := self._import_of(path, name):
                        statements.setdefault(statement, True)
        return [
            {"operation": "add_import", "import": text, **({"type_checking": True} if is_for_types else {})}
            for text, is_for_types in statements.items()
        ]

    def _stub_of(self, path: str, signature: Signature) -> "_Stub | None":
        tree = self.trees[path]
        if signature.owner is None:
            return _stub_in(tree, signature.node.name)
        return self._method(signature.owner, signature.node.name, 0)

    def _method(self, owner: str, name: str, depth: int) -> "_Stub | None":
        """A method as the class or the nearest of its bases has it in the stubs."""
        if owner not in self.classes or depth > 8:
            return None
        node = self.classes[owner][1]
        if (stub := _stub_in(node, name)) is not None:
            return stub if depth == 0 or name != "__init__" else None
        bases = [ast.unparse(one).rpartition(".")[2] for one in node.bases]
        return next((stub for base in bases if (stub := self._method(base, name, depth + 1))), None)

    def _written(self, path: str, annotation: ast.expr) -> str:
        """A type as the sources can write it: stubs know names and type arguments that they do not have."""
        return ast.unparse(_Sources(self, path).visit(ast.parse(ast.unparse(annotation), mode="eval").body))

    def origin_of(self, path: str, name: str) -> tuple[str, str] | None:
        """The module and the name that a name of a stub comes from."""
        for place in (path, *self.trees):
            for one in self.trees[place].body:
                if isinstance(one, ast.ImportFrom):
                    for alias in one.names:
                        if (alias.asname or alias.name) == name:
                            return _absolute(place, one), alias.name
        return None

    def _import_of(self, path: str, name: str) -> str | None:
        if name in self.bound_in(path) or hasattr(builtins, name):
            return None
        if name in ("re", "xml", "util", "markdown"):
            return "from markdown import util" if name == "util" else f"import {name}"
        if name in self.classes:
            module = self.classes[name][0].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            return f"from {module} import {name}"
        origin = self.origin_of(path, name)
        if name == "Any" or origin is None:
            return "from typing import Any"
        return f"from {_MOVED.get(origin[0], origin[0])} import {origin[1]}"

    def bound_in(self, path: str) -> set[str]:
        """What a source binds at its top."""
        names = set()
        for one in ast.parse((self.package.parent / path).read_text()).body:
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                names.add(one.name)
            elif isinstance(one, ast.Import | ast.ImportFrom):
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
        return names

    def is_known(self, path: str, name: str) -> bool:
        """Whether the sources have a name, or import it from elsewhere."""
        if (
            hasattr(builtins, name)
            or name in self.bound_in(path)
            or name in ("re", "xml", "util", "markdown")
        ):
            return True
        if name in self.classes:
            place = self.classes[name][0]
            return name in self.bound_in(place)
        origin = self.origin_of(path, name)
        return origin is not None and not origin[0].startswith(self.package.name)


class _Stub(NamedTuple):
    node: ast.FunctionDef

    @property
    def arguments(self) -> list[ast.arg]:
        return Signature("", None, self.node).arguments

    @property
    def annotations(self) -> list[ast.expr]:
        types = [one.annotation for one in self.arguments]
        return [one for one in (*types, self.node.returns) if one is not None]


class _Sources(ast.NodeTransformer):
    """Writes types with names of the sources: others are `Any`, and its own classes take no arguments."""

    def __init__(self, stubs: PackageStubs, path: str) -> None:
        self._stubs, self._path = stubs, path

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if self._stubs.is_known(self._path, node.id) else ast.Name("Any")

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """`blockparser.BlockParser` is `BlockParser` where the source does not import the module."""
        root = ast.unparse(node).partition(".")[0]
        return node if self._stubs.is_known(self._path, root) else self.visit_Name(ast.Name(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name = ast.unparse(node.value).rpartition(".")[2]
        if name in self._stubs.classes or not self._is_known_base(node.value):
            value: ast.expr = self.visit(node.value)
            return value
        if name == "Literal":
            return node
        self.generic_visit(node)
        return node

    def _is_known_base(self, value: ast.expr) -> bool:
        return not isinstance(value, ast.Name) or self._stubs.is_known(self._path, value.id)


def _stub_in(node: ast.Module | ast.ClassDef, name: str) -> _Stub | None:
    matches = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name]
    return _Stub(matches[0]) if len(matches) == 1 else None


def _names_of(tree: ast.AST) -> Iterator[str]:
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _absolute(path: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = path.split("/")[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])
