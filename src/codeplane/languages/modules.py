"""How names reach across files: what a language's `modules.py` says, and what it may ask.

A language that can be linked has a module `modules` with the functions of `ModuleRules`. They answer by the
language's own module rules or not at all: what is not certain is an empty answer, never a guess.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.facts import Import
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.spec import part_of

K = TypeVar("K")
V = TypeVar("V")


class Member(NamedTuple):
    """A definition inside a place."""

    place: Place
    name: str
    kind: str
    flags: int
    has_body: bool  # it opens a scope of its own: not a bare declaration such as `mod x;`
    annotation: str = ""  # of a module, the file that it is said to be in


class Sources(Protocol):
    """What the rules may ask about the files of a view. Paths are relative to the repository, `/` between."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""

    def is_directory(self, path: str) -> bool:
        """Whether there are files below; "" is the root."""

    def names_in(self, directory: str) -> Sequence[str]:
        """The names of the files directly in a directory, in order."""

    def paths_named(self, name: str) -> Sequence[str]:
        """All files with this name in any directory, in order: `go.mod`, `package.json`."""

    def read(self, path: str) -> bytes | None:
        """The bytes of a small file such as a manifest; None when there is none or it is over 1 MB."""

    def package(self, path: str) -> str:
        """The package that the file declares to be in, as written, or ""."""

    def namespace(self, place: Place) -> str:
        """The full name of a namespace in a file, with that of the file's package before it; of a file as a
        whole, its package."""

    def declaring(self, package: str, language_family: str) -> Sequence[Place]:
        """Files that declare to be in the package, and definitions of kind `namespace` that have this full
        name (the names of the namespaces around it included, with dots between)."""

    def members(self, place: Place, name: str) -> Sequence[Member]:
        """The definitions of this name that stand directly in a place."""

    def imports(self, path: str) -> Sequence[ForeignImport]:
        """The imports of a file."""

    def space(self, path: str, scope: int) -> Place:
        """The innermost namespace or module around a scope of a file, or the file."""

    def spaces(self, place: Place) -> Sequence[Member]:
        """A namespace or module in a file and those around it, inner ones first; none for a file."""

    def placed(self, kind: str) -> Sequence[tuple[Place, int, str]]:
        """The definitions of a kind that have an annotation: each with its scope and the annotation."""

    def once(self, slot: InterfaceSlot[K, V], key: K, find: Callable[[], V]) -> V:
        """What follows from the files that there are and nothing else, worked out once."""


class WholeSources(Sources, Protocol):
    """`Sources` for who changes files and has to know where things stand."""

    def import_statements(self, path: str) -> Sequence[Import]:
        """The imports of a file with their positions."""


class ModuleRules(Protocol):
    """The functions of a language's `modules.py`."""

    def module_name(self, sources: Sources, path: str) -> str:
        """The name of the module that the file is or belongs to, as the language says it: `pkg.mod`,
        `example.com/app/store`, `app::store`, `com.example`. The qualified names of its definitions begin
        with it. The path without its ending where the language has no such name."""

    def places(self, sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
        """What `imported.module` means in the file `path`: the places where `imported.name` is looked up, or
        that the local name stands for where there is no name. Several where a package has several files.
        Empty: outside the repository, or not certain."""

    def ambient(self, sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
        """Places whose names are seen without an import inside `place`, which is a file or a namespace in
        it: the package's other files, enclosing namespaces. In groups; the first group that has a name
        counts. Star imports of the file come after these and are not to be given."""

    def submodule(self, sources: Sources, place: Place, name: str) -> Sequence[Place]:
        """The module `name` inside a module, where that is another file: `pkg/name.py`, `mod name;`. Asked
        when the place does not define the name, or only declares it."""

    def qualified(self, sources: Sources, place: Place, text: str) -> Import | None:
        """A name with the spec's `qualifier` in it, as the import that it amounts to in a file or namespace.
        Only languages with a qualifier have this."""

    def candidates(self, sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
        """Every place that an import may mean where it is not certain which: for questions of what it may
        bring, not of what it means. Only languages where that happens have this."""

    def head(self, sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place] | None:
        """Where a path begins whose first part (`crate`, `super::super`, a name) is `imported.module`; None
        where that is a name like any other. Only languages with `module_keywords` have this."""


@cache
def module_rules(language: str) -> ModuleRules | None:
    """The rules of a language, its own or those of the language that it inherits from."""
    rules: ModuleRules | None = part_of(language, "modules")
    return rules
