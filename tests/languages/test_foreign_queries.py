"""Foreign queries are checked, bounded and killed; results are bytes and names."""

from collections.abc import Iterator

import pytest

from codeplane.core.errors import QueryInvalid
from codeplane.parsing.query_worker import QueryWorker

SOURCE = b"def f(self): pass\ndef g(): return f(1)\n"


@pytest.fixture(scope="module")
def worker() -> Iterator[QueryWorker]:
    worker = QueryWorker()
    yield worker
    worker.close()


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("(function_definition name: (identifier) @name)", ["f", "g"]),
        ('(function_definition name: (identifier) @name (#eq? @name "g"))', ["g"]),
        ('(function_definition name: (identifier) @name (#not-eq? @name "g"))', ["f"]),
        ('((identifier) @a (#any-of? @a "self" "g"))', ["self", "g"]),
        ('((identifier) @a (#not-any-of? @a "self" "g"))', ["f", "f"]),
        ('((identifier) @a (#match? @a "^(f|h)$"))', ["f", "f"]),
        ('((identifier) @a (#not-match? @a "^."))', []),
        (
            '(function_definition parameters: (parameters (identifier) @p) !return_type)\n  (#eq? @p "self")',
            ["self"],
        ),
        ('(identifier) @a (#eq? @a "f") (integer) @b ; (#eq? @a "x")', ["f", "f", "1"]),
        ('((identifier) @a (#eq? @a "\\"(#foo?"))', []),
    ],
)
def test_a_query_gives_bytes_and_names(worker: QueryWorker, query: str, texts: list[str]) -> None:
    spans = [
        span
        for match in worker.run("python", query, SOURCE)
        for group in match.captures.values()
        for span in group
    ]
    assert [SOURCE[span.start : span.end].decode() for span in spans] == texts


@pytest.mark.parametrize(
    ("query", "message", "hint"),
    [
        (
            "(fuction_definition) @a",
            "Invalid node type 'fuction_definition' (row 1, column 2).",
            "function_definition",
        ),
        ("(call\n funtion: (_)) @a", "Invalid field name 'funtion' (row 2, column 2).", "function"),
        ("(call function: (module)) @a", "Impossible pattern (row 1, column 7).", "delta tree"),
        ('(call) @a (#ez? @a "x")', "There is no predicate #ez?; did you mean #eq?? (row 1, column 11).", ""),
        ('(call) @a (#set! a "x")', "There is no predicate #set!;", ""),
        ('(call) @a (#eq? @b "x")', "#eq? asks for @b, which the query does not capture", "@a"),
        ("(call) @a (#eq? @a)", "#eq? needs two arguments", ""),
        ('(call) @a (#eq? "x" @a)', "#eq? begins with a capture", ""),
        ('(call) @a (#match? @a "(a")', "RE2 cannot read the regular expression", ""),
        ('(call) @a (#match? @a "(?=a)")', "RE2 cannot read the regular expression", ""),
        ("(call) @a (#any-of? @a)", "#any-of? needs texts after the capture", ""),
        ('(call) @a (#eq? @a "x"', "The predicate does not end", ""),
        ("(call", "The query cannot be compiled: Unexpected EOF.", ""),
        ("(call)", "The query captures nothing.", "@target"),
        ("", "The query is empty.", ""),
        ("\0", "A query has at most 10,000 bytes", ""),
        ("\ud800", "The query holds half a character.", ""),
        ("(identifier) @a" * 1_000, "A query has at most 10,000 bytes", ""),
        ("".join(f"(call) @a{number} " for number in range(101)), "The query has 101 captures", ""),
    ],
)
def test_a_wrong_query_is_an_error_with_its_place(
    worker: QueryWorker, query: str, message: str, hint: str
) -> None:
    with pytest.raises(QueryInvalid) as error:
        worker.run("python", query, SOURCE)
    assert message in error.value.message
    assert hint in " ".join(error.value.hints)


def test_a_query_that_takes_too_long_is_killed_and_the_next_one_runs() -> None:
    worker = QueryWorker(1.0)
    with pytest.raises(QueryInvalid, match="longer than 1 seconds"):
        worker.run("python", "(module (expression_statement)+ @a (expression_statement)+ @b)", b"x\n" * 400)
    assert len(worker.run("python", "(identifier) @a", b"x\n")) == 1
    worker.close()


def test_a_regular_expression_takes_linear_time(worker: QueryWorker) -> None:
    data = b"f(" + b"a" * 5_000 + b"!)\n"
    assert worker.run("python", '((identifier) @a (#match? @a "^(a+)+$"))', data)


def test_results_are_counted(worker: QueryWorker) -> None:
    with pytest.raises(QueryInvalid, match="more than 10,000 matches"):
        worker.run("python", "(identifier) @a", b"x\n" * 10_001)
    with pytest.raises(QueryInvalid, match="more than 100 captures"):
        worker.run("python", "(module (expression_statement)+ @a)", b"x\n" * 200)


def test_a_file_beyond_the_limits_is_said_so(worker: QueryWorker) -> None:
    with pytest.raises(QueryInvalid, match="too large, too deep or too broken"):
        worker.run("python", "(identifier) @a", b"(" * 50_000 + b")" * 50_000)
