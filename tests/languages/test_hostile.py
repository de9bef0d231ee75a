"""Nothing that is in a file stops the reading of it, and nothing in it takes the square of its length."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.languages import extract
from tests.languages.test_language_cases import CASES, check, sources

MEGABYTE = 1024 * 1024
SOURCES = [
    source.encode()
    for file in sorted((CASES / "python").glob("*.txt"))
    for _, source in sources(file.read_text())
]

HOSTILE = {
    "nested brackets": b"(" * 100_000 + b")" * 100_000,
    "open brackets": b"x = " + b"[" * 100_000,
    "nested lambdas": b"x = " + b"lambda a: " * 20_000 + b"a",
    "nested comprehensions": b"x = " + b"[a for a in " * 5_000 + b"b" + b"]" * 5_000,
    "one line": b"x = " + b"a + " * (MEGABYTE // 4) + b"a",
    "many lines": b"x = 1\n" * 200_000,
    "many functions": b"".join(b"def f%d(): return x\n" % n for n in range(20_000)),
    "many names": b"".join(b"n%d = n%d\n" % (n, n - 1) for n in range(100_000)),
    "long chain": b"a" + b".b()" * 100_000,
    "long attribute": b"a" + b".b" * 200_000,
    "deep blocks": b"".join(b" " * n + b"if x:\n" for n in range(1_000)) + b" " * 1_000 + b"pass\n",
    "nested functions": b"".join(b" " * n + b"def f(a):\n" for n in range(500)) + b" " * 500 + b"a\n",
    "nested classes": b"".join(b" " * n + b"class A:\n" for n in range(500)) + b" " * 500 + b"x = x\n",
    "many assignments to self": b"class A:\n def f(self):\n" + b"  self.x = self.y\n" * 50_000,
    "many getattr": b"getattr(a, 'b')\n" * 50_000,
    "many exports": b"__all__ += ['a']\n" * 20_000,
    "many quoted types": b"x: 'A[B]' = 1\n" * 30_000,
    "not text": bytes(range(1, 256)) * 1_000,
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_source_is_read(name: str) -> None:
    depth = sys.getrecursionlimit()
    facts = extract("python", HOSTILE[name])
    assert facts.state in ("ok", "partial", "failed")
    assert sys.getrecursionlimit() == depth
    if len(HOSTILE[name]) < MEGABYTE:
        check(facts, HOSTILE[name])


def test_binary_and_large_files_are_skipped() -> None:
    assert extract("python", b"x = 1\0").state == "skipped"
    assert extract("python", b"x = 1\n" * MEGABYTE).reason == "larger than 5 MB"


def test_names_that_are_not_utf8_keep_their_bytes() -> None:
    facts = extract("python", "größe = 1\n".encode() + b"gr\xf6sse = gr\xf6sse\n")
    assert "größe" in facts.occurrences
    check(facts, "größe = 1\n".encode() + b"gr\xf6sse = gr\xf6sse\n")


@pytest.mark.parametrize(
    ("language", "data", "names"),
    [
        ("javascript", b"const a = {};\nfunction f() { return a['\xe9']; }\n", ["a", "f"]),
        ("haskell", b"module A where\nimport B -- \xe9\nf :: Int\nf = 1\n", ["f"]),
        ("bash", b"caf\xe9() { :; }\nf() { :; }\n", ["caf\udce9", "f"]),
    ],
)
def test_a_text_in_latin_1_is_read_as_a_whole(language: str, data: bytes, names: list[str]) -> None:
    facts = extract(language, data)
    assert [one.name for one in facts.definitions] == names
    check(facts, data)


def test_a_name_that_is_nonlocal_in_no_function_is_nothing_that_a_file_exports() -> None:
    facts = extract("python", b"nonlocal t\ndef a(): pass\n")
    assert [one.name for one in facts.exports] == ["a"]
    assert extract("python", b"nonlocal t\n").exports == []


def test_an_import_without_a_name_is_none() -> None:
    facts = extract("kotlin", b"import ;\nfun f() {}\n")
    assert facts.imports == [] and [one.name for one in facts.definitions] == ["f"]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_never_raise(data: bytes) -> None:
    facts = extract("python", data)
    if facts.state != "skipped":
        check(facts, data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_sources_keep_every_promise(draw: st.DataObject) -> None:
    data = bytearray(draw.draw(st.sampled_from(SOURCES)))
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(data)))
        length = draw.draw(st.integers(0, 20))
        data[at : at + length] = draw.draw(
            st.sampled_from([b"", b"(", b"\n", b"def ", b":", b"\xff", b"'", b"x ="])
        )
    check(extract("python", bytes(data)), bytes(data))


def test_importing_the_package_loads_no_grammar() -> None:
    import subprocess

    code = "import sys, codeplane.languages as l; l.language_of('a.py', b''); "
    code += "print('tree_sitter' in sys.modules)"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "False"
