"""Refreshes while the tree changes all the time: no fact is ever about another content than it says."""

import hashlib
import random
import threading
import zlib
from collections.abc import Iterator, Sequence

import pytest

from codeplane.index.semantics import facts_of
from codeplane.names import Freshness
from codeplane.parsing.pack import unpack_occurrences
from tests.drive import git
from tests.semantic.test_refresh import Made
from tests.semantic.test_refresh import made as made

# Of one length, so that a document of another content has many tokens in the right places.
NAMES = ("alpha", "delta", "gamma")


_PATHS = (("app.py",), ("app.py",), ("lib.py",), ("app.py", "lib.py"))


def write_something(
    made: Made, chance: random.Random, written: dict[str, bytes], choices: Sequence[Sequence[str]] = _PATHS
) -> None:
    """Another order of definitions, other places of calls, or both as a commit or on another branch."""
    functions = [f"def {name}():\n    pass\n\n\n" for name in chance.sample(NAMES, 3)]
    calls = "".join(f"{chance.choice(NAMES)}()\n" * chance.randint(1, 3) for _ in range(4))
    contents = {
        "lib.py": "# a line\n" * chance.randint(0, 3) + "".join(functions),
        "app.py": f"from lib import alpha, delta, gamma\n{calls}",
    }
    for path in chance.choice(choices):
        data = contents[path].encode()
        written[hashlib.sha256(data).hexdigest()] = data
        (made.repo.root / path).write_bytes(data)
    step = chance.random()
    if step < 0.2:
        git(made.repo.root, "commit", "-qam", "step", "--allow-empty")
    elif step < 0.4:
        git(made.repo.root, "checkout", "-q", "-B", chance.choice(("one", "two")))


def told(made: Made, contents: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """What the toy says of each call in `app.py` that a fact is about, by its content, and what is stored."""
    with made.repo.session.index.database.read() as connection:
        rows = connection.execute(
            "SELECT blob, path, digest FROM semantic_fact JOIN blob ON blob.id = blob WHERE path = 'app.py'"
        ).fetchall()
        for blob, path, digest in rows:
            by = zlib.crc32(contents[digest])
            row = connection.execute("SELECT names, occurrences FROM ref WHERE blob = ?", (blob,)).fetchone()
            occurrences = unpack_occurrences(*row)
            for facts in facts_of(connection, blob, path):
                assert len(facts.column) == len(occurrences)
                for at, number in enumerate(facts.column):
                    if number and facts.targets[number - 1].kind == "definition":
                        token = occurrences.texts[occurrences.names[at]]
                        meant = NAMES[(NAMES.index(token) + by) % len(NAMES)]
                        yield meant, facts.targets[number - 1].names


def churn(made: Made, rounds: int, seed: int) -> dict[str, bytes]:
    """All contents that there have been, by digest."""
    made.use("turns")
    chance, contents = random.Random(seed), dict[str, bytes]()
    is_over = threading.Event()

    def run() -> None:
        while not is_over.wait(chance.random() / 2):
            write_something(made, chance, contents)

    write_something(made, chance, contents, _PATHS[-1:])  # nothing is left of what was there before
    writer = threading.Thread(target=run)
    writer.start()
    try:
        for _ in range(rounds):
            made.repo.ask("semantic_refresh")
            assert all(meant == name for meant, name in told(made, contents))
    finally:
        is_over.set()
        writer.join()
    return contents


def check_quiet(made: Made, contents: dict[str, bytes]) -> None:
    [context] = made.repo.result("semantic_refresh")["contexts"]
    assert (context["status"], context["indexed"]) == ("completed", 2)
    assert [made.state(path) for path in ("app.py", "lib.py")] == [Freshness.CLEAN] * 2
    pairs = list(told(made, contents))
    assert len(pairs) > 3 and all(meant == name for meant, name in pairs)
    assert all(not job.status.is_live for job in made.jobs)
    assert sum(job.run is not None for job in made.jobs) > 2


def test_facts_are_of_their_content_whatever_changes_meanwhile(made: Made) -> None:
    check_quiet(made, churn(made, 12, seed=1))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_facts_are_of_their_content_over_many_rounds(made: Made, seed: int) -> None:
    check_quiet(made, churn(made, 25, seed))
