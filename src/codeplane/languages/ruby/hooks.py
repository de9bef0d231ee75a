"""What queries cannot say: which names are variables and which are calls, sections of private methods,
the names behind symbols, and what is required.

A name is a variable from its first assignment on, in the order of the text. A block shares the variables that
are there before it and keeps its own to itself; a method, class or module sees none from outside.
"""

from bisect import bisect_right

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.outline import Outline
from codeplane.languages.facts import ScopeKind

_ASSIGNED = ("bind.variable", "bind.local")
_WALLS = {"scope.function": "method", "scope.class": "class"}
_END = 1 << 62


def adjust_captures(captures: dict[str, list[Node]], data: bytes, root: Node) -> None:
    """Tells variables from calls, and marks what stands in a private section."""
    del root
    _Names(captures, data).run()
    bodies = {node.parent.id: node.parent for node in captures.get("hook.section", ()) if node.parent}
    for body in bodies.values():
        _mark_sections(captures, body, data)


class _Names:
    def __init__(self, captures: dict[str, list[Node]], data: bytes) -> None:
        self.captures, self.data = captures, data
        # End of the frame, whether it is a method, a class or a block, its names.
        self.frames: list[tuple[int, str, set[bytes]]] = [(_END, "file", set())]
        self.shared: set[int] = set()
        self.calls: list[Node] = []
        self.elsewhere: list[Node] = []

    def run(self) -> None:
        """One sweep over scopes and names in order of position."""
        for start, _, kind, node in sorted(self._name_events(), key=lambda event: event[:2]):
            while self.frames[-1][0] <= start:
                self.frames.pop()
            if kind in ("method", "class", "block"):
                self.frames.append((node.end_byte, kind, set()))
                continue
            name = self.data[start : node.end_byte]
            if kind == "param":
                self.frames[-1][2].add(name)
            elif kind == "assigned":
                self._assign_name(start, name)
            elif kind == "call" or not self._is_known(name):
                (self.elsewhere if self._is_elsewhere() else self.calls).append(node)
        self._sort_out()

    def _name_events(self) -> list[tuple[int, int, str, Node]]:
        captures = self.captures
        events: list[tuple[int, int, str, Node]] = []
        for capture, kind in (*_WALLS.items(), ("scope.arrow", "block")):
            events += [(node.start_byte, 0, kind, node) for node in captures.get(capture, ())]
        parameters = {node.start_byte for node in captures.get("bind.param", ())}
        events += [(node.start_byte, 1, "param", node) for node in captures.get("bind.param", ())]
        for capture in _ASSIGNED:
            for node in captures.get(capture, ()):
                if node.type in ("identifier", "hash_key_symbol") and node.start_byte not in parameters:
                    parameters.add(node.start_byte)
                    events.append((node.start_byte, 1, "assigned", node))
        for capture in ("name", "argument.keyword", "reference.write"):
            parameters.update(node.start_byte for node in captures.get(capture, ()))
        receiver_ends = {node.end_byte for node in captures.get("receiver", ())}
        ends = sorted(receiver_ends)
        for node in captures.get("reference.call", ()):
            if node.start_byte not in parameters:
                parameters.add(node.start_byte)
                if not self._is_member(node, ends):
                    events.append((node.start_byte, 1, "call", node))
        for node in captures.get("identifier", ()):
            if node.start_byte not in parameters and node.type in ("identifier", "hash_key_symbol"):
                events.append((node.start_byte, 1, "bare", node))
        return events

    def _is_member(self, node: Node, ends: list[int]) -> bool:
        """Whether a receiver stands right before the called name."""
        at = bisect_right(ends, node.start_byte) - 1
        return at >= 0 and self.data[ends[at] : node.start_byte].strip(b" \t\r\n\\") in (b".", b"&.", b"::")

    def _assign_name(self, start: int, name: bytes) -> None:
        if self.frames[-1][1] == "block" and self._is_known(name):
            self.shared.add(start)
        else:
            self.frames[-1][2].add(name)

    def _is_known(self, name: bytes) -> bool:
        for _, kind, names in reversed(self.frames):
            if name in names:
                return True
            if kind != "block":
                return False
        return False

    def _is_elsewhere(self) -> bool:
        """Whether the receiver of a call without one is not known: in a block, or directly in a class."""
        return self.frames[-1][1] in ("block", "class")

    def _sort_out(self) -> None:
        captures = self.captures
        writes: list[Node] = []
        for capture in _ASSIGNED:
            nodes = captures.get(capture, [])
            writes += [node for node in nodes if node.start_byte in self.shared]
            captures[capture] = [node for node in nodes if node.start_byte not in self.shared]
        captures["reference.write"] = [*captures.get("reference.write", ()), *writes]
        elsewhere = {node.start_byte for node in self.elsewhere}
        calls = [node for node in captures.get("reference.call", ()) if node.start_byte not in elsewhere]
        captures["reference.call"] = calls + self.calls
        captures["reference.new"] = self.elsewhere


def _mark_sections(captures: dict[str, list[Node]], body: Node, data: bytes) -> None:
    private = False
    private_names = captures.setdefault("modifier.private", [])
    for child in body.named_children:
        if child.type == "identifier":
            word = data[child.start_byte : child.end_byte]
            private = word == b"private" if word in (b"private", b"protected", b"public") else private
        elif private and child.type == "method" and (name := child.child_by_field_name("name")):
            private_names.append(name)


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Names behind symbols lose their colon; a class that is opened again adds to what it was."""
    members: set[tuple[int, str, bytes]] = set()
    for draft in outline.drafts:
        start, end = draft.name
        if start >= 0 and data[start : start + 1] == b":":
            draft.name = (start + 1, end)
        if draft.kind == "method" and outline.kinds[draft.scope] != ScopeKind.CLASS:
            draft.kind = "function" if draft.scope == 0 else "method"
        if draft.kind in ("class", "module") and draft.owner[0] < 0:
            key = (draft.scope, draft.kind, data[start:end])
            draft.more = key in members
            members.add(key)


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """A file that is required, relative ones as `./…`."""
    method = node.child_by_field_name("method")
    arguments = node.child_by_field_name("arguments")
    strings = [child for child in arguments.named_children if child.type == "string"] if arguments else []
    contents = [child for string in strings[:1] for child in string.named_children]
    if not method or len(contents) != 1 or contents[0].type != "string_content":
        return [], []
    word = data[method.start_byte : method.end_byte]
    module = data[contents[0].start_byte : contents[0].end_byte]
    if word == b"require_relative":
        module = b"./" + module
    return [Imported(kind, module, b"*", b"", contents[0].start_byte, None)], []
