"""How a definition goes to another file of its package: the package clause, and the imports that it uses."""

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.go import declarations, modules
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Stuck
from codeplane.languages.ordering import differences
from codeplane.languages.rules.carrying import Carrying, CarryRules, Wanted

_TEST: Final = "_test.go"
_BUILD: Final = re.compile(rb"^//(?:go:build|\s*\+build)\s[^\n]*$", re.MULTILINE)
_CLAUSE: Final = re.compile(rb"^package\s+(\w+)", re.MULTILINE)
_RUN_BY_NAME: Final = re.compile(r"(?:Test|Benchmark|Example|Fuzz)(?![a-z])")
_BOUND: Final = re.compile(r"^\s*//(go:embed|go:linkname|export)\b", re.MULTILINE)
# The endings of file names that hold for one system or processor alone (`go tool dist list`).
_SYSTEMS: Final = frozenset(
    "aix android darwin dragonfly freebsd illumos ios js linux netbsd openbsd plan9 solaris wasip1 windows"
    " 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm".split()
)


class GoCarrying(CarryRules):
    """How a definition of Go goes to another file of its package."""

    refuses_unused = True
    static_kinds = frozenset(("go_import", "go_named"))

    def objection(self, carrying: Carrying) -> str | None:
        """What the package, the build constraints and the test runner say."""
        source, target = carrying.source, carrying.target
        if not target.endswith(".go"):
            return f"`{target}` is no Go file."
        package, other = (_package_clause(carrying.read(path)) for path in (source, target))
        if posixpath.dirname(source) != posixpath.dirname(target) or (other and other != package):
            return (
                f"A Go symbol can only be moved inside its package: `to_path` has to be a file of package"
                f" {package} in `{posixpath.dirname(source) or '.'}`."
            )
        if package.endswith("_test") and not target.endswith(_TEST):
            return f"Package {package} is for files that end in `{_TEST}`."
        if target.endswith(_TEST) and not source.endswith(_TEST):
            return f"Only tests see what `{target}` defines."
        if source.endswith(_TEST) and not target.endswith(_TEST) and _RUN_BY_NAME.match(carrying.name):
            return f"`go test` finds {carrying.name} by its name, in files that end in `{_TEST}`."
        built, builds = (_build_constraints(carrying, path) for path in (source, target))
        if built != builds:
            names = (", ".join(one) or "none" for one in (built, builds))
            return f"`{source}` and `{target}` have different build constraints: {'; '.join(names)}."
        if any(item.kind == "go_dot" for item in carrying.sources.imports(source)):
            return "A dot import of the file may bring what the definition uses."
        return None

    def is_shared(self, carrying: Carrying) -> bool:
        """The files of a package see each other."""
        del carrying
        return True

    def file_header(self, carrying: Carrying) -> str:
        """The package clause, with the build constraints of the old file."""
        data = carrying.read(carrying.source)
        constraints = "".join(f"{one}\n" for one in _build_lines(data))
        return (f"{constraints}\n" if constraints else "") + f"package {_package_clause(data)}\n"

    def standalone_text(self, data: bytes, line: int, text: str, *, is_imported: bool) -> str | Stuck:
        """A declaration out of a list between parentheses gets the keyword that stands before the list."""
        del is_imported
        if match := _BOUND.search(text):
            return Stuck(line, f"`//{match[1]}` rests on the imports or the directory of its file.")
        return declarations.lifted(data, line, text)

    def runs_nothing(self, data: bytes, line: int) -> bool:
        """A package is one unit."""
        del data, line
        return True

    def drop_imports(self, data: bytes, items: Sequence[Import]) -> Sequence[TextEdit]:
        """The lines of imports, and a list that has none left."""
        return list(differences(data, declarations.without(data, {item.line for item in items})))

    def module_text(self, sources: Sources, path: str, target: str) -> str | None:
        """The path of the package that a file is in."""
        del path
        return modules.module_name(sources, target)

    def import_from(self, item: Import, module: str, data: bytes) -> Wanted:
        """The import of a package by its local name."""
        del data
        return Wanted(None, module, item.alias if item.kind == "go_named" else "")

    def is_plain(self, data: bytes, item: Import) -> bool:
        """All but `C`, which is what the comment above it says."""
        del data
        return item.module != "C"

    def add_imports(self, sources: Sources, path: str, data: bytes, wanted: Sequence[Wanted]) -> bytes:
        """A file with more imports, in the lists that are there, sorted as `gofmt` does."""

        def is_ours(module: str) -> bool:
            return bool(modules.places(sources, path, Import(0, "go_named", module, "", "_", 0, 0)))

        for one in wanted:
            data = declarations.added(data, one, is_ours)
        return data


RULES: Final = GoCarrying()


def _package_clause(data: bytes) -> str:
    match = _CLAUSE.search(data)
    return match[1].decode() if match else ""


def _build_constraints(carrying: Carrying, path: str) -> list[str]:
    """Under which conditions a file is built: by its name and by what stands above its package clause."""
    words = posixpath.basename(path).removesuffix(".go").removesuffix("_test").split("_")[1:]
    systems = [word for word in words[-2:] if word in _SYSTEMS]
    is_new = path == carrying.target and carrying.is_new
    return [*systems, *_build_lines(carrying.read(carrying.source if is_new else path))]


def _build_lines(data: bytes) -> list[str]:
    clause = _CLAUSE.search(data)
    head = data[: clause.start() if clause else 0]
    return [one.decode("utf-8", "surrogateescape").strip() for one in _BUILD.findall(head)]
