"""Histories that fork: `main` and `side` have both gone on from a common ancestor, now and then from two."""

from hypothesis import strategies as st

from tests.git.histories import File, Files, Made, World, changed, contents

_NAMES = ("a.txt", "b.txt", "dir/a.txt", "dir/c.py", "x", "é.md", "-n")
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_WHEN = 1_600_000_000


def long_text(word: str) -> bytes:
    """Enough different lines for a file to be known again after an edit."""
    return "".join(f"{word} {number}\n" for number in range(12)).encode()


@st.composite
def forks(draw: st.DrawFn, *, most: int = 3, crossed: bool = False) -> World:
    """A clean world. With `crossed`, each side has merged an early state of the other, so that two common
    ancestors are left."""
    first = draw(_start())
    commits = [_made(0, (), first)]
    tips: dict[str, int] = {}
    for name in ("side", "main"):
        at = 0
        for _ in range(draw(st.integers(1, most))):
            commits.append(_made(len(commits), (at,), draw(changed(commits[at].files, most=3))))
            at = len(commits) - 1
        tips[name] = at
    if crossed:
        old = dict(tips)
        for name, other in (("side", "main"), ("main", "side")):
            both = {**commits[old[other]].files, **commits[old[name]].files}
            files = draw(changed(_without_clashes(both), most=2))
            commits.append(_made(len(commits), (old[name], old[other]), files))
            tips[name] = len(commits) - 1
    last = commits[-1].files
    return World(tuple(commits), tips["side"], last, last)


@st.composite
def _start(draw: st.DrawFn) -> Files:
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=6, unique=True))
    texts = st.sampled_from(_WORDS).map(long_text)
    return {name: File(draw(st.one_of(texts, texts, contents()))) for name in names}


def _made(number: int, parents: tuple[int, ...], files: Files) -> Made:
    return Made(parents, files, "A <a@example.org>", f"Commit {number}\n", _WHEN + 60 * number, "+0000")


def _without_clashes(files: Files) -> Files:
    return {
        path: file for path, file in files.items() if not any(other.startswith(f"{path}/") for other in files)
    }
