"""The text of definitions that go to another file, and which bytes of it stood where before."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Definition
from codeplane.languages.moving import Stuck
from codeplane.languages.rules.carrying import CarryRules
from codeplane.refactor.plan import Piece, Site
from codeplane.refactor.text import Lines


@dataclass
class MovedText:
    """Definitions of a file one after the other, as they are written in the new one."""

    language: CarryRules
    data: bytes  # the old file
    imports: Sequence[TextEdit]  # that come into functions of the definitions
    block: bytes = b""
    pieces: list[Piece] = field(default_factory=list)
    _end: int = -1  # of the definition before, in the old file
    _gap: int = 0  # the line ends behind it there

    @property
    def text(self) -> str:
        return self.block.decode("utf-8", "surrogateescape") + "\n"

    def add(self, item: Definition, site: Site, *, is_imported: bool) -> Stuck | None:
        """Takes a definition over; what keeps it from standing on its own, if something does."""
        text = self.language.standalone_text(
            self.data, item.name_line, site.old.strip("\n"), is_imported=is_imported
        )
        if isinstance(text, Stuck):
            return text
        lines, old = Lines(self.data), site.old.encode("utf-8", "surrogateescape")
        start = lines.offset(site.line, site.column)
        if self.block:
            # Overloads that follow each other stay as close as they were.
            self.block += b"\n" * self._gap if start == self._end else self.language.separator.encode()
        self._end, self._gap = start + len(old), len(old) - len(old.rstrip(b"\n"))
        last = site.line + site.old.count("\n")
        imports = [one for one in self.imports if site.line <= one.line <= last]
        if imports:
            self._add_with(item, site, imports)
        else:
            new = (len(self.block), len(self.block) + len(text.encode("utf-8", "surrogateescape")))
            self.block += text.encode("utf-8", "surrogateescape")
            self.pieces.append(Piece(site.path, item.name, item.owner, ((start, self._end),), (new,)))
        return None

    def _add_with(self, item: Definition, site: Site, imports: Sequence[TextEdit]) -> None:
        """A definition with imports in its functions; the spans around these hold the same text."""
        lines, body = Lines(self.data), site.old.encode("utf-8", "surrogateescape")
        start = lines.offset(site.line, site.column) + len(body) - len(body.lstrip(b"\n"))
        stop = start + len(body.strip(b"\n"))
        was, is_now = [], []
        for at, new in (*((lines.offset(one.line, one.column), one.new) for one in imports), (stop, "")):
            was.append((start, at))
            is_now.append((len(self.block), len(self.block) + at - start))
            self.block += self.data[start:at] + new.encode("utf-8", "surrogateescape")
            start = at
        self.pieces.append(Piece(site.path, item.name, item.owner, tuple(was), tuple(is_now)))
