"""Reads of the environment in Python by an `ast` walk that shares nothing with CodePlane.

Keys are folded where the program leaves no choice: constants of the module or of one that it imports,
attributes of classes, f-strings, `%` and `format`, rounds of loops over written lists, and calls of functions
that read the key that they are given.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

METHODS = {"get", "pop", "setdefault", "__getitem__", "__contains__"}
MOST_ROUNDS = 3  # of functions that hand their parameter to a function that reads it
DEEPEST = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Read(NamedTuple):
    """A read of a key; None for one that only the run knows."""

    path: str
    line: int
    key: str | None


class _Wrapper(NamedTuple):
    """A function that reads the key that one of its parameters is."""

    module: "Module"
    function: Function
    position: int  # without the instance
    parameter: str


class Module:
    """One file: its tree, what its names are bound to, and what stands around each node."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.bound: dict[tuple[ast.AST, str], list[ast.expr | None]] = {}
        self.imports: dict[str, tuple[str, str]] = {}  # name here: module and name there
        for node in ast.walk(tree):
            self._bind(node)

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The innermost function, class or module around a node; a function is around its body alone."""
        child, current = node, self.parents.get(node)
        while current is not None:
            if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                body = current.body if isinstance(current.body, list) else [current.body]
                if child in body:
                    return current
            child, current = current, self.parents.get(current)
        return self.tree

    def scopes_of(self, node: ast.AST) -> Iterator[ast.AST]:
        """The scopes that a name is looked up in, innermost first."""
        scope, is_first = self.scope_of(node), True
        while True:
            if is_first or not isinstance(scope, ast.ClassDef):
                yield scope
            if scope is self.tree:
                return
            scope, is_first = self.scope_of(scope), False

    def owner_class(self, node: ast.AST) -> ast.ClassDef | None:
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.ClassDef):
            current = self.parents.get(current)
        return current

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Assign():
                for target in node.targets:
                    self._bind_target(target, node.value)
            case ast.AnnAssign() if node.value is not None:
                self._bind_target(node.target, node.value)
            case ast.NamedExpr():
                self._bind_target(node.target, node.value)
            case ast.AugAssign() | ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind_target(node.target, None)
            case ast.withitem() if node.optional_vars is not None:
                self._bind_target(node.optional_vars, None)
            case ast.ExceptHandler() if node.name:
                self.bound.setdefault((self.scope_of(node), node.name), []).append(None)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.bound.setdefault((self.scope_of(node), node.name), []).append(None)
            case ast.Global():
                for name in node.names:
                    self.bound.setdefault((self.tree, name), []).append(None)
            case ast.Import():
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.split(".")[0]
                    self.imports[alias.asname or whole] = (whole, "")
            case ast.ImportFrom():
                source = "." * node.level + (node.module or "")
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (source, alias.name)

    def _bind_target(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.bound.setdefault((self.scope_of(target), target.id), []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._bind_target(part.value if isinstance(part, ast.Starred) else part, None)


class Program:
    """All files of a package."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[str, Module] = {}
        for path in sorted(root.rglob("*.py")):
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            name = path.relative_to(root).as_posix()
            self.modules[name] = Module(name, tree)
        self._by_tail: dict[str, list[Module]] = {}
        for name, module in self.modules.items():
            parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                self._by_tail.setdefault(".".join(parts[start:]), []).append(module)

    def direct_reads(self) -> list[Read]:
        """Every read by `os` itself."""
        return [
            Read(module.path, node.lineno, key)
            for module in self.modules.values()
            for node, expression in self._environment_reads(module)
            for key in self._keys(module, expression)
        ]

    def wrapped_reads(self) -> list[Read]:
        """Reads by calls of functions that hand their parameter on, with keys that can be folded."""
        reads: list[Read] = []
        wrappers = [
            wrapper
            for module in self.modules.values()
            for _, expression in self._environment_reads(module)
            if (wrapper := _wrapper_of(module, expression)) is not None
        ]
        done: set[tuple[ast.AST, str]] = set()
        for _ in range(MOST_ROUNDS):
            fresh = {(one.function, one.parameter): one for one in wrappers}
            wrappers = []
            for one in (one for key, one in fresh.items() if key not in done):
                reads += self._unknown_calls(one)
                for module, call, expression in self._calls_of(one):
                    keys = self._keys(module, expression)
                    reads += [Read(module.path, call.lineno, key) for key in keys if key is not None]
                    further = _wrapper_of(module, expression)
                    wrappers += [further] if further is not None else []
            done |= set(fresh)
        return reads

    # What reads the environment

    def _environment_reads(self, module: Module) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Each read and the expression of its key."""
        for node in ast.walk(module.tree):
            match node:
                case ast.Subscript(ctx=ast.Load()) if self._is_environ(module, node.value):
                    yield node, node.slice
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
                    if self._is_environ(module, right):
                        yield node, node.left
                case ast.Call(func=ast.Attribute(attr=method)) if method in METHODS:
                    assert isinstance(node.func, ast.Attribute)
                    if self._is_environ(module, node.func.value) and (key := _key_argument(node)):
                        yield node, key
                case ast.Call() if self._member_of_os(module, node.func) == "getenv":
                    if key := _key_argument(node):
                        yield node, key

    def _is_environ(self, module: Module, node: ast.expr, depth: int = 0) -> bool:
        if self._member_of_os(module, node) == "environ":
            return True
        if not isinstance(node, ast.Name) or depth > DEEPEST:
            return False
        value = self._bound_value(module, node)
        return value is not None and self._is_environ(value[0], value[1], depth + 1)

    def _member_of_os(self, module: Module, node: ast.expr) -> str:
        """`environ` for `os.environ`, under whatever names both were imported."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            # A star import brings `os` to files that use it without an import of their own.
            unbound = ("os", "") if "*" in module.imports and node.value.id == "os" else None
            is_os = module.imports.get(node.value.id, unbound) == ("os", "")
            return node.attr if is_os and not self._is_rebound(module, node.value) else ""
        if isinstance(node, ast.Name) and not self._is_rebound(module, node):
            source, name = module.imports.get(node.id, ("", ""))
            return name if source == "os" else ""
        return ""

    def _is_rebound(self, module: Module, name: ast.Name) -> bool:
        return any(
            (scope, name.id) in module.bound or name.id in _parameters(scope)
            for scope in module.scopes_of(name)
        )

    # Keys

    def _keys(self, module: Module, expression: ast.expr) -> list[str | None]:
        """The keys that an expression is: several in a loop, None where only the run knows."""
        for variables, items in self._loops_around(module, expression):
            used = {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)} & set(variables)
            if used:
                return [
                    self._folded(module, expression, dict(zip(variables, item, strict=True)))
                    for item in items
                ]
        return [self._folded(module, expression, {})]

    def _loops_around(
        self, module: Module, node: ast.AST
    ) -> Iterator[tuple[list[str], list[tuple[ast.expr, ...]]]]:
        """The names of each loop around, and what each round gives them."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, (*FUNCTIONS, ast.ClassDef)):
            loops: list[ast.For | ast.AsyncFor | ast.comprehension] = []
            if isinstance(current, (ast.For, ast.AsyncFor)):
                loops = [current]
            elif isinstance(current, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                loops = list(current.generators)
            for loop in loops:
                names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
                items = self._items(module, loop.iter)
                rows = [_row(item, len(names)) for item in items]
                if all(isinstance(name, ast.Name) for name in names) and None not in rows:
                    variables = [name.id for name in names if isinstance(name, ast.Name)]
                    yield variables, [row for row in rows if row is not None]
            current = module.parents.get(current)

    def _items(self, module: Module, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return node.elts
        if isinstance(node, ast.Name):
            value = self._bound_value(module, node)
            if value is not None and isinstance(value[1], (ast.List, ast.Tuple, ast.Set)):
                return value[1].elts if value[0] is module else []
        return []

    def _folded(
        self, module: Module, node: ast.expr, names: Mapping[str, ast.expr], depth: int = 0
    ) -> str | None:
        """The text that an expression is."""
        if depth > DEEPEST:
            return None

        def fold(inner: ast.expr) -> str | None:
            return self._folded(module, inner, names, depth + 1)

        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.JoinedStr(values=values):
                return _joined([fold(value) for value in values])
            case ast.FormattedValue(conversion=-1, format_spec=None):
                return fold(node.value)
            case ast.BinOp(op=ast.Add()):
                return _joined([fold(node.left), fold(node.right)])
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
                parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
                return _formatted(text, "%s", [fold(part) for part in parts])
            case ast.Call(
                func=ast.Attribute(attr="format", value=ast.Constant(value=str(text))), keywords=[]
            ):
                return _formatted(text, "{}", [fold(part) for part in node.args])
            case ast.Name() if node.id in names:
                return self._folded(module, names[node.id], {}, depth + 1)
            case ast.Name() | ast.Attribute():
                value = self._bound_value(module, node)
                return self._folded(value[0], value[1], {}, depth + 1) if value is not None else None
        return None

    def _bound_value(
        self, module: Module, node: ast.Name | ast.Attribute, depth: int = 0
    ) -> tuple[Module, ast.expr] | None:
        """The one expression that a name or a member is given."""
        if isinstance(node, ast.Name):
            for scope in module.scopes_of(node):
                if node.id in _parameters(scope):
                    return None
                if (scope, node.id) in module.bound:
                    return _only(module, scope, node.id)
            if node.id in module.imports:
                source, name = module.imports[node.id]
                return self._exported(module, source, name, depth)
            return None
        owner = node.value
        if not isinstance(owner, ast.Name):
            return None
        if owner.id in ("self", "cls"):
            around = module.owner_class(node)
            return _only(module, around, node.attr) if around is not None else None
        classes = [one for one in module.tree.body if isinstance(one, ast.ClassDef) and one.name == owner.id]
        if len(classes) == 1 and not classes[0].bases:
            return _only(module, classes[0], node.attr)
        if owner.id not in module.imports or self._is_rebound(module, owner):
            return None
        source, name = module.imports[owner.id]
        return self._exported(module, f"{source}.{name}" if name else source, node.attr, depth)

    def _exported(self, module: Module, source: str, name: str, depth: int) -> tuple[Module, ast.expr] | None:
        there = self._module_named(module, source)
        if there is None or depth > DEEPEST or not name:
            return None
        if (there.tree, name) in there.bound:
            return _only(there, there.tree, name)
        if name in there.imports:
            return self._exported(there, *there.imports[name], depth + 1)
        return None

    def _module_named(self, module: Module, source: str) -> Module | None:
        level = len(source) - len(source.lstrip("."))
        if level:
            parts = module.path.split("/")[:-level]
            parts += [part for part in source.split(".") if part]
            base = "/".join(parts)
            return self.modules.get(f"{base}.py") or self.modules.get(f"{base}/__init__.py")
        candidates = self._by_tail.get(source, [])
        return candidates[0] if len(candidates) == 1 else None

    # Functions that read what they are given

    def _calls_of(self, wrapper: _Wrapper) -> Iterator[tuple[Module, ast.Call, ast.expr]]:
        name, owner = wrapper.function.name, wrapper.module.parents[wrapper.function]
        for module in self.modules.values():
            for call in ast.walk(module.tree):
                if not isinstance(call, ast.Call) or not self._is_called(wrapper, owner, name, module, call):
                    continue
                named = [item.value for item in call.keywords if item.arg == wrapper.parameter]
                plain = call.args[wrapper.position : wrapper.position + 1]
                if not any(isinstance(item, ast.Starred) for item in call.args):
                    yield from ((module, call, expression) for expression in (plain or named)[:1])

    def _unknown_calls(self, wrapper: _Wrapper) -> Iterator[Read]:
        """Calls of a method of that name on objects whose class this walk doesn't know."""
        if not isinstance(wrapper.module.parents[wrapper.function], ast.ClassDef):
            return
        for module in self.modules.values():
            for call in ast.walk(module.tree):
                match call:
                    case ast.Call(func=ast.Attribute(attr=name)) if name == wrapper.function.name:
                        yield Read(module.path, call.lineno, None)

    def _is_called(
        self, wrapper: _Wrapper, owner: ast.AST, name: str, module: Module, call: ast.Call
    ) -> bool:
        match call.func:
            case ast.Name(id=text) if owner is wrapper.module.tree:
                if module is wrapper.module and text == name:
                    return True
                return self._leads_to(wrapper, module, *module.imports.get(text, ("", "")))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=text) if isinstance(
                owner, ast.ClassDef
            ):
                return text == name and module.owner_class(call) is owner
            case ast.Attribute(value=ast.Name(id=holder), attr=text) if owner is wrapper.module.tree:
                source, there = module.imports.get(holder, ("", ""))
                whole = f"{source}.{there}" if there else source
                return text == name and self._leads_to(wrapper, module, whole, text)
        return False

    def _leads_to(self, wrapper: _Wrapper, module: Module, source: str, name: str, depth: int = 0) -> bool:
        """Whether what a module imports is a function, straight or through other modules."""
        there = self._module_named(module, source) if source else None
        if there is None or depth > DEEPEST or not name:
            return False
        if there is wrapper.module:
            return name == wrapper.function.name
        further = there.imports.get(name, ("", ""))
        return self._leads_to(wrapper, there, *further, depth + 1)


