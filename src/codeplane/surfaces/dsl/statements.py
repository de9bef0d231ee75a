"""Calls of a file as a tree: each with the calls in the functions among its arguments."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.values import Environment, Evaluator, Located

_MOST_ROUNDS: Final = 100  # of a loop over a literal list


class Statement(NamedTuple):
    """A call that stands by itself, with the chain of calls that it is on."""

    path: RepoPath
    site: Site
    environment: Environment

    @property
    def call(self) -> Located:
        return Located(self.path, self.site.value, self.environment)

    @property
    def chain(self) -> list[Value]:
        """The calls of its chain in the order that they are made."""
        calls: list[Value] = []
        current: Value | None = self.site.value
        while current is not None and current.kind is ValueKind.CALL:
            calls.append(current)
            current = current.receiver
        return calls[::-1]

    @property
    def head(self) -> Value | None:
        """What the first call of the chain is called on."""
        return self.chain[0].receiver if self.chain else None


class Statements:
    """The statements of files."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def of_file(self, path: RepoPath, environment: Environment | None = None) -> Iterator[Statement]:
        """The outermost calls of a file."""
        yield from self.between(path, 0, 1 << 62, environment or Environment())

    def of_block(self, statement: Statement, call: Value) -> Iterator[Statement]:
        """The calls in the functions among the arguments of a call."""
        for item in call.arguments:
            if item.kind is ValueKind.FUNCTION:
                yield from self.between(statement.path, item.start, statement.site.end, statement.environment)

    def between(self, path: RepoPath, first: int, last: int, environment: Environment) -> Iterator[Statement]:
        """The outermost calls in a range of bytes; those in a loop over a literal list once for each item."""
        cursor = first
        for site in self._evaluator.sites(path).within(first, last):
            if site.kind is not SiteKind.CALL or site.start < cursor or not site.value.text:
                continue
            cursor = site.end
            statement = Statement(path, site, environment)
            rounds = self._rounds(statement)
            if rounds is None:
                yield statement
                continue
            block = next(item for item in site.value.arguments if item.kind is ValueKind.FUNCTION)
            for one in rounds:
                yield from self.between(path, block.start, site.end, one)

    def _rounds(self, statement: Statement) -> list[Environment] | None:
        """`%w[a b].each do |x|`: the values of `x`."""
        path, site, environment = statement
        receiver = site.value.receiver
        is_loop = site.value.text in ("each", "each_with_index") and receiver is not None
        if (
            not is_loop
            or receiver is None
            or not any(i.kind is ValueKind.FUNCTION for i in site.value.arguments)
        ):
            return None
        items = self._evaluator.items(Located(path, receiver, environment))
        block = next(item for item in site.value.arguments if item.kind is ValueKind.FUNCTION)
        names = self._parameters(path, block.start)
        if items is None or not names:
            return None
        rounds = []
        for item in items[:_MOST_ROUNDS]:
            values = [item]
            if len(names) > 1 and item.value.kind is ValueKind.LIST:
                values = [Located(path, part, environment) for part in item.value.items]
            table = {**environment.values, **dict(zip(names, values, strict=False))}
            rounds.append(Environment(table, environment.calls))
        return rounds

    def _parameters(self, path: RepoPath, start: int) -> list[str]:
        """The names between the bars of a block."""
        source = self._evaluator.code.source(path)[start : start + 300].decode("utf-8", "replace")
        head = source.removeprefix("do").removeprefix("{").lstrip()
        if not head.startswith("|"):
            return []
        return [name.strip(" ()*&") for name in head[1:].partition("|")[0].split(",")]

    def text(self, path: RepoPath, value: Value, environment: Environment) -> str | None:
        """A text or a symbol; None where it isn't known."""
        text = self._evaluator.text(Located(path, value, environment))
        if text is None:
            return None
        is_symbol = text.startswith(":") and value.kind is ValueKind.TEXT and self._is_symbol(path, value)
        return text[1:].strip("\"'") if is_symbol else text

    def _is_symbol(self, path: RepoPath, value: Value) -> bool:
        return value.start >= 0 and self._evaluator.code.source(path)[value.start : value.start + 1] == b":"

    def texts(self, path: RepoPath, value: Value, environment: Environment) -> list[str] | None:
        """The texts of a list, or the one text that a value is."""
        items = (
            self._evaluator.items(Located(path, value, environment))
            if value.kind is not ValueKind.TEXT
            else None
        )
        if items is None:
            text = self.text(path, value, environment)
            return None if text is None else [text]
        texts = [self.text(item.path, item.value, item.environment) for item in items]
        return None if None in texts else [text for text in texts if text is not None]
