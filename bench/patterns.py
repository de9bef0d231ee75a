"""Code patterns over Django, against `ast-grep` with the same patterns: CPU of one process each."""

import json
import resource
import stat
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

from bench.corpora import CACHE, python_package
from bench.measure import Figure
from codeplane.languages.operations import Source
from codeplane.languages.patterns import compile_pattern
from codeplane.languages.patterns.finding import kind_nodes
from codeplane.languages.patterns.matching import Matcher

RUNS = 3
BOUND = 1.5
PEER = "0.51.1"
PATTERNS = (
    "$F($$$A)",
    "def $F($$$A): $$$B",
    "$X.objects.filter($$$A)",
    "raise $E($$$A)",
    "isinstance($X, $T)",
    "for $A in $B: $$$C",
    "$X = $Y",
    "$A == $A",
    "assert $X",
)
_MEASURE = """
import json, sys, time
from pathlib import Path
from codeplane.languages.operations import Source
from codeplane.languages.patterns import compile_pattern, find_pattern, may_match

files = sorted(Path(sys.argv[1]).rglob("*.py"))

def search(text):
    spans = []
    started = time.process_time()
    pattern = compile_pattern("python", text)
    for file in files:
        data = file.read_bytes()
        if may_match(pattern, data):
            matches = find_pattern(Source("python", data), pattern)
            spans += [(str(file), match.node.start_byte, match.node.end_byte) for match in matches]
    return time.process_time() - started, spans

for text in sys.argv[3:]:
    runs = [search(text) for _ in range(int(sys.argv[2]))]
    print(json.dumps([min(seconds for seconds, _ in runs), runs[0][1]]))
"""
_Spans = set[tuple[str, int, int]]


def figures() -> list[Figure]:
    root = python_package("django", "5.2")
    peer = ast_grep()
    command = [sys.executable, "-c", _MEASURE, str(root), str(RUNS), *PATTERNS]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    rows = [json.loads(line) for line in output.splitlines()]
    return [
        _compare(pattern, seconds, {(path, start, end) for path, start, end in spans}, peer, root)
        for pattern, (seconds, spans) in zip(PATTERNS, rows, strict=True)
    ]


def ast_grep() -> Path:
    """The program of the wheel, fetched once."""
    folder = CACHE / f"ast-grep-cli-{PEER}"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        subprocess.run([*command, f"ast-grep-cli=={PEER}"], check=True)
        [wheel] = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    [program] = folder.glob("*.data/scripts/ast-grep")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def _compare(pattern: str, seconds: float, ours: _Spans, peer: Path, root: Path) -> Figure:
    runs = [_run_peer(peer, pattern, root) for _ in range(RUNS)]
    other = min(cpu for cpu, _ in runs)
    theirs = runs[0][1]
    reasons = Counter(_reason(pattern, span) for span in theirs - ours)
    differences = [f"only theirs {count}: {reason}" for reason, count in reasons.most_common(4)]
    differences += [f"only ours {len(ours - theirs)}"] if ours - theirs else []
    detail = f"{seconds:.2f} s; ast-grep {other:.2f} s; {len(ours)} matches, ast-grep {len(theirs)}"
    return Figure(pattern, seconds / other, "×", BOUND, "; ".join([detail, *differences]))


def _run_peer(peer: Path, pattern: str, root: Path) -> tuple[float, _Spans]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        str(peer),
        "run",
        "-p",
        pattern,
        "-l",
        "python",
        "--json=stream",
        "-j",
        "1",
        "--no-ignore",
        "vcs",
    ]
    lines = subprocess.run([*command, str(root)], capture_output=True, text=True).stdout.splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = [json.loads(line) for line in lines]
    spans = {(row["file"], *_bytes_of(row)) for row in rows}
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, spans


def _bytes_of(row: dict[str, dict[str, dict[str, int]]]) -> tuple[int, int]:
    place = row["range"]["byteOffset"]
    return place["start"], place["end"]


def _reason(text: str, span: tuple[str, int, int]) -> str:
    """What of the peer's match the pattern does not have: the strict reading leaves nothing over."""
    source = Source("python", Path(span[0]).read_bytes())
    pattern = compile_pattern("python", text)
    matcher = Matcher(pattern, source.data)
    for node in kind_nodes(source, pattern.root):
        if (node.start_byte, node.end_byte) == span[1:] and matcher.match_node(node) is None:
            difference = matcher.difference
            if difference is not None and difference.node is not None and difference.part is None:
                return f"`{difference.node.type}` would be left over"
            return (
                f"`{difference.node.type}` is there" if difference and difference.node else "something lacks"
            )
    return "no node of this kind"