def _wrapper_of(module: Module, expression: ast.expr) -> _Wrapper | None:
    """The function around, where the key is one of its parameters as it was given."""
    if not isinstance(expression, ast.Name):
        return None
    function = module.scope_of(expression)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if (function, expression.id) in module.bound or expression.id not in _parameters(function):
        return None
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(module.parents[function], ast.ClassDef) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    position = names.index(expression.id) if expression.id in names else 1 << 20
    return _Wrapper(module, function, position, expression.id)


def _parameters(scope: ast.AST) -> set[str]:
    if not isinstance(scope, FUNCTIONS):
        return set()
    some = scope.args
    return {
        one.arg
        for one in (*some.posonlyargs, *some.args, *some.kwonlyargs, some.vararg, some.kwarg)
        if one is not None
    }


def _only(module: Module, scope: ast.AST, name: str) -> tuple[Module, ast.expr] | None:
    values = module.bound.get((scope, name), [])
    return (module, values[0]) if len(values) == 1 and values[0] is not None else None


def _key_argument(call: ast.Call) -> ast.expr | None:
    named = [item.value for item in call.keywords if item.arg == "key"]
    return next(iter((*call.args, *named)), None)


def _row(item: ast.expr, count: int) -> tuple[ast.expr, ...] | None:
    if count == 1:
        return (item,)
    is_tuple = isinstance(item, (ast.Tuple, ast.List)) and len(item.elts) == count
    return tuple(item.elts) if is_tuple and isinstance(item, (ast.Tuple, ast.List)) else None


def _joined(parts: list[str | None]) -> str | None:
    return None if None in parts else "".join(part for part in parts if part is not None)


def _formatted(text: str, hole: str, parts: list[str | None]) -> str | None:
    pieces = text.split(hole)
    if len(pieces) != len(parts) + 1 or None in parts or any(one in "".join(pieces) for one in "%{}"):
        return None
    return pieces[0] + "".join((part or "") + piece for part, piece in zip(parts, pieces[1:], strict=True))
