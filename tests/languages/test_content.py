"""Headers whose name leaves open whether they are in C or in C++: their content tells."""

from pathlib import Path

import pytest

from codeplane.languages import extractor_version, language_of, possible_languages, version
from tests.tools.repo import Repo

CPP = {
    "class": "class Box {\n  int x;\n};\n",
    "declared class": "class Box;\nvoid open(Box *box);\n",
    "namespace": "namespace a {\nint x;\n}\n",
    "nested namespace": "namespace a::b {\n}\n",
    "namespace without a name": "namespace {\nint x;\n}\n",
    "attribute on a namespace": "namespace std VISIBILITY(default)\n{\n}\n",
    "template": "#pragma once\ntemplate <typename T>\nT first(T a);\n",
    "explicit instance": "extern template struct list<int>;\n",
    "label": "struct A {\nprivate:\n  int x;\n};\n",
    "slots of Qt": "struct A {\npublic Q_SLOTS:\n  int x;\n};\n",
    "qualified name": "int size(std::string text);\n",
    "using": "using Number = int;\n",
    "cast": "static int f(long x) { return static_cast<int>(x); }\n",
    "base": "struct B : A {\n};\n",
    "virtual": "struct A { virtual int f(); };\n",
    "destructor": "struct A {\n  ~A();\n};\n",
    "call operator": "struct A { bool operator()(int a); };\n",
    "const member": "struct A { int f() const; };\n",
    "default": "struct A { A() = default; };\n",
    "reference": "void f(const box &b);\n",
    "scoped enum": "enum class Color { red };\n",
    "library": "#include <vector>\n",
    "linkage": 'extern "C" int f(void);\n',
    "all of it guarded": "#ifndef A_H\n#define A_H\n#ifdef __cplusplus\nclass A {};\n#endif\n#endif\n",
    "after a guard": '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#if 1\n#endif\nclass A {};\n',
    "after a surplus endif": "#endif\n#ifdef __cplusplus\nint x;\n#endif\nclass A {};\n",
    "CRLF": "struct A {\r\npublic:\r\n  int x;\r\n};\r\n",
}
C = {
    "empty": "",
    "plain": "#include <stdio.h>\nstruct box { int x; };\nint open(struct box *b);\n",
    "guarded linkage": '#ifdef __cplusplus\nextern "C" {\n#endif\nint f();\n#ifdef __cplusplus\n}\n#endif\n',
    "guarded class": "#if defined(__cplusplus) && 1\nclass A {};\n#else\nstruct A;\n#endif\nint x;\n",
    "class behind else": "#ifndef __cplusplus\ntypedef int bool;\n#else\nclass A {};\n#endif\nint x;\n",
    "inner if": "#ifdef __cplusplus\n#if 1\n#endif\nclass A {};\n#endif\nint x;\n",
    "guarded library": "#ifdef __cplusplus\n#include <atomic>\n#endif\nint x;\n",
    "macros alone": '#ifdef __cplusplus\nextern "C" {\n#endif\n#define A 1\n#ifdef __cplusplus\n}\n#endif\n',
    "comments": "/* class A; */\n// a::b, namespace x {\nint x; // \\\nclass B;\n",
    "texts": "static const char *a = \"class A { public: std::x \\\" class B\"; static char b = '\\'';\n",
    "macro": "#define MAKE(x) \\\n  class x { \\\n  public: }\nint x;\n",
    "words as names": "struct s { int class, namespace, template, private; };\nvoid f(int virtual);\n",
    "tags": "struct class { int x; };\nextern struct class block;\nstruct namespace *n;\nunion class u;\n",
    "fields": "static inline void f(struct s *p) { p->namespace = 1; p->class = p->operator == 2; }\n",
    "bit fields": "struct s {\n  unsigned public : 1;\n  int private:2;\n};\n",
    "comparison": "static int f(int template) { return template < 3; }\n",
    "and": "static int f(int x) { return (const int)x & 3; }\n",
    "complement": "static int f(int x) { return x &\n ~g(x); }\n",
    "attribute": "[[gnu::packed]] struct s { int x; };\n",
    "Objective-C": "@class Box;\n@interface A\n@end\n",
    "open comment": "/* class A {\n",
    "open text": 'char *a = "class A {\nint x;\n',
}


@pytest.mark.parametrize("text", CPP.values(), ids=CPP)
def test_a_header_with_what_c_has_no_syntax_for_is_in_cpp(text: str) -> None:
    assert language_of("include/box.h", text.encode()) == "cpp"


@pytest.mark.parametrize("text", C.values(), ids=C)
def test_another_header_is_in_c(text: str) -> None:
    assert language_of("include/box.h", text.encode()) == "c"


def test_an_ending_of_one_language_tells_whatever_is_inside() -> None:
    assert language_of("a.c", b"class A {};") == "c" and language_of("a.hpp", b"int x;") == "cpp"
    assert possible_languages("a.c") == ("c",) and possible_languages("A.H") == ("c", "cpp")


@pytest.mark.parametrize(
    "part", ["struct a : b ", "#a /* ", '\\"', "\\'", "[[ ", ") ", "> ", "#if\n", "#include <", "public "]
)
def test_no_header_takes_long(part: str) -> None:
    """Work that grows with the square of the size would go on for minutes."""
    text = f"// class x\n{part * (300_000 // len(part))}".encode()
    assert language_of("a.h", text) == "c"


def test_rules_of_contents_are_part_of_the_version_of_both_languages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [extractor_version(name) for name in ("c", "cpp", "go")]
    monkeypatch.setattr(version, "_file_contents", _altered)
    version.extractor_version.cache_clear()
    after = [extractor_version(name) for name in ("c", "cpp", "go")]
    version.extractor_version.cache_clear()
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, True, False]


def _altered(path: Path) -> bytes:
    return (
        path.name.encode() + b"\0" + path.read_bytes() + (b"+" if path.name == "content.py" else b"") + b"\0"
    )


def test_a_header_that_becomes_cpp_is_read_anew_and_stays_so(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"box.h": "struct box { int x; };\n", "same.hpp": "struct box { int x; };\n"})
    try:
        assert languages(repo) == {"box.h": "c", "same.hpp": "cpp"}
        repo.write("box.h", "struct box { int get() const; };\n")
        assert languages(repo) == {"box.h": "cpp", "same.hpp": "cpp"}
        before = repo.session.index.state().epoch
        repo.session.close()
        repo = Repo.at(repo.root, tmp_path)
        assert languages(repo)["box.h"] == "cpp"
        assert repo.session.index.state().epoch == before, "nothing is read again"
    finally:
        repo.session.close()


def languages(repo: Repo) -> dict[str, str]:
    repo.session.refresh()
    with repo.session.index.snapshot() as snapshot:
        return {
            path: facts.language
            for path in snapshot.layout.blobs
            if (facts := snapshot.facts(path)) is not None
        }
