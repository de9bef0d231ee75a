"""Whether lanes lead to the files that real fixes changed, from the words of their commits alone.

`python -m bench.recon_lanes NAME=CLONE …` takes clones that are at hand; `figures` clones by address. Each
fix is asked about in the state before it, and the episodic lane knows only the commits before it.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conformance import node
from tests.index.conftest import tree_of

from bench.corpora import CACHE
from bench.measure import Figure
from codeplane.index import Workers
from codeplane.names import Index, Snapshot
from codeplane.recon.candidates import Lane, LaneQuery, LaneSources, PastChange
from codeplane.recon.retrieval import retrieve

FIXES = 10
FIRST = 10  # files of an answer that count
MOST_CHANGED = 4
COMMITS = 500


class Corpus(NamedTuple):
    """A repository, the commit that its fixes are before, and the folder of its source."""

    address: str
    until: str
    source: str


CORPORA = {
    "click": Corpus("https://github.com/pallets/click", "8.4.2", "src/click/"),
    "scrapy": Corpus("https://github.com/scrapy/scrapy", "2.13.0", "scrapy/"),
    "httpx": Corpus("https://github.com/encode/httpx", "0.28.1", "httpx/"),
}


class Fix(NamedTuple):
    """A commit: its parent, its words without trailers, and the source files that it changed."""

    parent: str
    prompt: str
    changed: frozenset[str]


def figures() -> Iterator[Figure]:
    for name, corpus in CORPORA.items():
        yield from corpus_figures(name, clone_of(name, corpus), corpus)


def corpus_figures(name: str, clone: Path, corpus: Corpus) -> Iterator[Figure]:
    """Recall of all lanes together, then of each alone, over the fixes of one repository."""
    fixes = list(last_fixes(clone, corpus))
    hits = dict.fromkeys(["all", *Lane], 0.0)
    cpu = 0.0
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        index = Index.open(Path(folder) / "index.db", tree_of(clone), Workers(2))
        index.refresh()
        for fix in fixes:
            with index.commit_snapshot(fix.parent) as snapshot:
                began = time.process_time()
                hits["all"] += recall(snapshot, clone, fix, tuple(Lane))
                cpu += time.process_time() - began
                for lane in Lane:
                    hits[lane] += recall(snapshot, clone, fix, (lane,))
        index.close()
    for lane, total in hits.items():
        detail = f"{len(fixes)} fixes before {corpus.until}"
        if lane == "all":
            detail += f"; {cpu / len(fixes) * 1e3:.0f} ms CPU each"
        yield Figure(f"{name}: recall@{FIRST}, {lane}", 100 * total / len(fixes), "%", None, detail)


def recall(snapshot: Snapshot, clone: Path, fix: Fix, lanes: Sequence[Lane]) -> float:
    """The share of the changed files among the first ones of the answer."""
    sources = LaneSources(snapshot, past_changes=lambda: past_commits(clone, fix.parent))
    answer = retrieve(LaneQuery(fix.prompt), sources, lanes)
    return len(fix.changed.intersection(answer.top_paths(FIRST))) / len(fix.changed)


def last_fixes(clone: Path, corpus: Corpus) -> Iterator[Fix]:
    """The last commits that say `fix`, change some source files that were there before, and tests."""
    count = 0
    for commit in _git(clone, "rev-list", "--no-merges", "-i", "--grep=fix", corpus.until).split():
        changes = [
            line.split("\t")
            for line in _git(
                clone, "diff", "--name-status", "--no-renames", f"{commit}^", commit
            ).splitlines()
        ]
        changed = {path for state, path in changes if path.startswith(corpus.source) and path.endswith(".py")}
        is_old = all(state == "M" for state, path in changes if path in changed)
        has_tests = any(path.startswith("tests/") for _, path in changes)
        if is_old and has_tests and 0 < len(changed) <= MOST_CHANGED:
            message = _git(clone, "log", "-1", "--format=%s%n%n%b", commit)
            lines = [line for line in message.splitlines() if not _is_trailer(line)]
            yield Fix(f"{commit}^", "\n".join(lines).strip(), frozenset(changed))
            count += 1
            if count == FIXES:
                return


def past_commits(clone: Path, commit: str) -> list[PastChange]:
    """The commits before a state, newest first."""
    log = _git(clone, "log", "--no-merges", f"-{COMMITS}", "--name-only", "--format=%x00%h%x00%s", commit)
    parts = log.split("\0")[1:]
    changes = []
    for name, rest in zip(parts[::2], parts[1::2], strict=True):
        subject, *paths = rest.splitlines()
        changes.append(PastChange(name, subject, tuple(path for path in paths if path)))
    return changes


def clone_of(name: str, corpus: Corpus) -> Path:
    """The clone of a corpus, made once."""
    target = CACHE / f"{name}-clone"
    if not (target / ".git").exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        if subprocess.run(["git", "clone", "-q", corpus.address, str(target)], check=False).returncode:
            raise node.Unavailable(f"{corpus.address} can't be cloned; name a clone: {name}=CLONE")
    return target


def _is_trailer(line: str) -> bool:
    return line.lower().startswith(("co-authored-by:", "signed-off-by:"))


def _git(clone: Path, *arguments: str) -> str:
    command = ["git", "-C", str(clone), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    for argument in sys.argv[1:]:
        name, _, clone = argument.partition("=")
        for figure in corpus_figures(name, Path(clone), CORPORA[name]):
            print(f"{figure.name:<36} {figure.value:6.1f} {figure.unit}  {figure.detail}")


if __name__ == "__main__":
    main()
