"""How long answers are: p50 and p95 of each tool's text over realistic calls on six repositories.

Symbols, words and files are drawn by seed from the sources by plain patterns, so that the same calls
can be made of any version of CodePlane. `python -m bench.sizes N NAME …`: N calls of each tool, on some.
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import anyio

from bench.builds import pflag, regex_syntax
from bench.corpora import npm_package, python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

CALLS: Final = 50
SEED: Final = 18
_WRITE: Final = 1_000
_BOUNDS: Final = {"write_source": _WRITE, "undo": _WRITE, "semantic_diff": 6_000}
_DEFINITION: Final = re.compile(
    r"^\s*(?:export |pub |async |default )*(?:def|class|func|function|fn|struct|trait|interface)\s+(\w{4,})",
    re.MULTILINE,
)
_WORDS: Final = re.compile(r"[A-Za-z]{4,}")
_ENDINGS: Final = {".py", ".ts", ".go", ".rs"}

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Symbol:
    path: str
    line: int
    name: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class World:
    """A repository, what there is to ask about it, and the two states that its history has."""

    root: Path
    symbols: list[Symbol]
    words: list[str]
    states: tuple[str, str] | None

    def symbol(self, dice: random.Random) -> Symbol:
        return dice.choice(self.symbols)

    def path(self, dice: random.Random) -> str:
        return self.symbol(dice).path


Maker = Callable[[World, random.Random], Arguments]
_ASKED: Final[dict[str, Maker]] = {
    "map_repo": lambda world, dice: {},
    "describe": lambda world, dice: {},
    "search": lambda world, dice: {"query": " ".join(dice.sample(world.words, dice.choice((1, 1, 2))))},
    "symbols_search": lambda world, dice: {"query": world.symbol(dice).name[:6]},
    "list_files": lambda world, dice: {"path": world.path(dice).rpartition("/")[0] or "."},
    "read_source": lambda world, dice: {"targets": [world.symbol(dice).place for _ in range(2)]},
    "symbols_get_card": lambda world, dice: {"symbol": world.symbol(dice).place},
    "refs_find": lambda world, dice: {"symbol": world.symbol(dice).place},
    "graph_callers": lambda world, dice: {"symbol": world.symbol(dice).place, "depth": dice.choice((1, 2))},
    "types_hierarchy": lambda world, dice: {"symbol": world.symbol(dice).place},
    "find_unused": lambda world, dice: {"path": world.path(dice).rpartition("/")[0] or "."},
    "git_status": lambda world, dice: {},
    "git_log": lambda world, dice: {"limit": 10},
    "refactor_rename": lambda world, dice: {
        "symbol": (one := world.symbol(dice)).place, "new_name": f"{one.name}_x", "apply": "never",
    },
    "refactor_delete": lambda world, dice: {"symbol": world.symbol(dice).place, "apply": "never"},
}  # fmt: skip


def figures(calls: int = CALLS, chosen: tuple[str, ...] = ()) -> Iterator[Figure]:
    sizes: dict[str, list[int]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    for name, fetch in _REPOSITORIES.items():
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="cpl-") as base:
            for tool, text, is_error in _answers(_copy(fetch(), Path(base) / name), Path(base), calls):
                sizes[tool].append(len(text))
                errors[tool] += is_error
    for tool, found in sorted(sizes.items()):
        cuts = quantiles(found, n=20)
        told = f"p50 {cuts[9]:.0f}, longest {max(found)}; {len(found)} calls, {errors[tool]} refused"
        yield Figure(f"{tool}, p95", cuts[18], "ch", _BOUNDS.get(tool), told)


_REPOSITORIES: Final[dict[str, Callable[[], Path]]] = {
    "django": lambda: python_history("django", ("5.1", "5.2")),
    "scrapy": lambda: python_history("scrapy", ("2.12.0", "2.13.3")),
    "flask": lambda: python_history("flask", ("3.0.3", "3.1.0")),
    "zod": lambda: npm_package("zod", "4.1.12"),
    "pflag": pflag,
    "regex-syntax": regex_syntax,
}


def _copy(source: Path, root: Path) -> Path:
    shutil.copytree(source, root, symlinks=True, ignore=shutil.ignore_patterns(".codeplane"))
    _git(root, "add", "-A")
    if _git(root, "status", "--porcelain"):
        _git(root, "commit", "-qm", "as it came")
    return root


def _git(root: Path, *arguments: str) -> str:
    author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    done = subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def _world(root: Path) -> World:
    symbols, words = [], set()
    for path in _git(root, "ls-files", "-z").split("\0"):
        if Path(path).suffix not in _ENDINGS or "/test" in path or path.endswith(".d.ts"):
            continue
        text = (root / path).read_text(errors="replace")
        symbols += [
            Symbol(path, text.count("\n", 0, match.start(1)) + 1, match[1])
            for match in _DEFINITION.finditer(text)
        ]
        words.update(_WORDS.findall(text[:4000]))
    tags = _git(root, "tag").split()
    return World(root, symbols, sorted(words), (tags[0], tags[-1]) if len(tags) > 1 else None)


def _answers(root: Path, base: Path, calls: int) -> Iterator[tuple[str, str, bool]]:
    for part, value in (("name", "bench"), ("email", "bench@example.org")):
        _git(root, "config", f"user.{part}", value)
    world, dice = _world(root), random.Random(SEED)
    session = RepoSession.open(Checkout.find(root, Places.of_user({"HOME": str(base), "TMPDIR": str(base)})))
    try:
        session.index.refresh()
        pipeline = Pipeline(session, all_tools())

        def ask(tool: str, arguments: Arguments) -> tuple[str, str, bool]:
            answer = anyio.run(pipeline.call, Request(tool, arguments, "bench"))
            return tool, answer.text, answer.is_error

        for tool, make in _ASKED.items():
            if tool in all_tools():
                for _ in range(calls):
                    yield ask(tool, make(world, dice))
        for _ in range(calls):
            yield from (ask(tool, arguments) for tool, arguments in _edit(world, dice))
        if world.states:
            base_state, target = world.states
            for _ in range(calls):
                paths = [world.path(dice).partition("/")[0]] if dice.random() < 0.2 else [world.path(dice)]
                yield ask("semantic_diff", {"base": base_state, "target": target, "paths": paths})
    finally:
        session.close()


def _edit(world: World, dice: random.Random) -> Iterator[tuple[str, Arguments]]:
    """A definition gets another name where it stands, which breaks its callers; then that is taken back."""
    symbol = world.symbol(dice)
    line = (world.root / symbol.path).read_text(errors="replace").splitlines()[symbol.line - 1]
    edit = {"path": symbol.path, "start_line": symbol.line, "end_line": symbol.line}
    new = re.sub(rf"\b{symbol.name}\b", f"{symbol.name}_x", line, count=1)
    yield "read_source", {"targets": [symbol.place]}
    yield "write_source", {"edits": [{**edit, "expected_content": line, "new_content": new}]}
    yield "git_diff", {}
    yield "inspect_affected_tests", {"affected_by": "changes"}
    yield "undo", {}


if __name__ == "__main__":
    count, *names = sys.argv[1:]
    for figure in figures(int(count), tuple(names)):
        print(f"{figure.name:<30} {figure.value:>8.0f}  {figure.detail}")
