"""C and C++ by libclang: a program of ours that a Python with its bindings runs over a whole context."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeplane.core.errors import ProgramError
from codeplane.core.paths import RepoPath
from codeplane.languages import language_of, possible_languages
from codeplane.process import Finished
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import IndexCommand, Indexer, IndexTask, Tool, ask_version
from codeplane.semantic.indexers._compile_commands import (
    COMMANDS,
    Trees,
    Unit,
    guessed_units,
    is_header,
    recorded_units,
)
from codeplane.semantic.indexers._extractors import EXTRACTORS, summary_notes

_SOURCE: Final = EXTRACTORS / "clang" / "extract.py"
# A name with a typing error has no meaning, nor has a file an end at its twentieth error.
_ALWAYS: Final = ("-fno-spell-checking", "-ferror-limit=0", "-w")
# The wheel of libclang has no headers of the compiler: `stddef.h`, `stdarg.h`.
_COMPILER_HEADERS: Final = ("lib/clang/*/include", "lib/llvm-*/lib/clang/*/include", "lib/gcc/*/*/include")
_PLACES: Final = (Path("/usr"), Path("/usr/local"))


class _Libclang(Indexer):
    name = "libclang"
    languages = frozenset(("c", "cpp"))
    program = "python3"
    install = "pip install libclang (in the project's environment), or python3-clang of the system"
    configuration_files = (COMMANDS, f"build/{COMMANDS}")

    def find(self, toolbox: Toolbox, near: RepoPath) -> Tool | None:
        """The first interpreter that has the bindings: the project's, then the user's."""
        for program in dict.fromkeys(_interpreters(toolbox, near)):
            if version := ask_version(toolbox, program, ("-B", str(_SOURCE), "--version")):
                return Tool(program, version)
        return None

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path, plan = task.output / "index.scip", task.output / "plan.json"
        plan.write_text(json.dumps(_make_plan(task)), encoding="utf-8")
        argv = (str(task.tool.program), "-B", str(_SOURCE), str(plan), str(path))
        return [IndexCommand(argv, task.output, output=path)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return summary_notes(finished)


def _interpreters(toolbox: Toolbox, near: RepoPath) -> Iterator[Path]:
    with suppress(ProgramError):
        yield toolbox.python(near)
    with suppress(ProgramError):
        yield toolbox.programs.find("python3")


def _make_plan(task: IndexTask) -> dict[str, object]:
    """What is parsed: sources as their build compiles them, else as their includes suggest, and headers."""
    trees = Trees(task.scratch, task.original)
    context = replace(task.context, files=tuple(path for path in task.context.files if path.isprintable()))
    builds = [one for one in recorded_units(trees, context) if not is_header(one.path)]
    paths = {one.path for one in builds}
    rest = [path for path in context.files if path not in paths]
    others = guessed_units(trees, context, rest)
    c_files = {path for path in context.files if _is_c(task.scratch, path)}
    language = "c" if any(path.endswith(".c") for path in context.files) else "c++"
    ending = [option for path in _compiler_headers() for option in ("-idirafter", str(path))]
    return {
        "root": str(task.scratch),
        "own": [str(task.original)] if task.original is not None else [],
        "files": list(context.files),
        "c_files": sorted(c_files),
        "units": [_record(one, ending) for one in (*builds, *others) if not is_header(one.path)],
        "headers": [
            _record(one, ["-x", language if one.path in c_files else "c++", *ending])
            for one in others
            if is_header(one.path)
        ],
    }


def _is_c(scratch: Path, path: RepoPath) -> bool:
    """Whether those who read the index read a file as C."""
    is_open = len(possible_languages(path)) > 1
    try:
        data = (scratch / path).read_bytes() if is_open else b""
    except OSError:
        data = b""
    return language_of(path, data) == "c"


def _record(unit: Unit, ending: Sequence[str]) -> dict[str, object]:
    return {
        "path": unit.path,
        "arguments": [*_ALWAYS, *unit.arguments, *ending],
        "is_guess": unit.is_guess,
    }


def _compiler_headers() -> list[Path]:
    """Directories with the headers that belong to a compiler, clang's first; they are searched last."""
    return [
        path for pattern in _COMPILER_HEADERS for place in _PLACES for path in sorted(place.glob(pattern))
    ]


INDEXER = _Libclang()
