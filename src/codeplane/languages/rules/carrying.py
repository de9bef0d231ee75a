"""How a definition goes from one module to another: the text that moves, and the imports that follow it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Stuck
from codeplane.languages.spec import part_of


class Wanted(NamedTuple):
    """Something that a file has to import."""

    module: str | None  # that the name is taken from; None where the name is the module
    name: str
    alias: str = ""  # "" where there is none
    is_type: bool = False  # it is needed by the compiler alone
    is_export: bool = False  # it is passed on, and not bound in the file


class Use(NamedTuple):
    """Something that is imported, and the bytes of a file where it is used."""

    wanted: Wanted
    offsets: Sequence[int]


@dataclass(frozen=True)
class Carrying:
    """A definition that goes from one file to another, in a view that has both."""

    sources: Sources
    source: str
    target: str
    name: str
    read: Callable[[str], bytes]  # a file as it is; nothing for one that is not there yet

    @property
    def is_new(self) -> bool:
        """Whether the target is not there yet, or empty."""
        return not self.read(self.target).strip()


class CarryRules(Protocol):
    """How definitions go from module to module.

    By default, a definition is text that any module may hold, and import statements change one by one.
    """

    separator: str = "\n\n"  # what separates a definition from the one before it
    # The compiler refuses imports that nothing uses: what is not a name in the code does not keep one.
    refuses_unused: bool = False
    # Modules that import each other are loaded all the same; only what runs meanwhile may miss something.
    cycles_load: bool = False
    static_kinds: frozenset[str] = frozenset()  # kinds of imports that only bind names in their file

    def objection(self, carrying: Carrying) -> str | None:
        """Why a definition cannot go there by the rules of the language; None where it can."""
        return None

    def is_shared(self, carrying: Carrying) -> bool:
        """Whether both files see each other's definitions without an import."""
        return False

    def file_header(self, carrying: Carrying) -> str:
        """What a new file has to begin with."""
        return ""

    def standalone_text(self, data: bytes, line: int, text: str, *, is_imported: bool) -> str | Stuck:
        """The text of a definition, at a line of its file, as it is written on its own elsewhere."""
        return text

    def export_edit(self, data: bytes, line: int) -> TextEdit | Stuck | None:
        """What lets other modules import the definition at a line; None where they can."""
        return None

    def is_type(self, data: bytes, line: int) -> bool:
        """Whether the definition at a line is there for the compiler alone."""
        return False

    def runs_nothing(self, data: bytes, line: int) -> bool:
        """Whether the definition at a line is there before its module is run."""
        return False

    def redirect_imports(
        self, data: bytes, moves: Sequence[tuple[Import, str | None]]
    ) -> Sequence[TextEdit] | None:
        """Imports with their names from other modules, or from none; None where they change one by one."""
        return None

    def drop_imports(self, data: bytes, items: Sequence[Import]) -> Sequence[TextEdit] | None:
        """What takes imports out of a file; None where one after the other can be cut out of its list."""
        return None

    def is_deferred(self, data: bytes, item: Import) -> bool:
        """Whether an import is not made while the file is loaded: it is in a function, or for types."""
        return False

    def import_locally(self, data: bytes, uses: Sequence[Use]) -> Sequence[TextEdit] | None:
        """Imports in the functions that use something; None where not only functions do."""
        return None

    def module_text(self, sources: Sources, path: str, target: str) -> str | None:
        """The text by which a file imports another; None where there is none."""

    def import_from(self, item: Import, module: str, data: bytes) -> Wanted:
        """The import of one thing from a module by another text."""

    def is_plain(self, data: bytes, item: Import) -> bool:
        """Whether an import stands on its own at the top of a file, under no condition."""

    def file_wide_imports(self, data: bytes) -> list[Wanted]:
        """The imports at the top of a file that change what the whole of it means."""
        return []

    def add_imports(self, sources: Sources, path: str, data: bytes, wanted: Sequence[Wanted]) -> bytes:
        """A file with more imports, merged into what is there and sorted as that is."""

    def keeps_order(self, data: bytes, item: Import, module: str) -> bool:
        """Whether an import can take its name from another module where it stands: nothing else is taken from
        there, and the order of the file stays."""
        return True

    def change_module(self, data: bytes, item: Import, module: str | None) -> TextEdit | None:
        """The statement of an import with one name from another module, or without it where that is None."""
        return None


@cache
def carry_rules(language: str) -> CarryRules | None:
    """What a language says about definitions that go to another module, itself or by the one it inherits."""
    module = part_of(language, "carrying")
    rules: CarryRules | None = module.RULES if module is not None else None
    return rules
