"""Whatever language hostile text is said to be in, a worker is done with it in bounded time and memory."""

import resource
from collections.abc import Iterator

import pytest

from codeplane.index import Workers
from codeplane.languages import specs
from codeplane.parsing.workers import Job

DEEP = 100_000
FILE_SEC = 3.0
NESTED = {
    "round": b"(" * DEEP + b")" * DEEP,
    "square": b"[" * DEEP + b"]" * DEEP,
    "curly": b"{" * DEEP + b"}" * DEEP,
}
MORE = {
    "open": b"{[(" * DEEP,
    "objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "elements": b"<div>" * DEEP + b"</div>" * DEEP,
    "quotes": b">" * DEEP + b" # x",
    "rules": b".a{" * DEEP,
    "substitutions": b"$(" * DEEP,
    "strings": b'"' * DEEP,
    "here documents": b"<<A\n" * 20_000,
    "one line": b"a b " * (1 << 20),
    "lines": b"a\n" * 1_000_000,
    "keys": b"a: 1\n" * 300_000,
    "spaces": b" " * (4 << 20),
    "bytes": bytes(range(1, 256)) * 4_000,
    "carriage returns": b"a\r" * 500_000,
}


@pytest.fixture(scope="module")
def brief_workers() -> Iterator[Workers]:
    made = Workers(1, file_sec=FILE_SEC)
    yield made
    made.close()


def read_each(workers: Workers, language: str, texts: dict[str, bytes]) -> dict[str, str]:
    """The state and the reason of each text, read as one file each."""
    found = {}
    for name, text in texts.items():
        [[done]] = workers.extract([Job(0, language, text)])
        found[name] = f"{done.packed.state} {done.packed.reason}"
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 3 << 20
    return found


@pytest.mark.parametrize("language", specs())
def test_deep_nesting_is_read_or_given_up(brief_workers: Workers, language: str) -> None:
    found = read_each(brief_workers, language, NESTED)
    assert all(told.startswith("ok") or len(told.split()) > 1 for told in found.values()), found


@pytest.mark.soak
@pytest.mark.parametrize("language", specs())
def test_text_of_another_kind_is_read_or_given_up(brief_workers: Workers, language: str) -> None:
    found = read_each(brief_workers, language, MORE)
    assert all(told.startswith("ok") or len(told.split()) > 1 for told in found.values()), found


def test_a_file_that_takes_too_long_is_given_up_alone() -> None:
    workers = Workers(1, file_sec=1)
    jobs = [Job(0, "json", b'{"a": 1}'), Job(1, "json", MORE["rules"]), Job(2, "json", b'{"b": 1}')]
    states = {done.number: done.packed.state for chunk in workers.extract(jobs) for done in chunk}
    workers.close()
    assert states == {0: "ok", 1: "failed", 2: "ok"}
