"""Which changes of a text say the same, and which only look like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.languages import specs
from codeplane.languages.style import comments_and_literals, is_remark
from codeplane.languages.tokens import code_tokens, say_the_same, tokens

WRITTEN = sorted(name for name, spec in specs().items() if spec.writing is not None)

SAME = [
    ("python", "f(a, b)", "f(a,  # first\n  b)"),
    ("python", "f:\n    if a:\n        b()\n    c()\n", "f:\n  # x\n  if a:\n    b() # y\n\n  c()\n"),
    ("python", "x = 'a # b'", "x  =  'a # b' # c"),
    ("python", "a = 1 \\\n  + 2", "a = 1 + 2"),
    ("typescript", "f(a, 1) // x\n", "f(\n  a, // y\n  1)\n"),
    ("typescript", "const a = /x\\//.test(b) && 1", "const a = /x\\//.test(b) && 1 // two"),
    ("go", "a := `x // y` // z", "a := `x // y`"),
    ("java", "int a = 1;", "int a =\n  /* one */ 1; // one"),
    ("rust", "let a = r#\"x // y\"#; // z", "let a = r#\"x // y\"#;"),
    ("cpp", 'auto a = R"(x // y)"; // z', 'auto a = R"(x // y)";'),
    ("csharp", 'var a = @"x\\"; // z', 'var a = @"x\\";'),
    ("kotlin", "val a = 1 // x", "val a = 1 /* y */"),
]  # fmt: skip
OTHER = [
    ("python", "if a:\n  b()\n  c()", "if a:\n  b()\nc()"),
    ("python", "x = 'a # b'", "x = 'a # c'"),
    ("python", 'x = f"{y["a # b"]}"', 'x = f"{y["a # c"]}"'),
    ("python", '"""a # b"""', '"""a # c"""'),
    ("typescript", "return\nx", "return x"),
    ("typescript", "f(() => { return\nx })", "f(() => { return x })"),
    ("typescript", "/a:\\/\\//.test(b) && 1", "/a:\\/\\//.test(b) && 2"),
    ("typescript", "`${a} // b`", "`${a} // c`"),
    ("typescript", "`a ${ `b // c` } d`", "`a ${ `b // d` } d`"),
    ("javascript", "<p>a // b</p>", "<p>a // c</p>"),
    ("java", "a - -b", "a --b"),
    ("java", 'x = "a // b";', 'x = "a // c";'),
    ("rust", 'let a = \'"\'; b("// x")', 'let a = \'"\'; b("// y")'),
    ("ruby", "a # b", "a # c"),
]


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_comments_and_white_space_say_nothing(language: str, one: str, other: str) -> None:
    assert say_the_same(language, one.encode(), other.encode())


@pytest.mark.parametrize(("language", "one", "other"), OTHER)
def test_what_means_something_or_may_do_so_is_a_change(language: str, one: str, other: str) -> None:
    assert not say_the_same(language, one.encode(), other.encode())


@given(
    st.sampled_from(WRITTEN),
    st.binary(max_size=80) | st.text("ab \n\"'`/*#{}()$\\", max_size=60).map(str.encode),
)
def test_no_text_is_too_odd(language: str, text: bytes) -> None:
    told = tokens(language, text)
    assert told is None or all(one for one in told)
    assert say_the_same(language, text, text) == (told is not None)


@pytest.mark.parametrize(
    ("language", "text", "comments", "literals"),
    [
        ("python", '''x = rb"a#b" + 'it\\'s' # "no"''', ['# "no"'], ['rb"a#b"', "'it\\'s'"]),
        ("python", '''"""a "b" \\""" c""" ''', [], ['"""a "b" \\""" c"""']),
        ("python", '"open\nx = 1', [], []),
        ("javascript", "a = /['\"]/; b = '/*'; // c\n/* **/", ["// c", "/* **/"], [" /['\"]/", "'/*'"]),
        ("rust", 'r#"a " b"# // x', ["// x"], ['r#"a " b"#']),
        ("go", '`a"` + "b\\"" /* " */', ['/* " */'], ['`a"`', '"b\\""']),
    ],
)
def test_comments_and_literals_are_told_apart(
    language: str, text: str, comments: list[str], literals: list[str]
) -> None:
    writing = specs()[language].writing
    assert writing is not None
    found = list(comments_and_literals(writing, text.encode()))
    assert [text[start:end] for start, end, is_comment in found if is_comment] == comments
    assert [text[start:end] for start, end, is_comment in found if not is_comment] == literals


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ('"""x"""\n', True),
        ('# a\n\n"""x"""\n', True),
        ('def f():\n    """x"""\n', True),
        ('def f(\n    a\n) -> None:\n    """x"""  # b\n', True),
        ('class A: """x"""\n', True),
        ('size: int\n"""x"""\n', True),
        ('size = call()\n# a\n\n"""x"""\n', True),
        ("size = 1\n'x'\n", True),
        ('say(\n    """x"""\n)\n', False),
        ('said = ["a"\n"""x"""]\n', False),
        ('said = (a or\n"""x"""\n)\n', False),
        ('said = {"a":\n"""x"""\n}\n', False),
        ('said = lambda: """x"""\n', False),
        ('said = a \\\n"""x"""\n', False),
        ('"""x""".join(a)\n', False),
        ('said = 1,\n"""x"""\n', False),
        ('said = 1 # a\n"""x"""\n', False),
    ],
)
def test_a_text_that_is_a_statement_of_its_own_is_a_remark(text: str, is_said: bool) -> None:
    data = text.encode()
    writing = specs()["python"].writing
    assert writing is not None
    literals = [one for one in comments_and_literals(writing, data) if not one[2]]
    start, end, _ = next(one for one in literals if b"x" in data[one[0] : one[1]])
    assert is_remark(data, start, end) is is_said


RUNS_THE_SAME = [
    ('def f():\n    """A."""\n    return 1\n', "def f():\n    return 1\n"),
    ('"""Module."""\nx = 1\n', '"""Other.\n\nLonger."""\nx = 1\n'),
    ('p.add_argument("-v", help="more")', 'p.add_argument("-v", help="tells" "more")'),
    ('x: Annotated[int, Doc("a")] = 1', 'x: Annotated[int, Doc("""b""")] = 1'),
    ("f(\n    a,\n    b,\n)", "f(a, b)"),
]
RUNS_OTHERWISE = [
    ('x = "a"\n', 'x = "b"\n'),
    ('help = "a"\n', 'help = "b"\n'),
    ('f("a")', 'f("b")'),
    ("x = (a,)", "x = (a)"),
    ("return (a,)", "return (a)"),
    ("\n    if a:\n        b()\n    c()\n", "\n    if a:\n        b()\n        c()\n"),
]


def _code(text: str) -> list[bytes]:
    found = code_tokens("python", text.encode())
    assert found is not None
    return [token.text for token in found]


@pytest.mark.parametrize(("one", "other"), RUNS_THE_SAME)
def test_documentation_is_no_code(one: str, other: str) -> None:
    assert _code(one) == _code(other)


@pytest.mark.parametrize(("one", "other"), RUNS_OTHERWISE)
def test_texts_that_a_program_uses_are_code(one: str, other: str) -> None:
    assert _code(one) != _code(other)


def test_tokens_know_their_lines() -> None:
    found = code_tokens("python", b'# a\n"""b\n"""\nx = """\n""" + y  # c\n')
    assert found is not None
    assert [
        (token.text, token.first, token.last) for token in found if token.text in (b"x", b"y", b'"""\n"""')
    ] == [
        (b"x", 4, 4),
        (b'"""\n"""', 4, 5),
        (b"y", 5, 5),
    ]


@pytest.mark.parametrize("text", ['("y" + z)', '"y" + z', '[b"y", z]'])
def test_a_text_right_at_the_beginning_is_code(text: str) -> None:
    assert b'y"' in b"".join(token.text for token in code_tokens("python", text.encode()) or ())
