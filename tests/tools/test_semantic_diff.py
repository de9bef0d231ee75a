"""What the tool says about real edits of a real repository."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.paths import RepoPath
from codeplane.graph.diff.structure import _Comparison
from codeplane.graph.diff.versions import Side, Version
from codeplane.tools.semantic_diff import LONGEST_PAGE
from tests.drive import git, new_repo
from tests.tools.repo import Repo

CART = """\
import math

LIMIT = 10


class Cart:
    def add(self, item, count=1):
        total = count
        return total

    def clear(self):
        self.items = []

    def _check(self):
        return True


def price(cart: Cart) -> int:
    return math.floor(1.5)


def tax(value):
    rate = 2
    return value * rate
"""
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/page.py": "from shop.cart import Cart, price\n\n\ndef show():\n    cart = Cart()\n    cart.add(1)\n"
    "    return price(cart)\n",
    "tests/test_cart.py": "from shop.cart import price\n\n\ndef test_price():\n    assert price(None)\n",
    "README.md": "# Shop\n",
}


class Shop(Repo):
    def diff(self, **arguments: object) -> dict[str, Any]:
        return self.result("semantic_diff", **arguments)

    def changes(self, path: str, **arguments: object) -> dict[str, dict[str, Any]]:
        """The changes of one file by name."""
        files = [file for file in self.diff(**arguments)["files"] if file["path"] == path]
        return {one["name"]: one for file in files for one in file["changes"]}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    repo = Shop(tmp_path, FILES)
    yield repo
    repo.session.close()


def test_a_changed_header_is_breaking_and_knows_its_users_and_tests(shop: Shop) -> None:
    shop.write(
        "shop/cart.py", CART.replace("def price(cart: Cart) -> int", "def price(cart: Cart, vat) -> int")
    )
    found = shop.changes("shop/cart.py")["price"]
    assert found["change"] == "signature_changed" and found["breaking"] and found["risk"] == "medium"
    assert found["tags"] == ["parameters_changed", "parameter_added", "minor_change"]
    assert found["old_signature"] == "def price(cart: Cart) -> int"
    assert found["impact"] == {"references": {"strong": 4}, "files": 2, "tests": ["tests/test_cart.py"]}
    answer = shop.diff()
    assert answer["breaking"] == ["shop/cart.py: price"] and answer["summary"] == "1 signature changed"
    assert answer["tests"] == ["high exact tests/test_cart.py reaches"]
    assert answer["tests_confidence"] == "complete"


def test_changes_of_annotations_and_docstrings_are_counted_and_not_listed(shop: Shop) -> None:
    text = CART.replace("-> int", "-> float").replace(
        "def tax(value):", 'def tax(value):\n    """Of a value."""'
    )
    shop.write("shop/cart.py", text.replace("def clear(self)", "def clear(self) -> None"))
    answer = shop.diff()
    assert answer["files"] == [] and answer["folded"] == {"annotations": 2, "docstrings": 1}
    text = shop.ask("semantic_diff").text
    assert "not listed: changes 2 of annotations, 1 of docstrings alone" in text


def test_a_changed_return_type_and_a_changed_body_are_listed(shop: Shop) -> None:
    shop.write("shop/cart.py", CART.replace("-> int", "-> float").replace("floor(1.5)", "floor(2.5)"))
    assert shop.changes("shop/cart.py")["price"]["tags"] == ["return_type_changed", "minor_change"]


def test_what_may_break_users_comes_first(shop: Shop) -> None:
    text = CART.replace("total = count\n", "total = count + 1\n").replace(
        "def clear(self):", "def empty(self):"
    )
    shop.write("shop/cart.py", text)
    files = shop.diff()["files"]
    assert [(file["rank"], file["path"]) for file in files] == [
        ("breaking", "shop/cart.py"),
        ("body", "shop/cart.py"),
    ]
    [empty], [add] = (file["changes"] for file in files)
    assert (empty["name"], empty["change"], empty["old_name"]) == ("Cart.empty", "renamed", "clear")
    assert (add["name"], add["change"]) == ("Cart.add", "body_changed")
    assert add["preview"] == ["-        total = count", "+        total = count + 1"]
    assert add["risk"] == "low" and "breaking" not in add


def test_added_removed_and_private_definitions(shop: Shop) -> None:
    text = CART.replace("    def _check(self):\n        return True\n", "").replace("LIMIT = 10", "MOST = 11")
    shop.write("shop/cart.py", text.replace("def tax(value):", "def duty(value, x):"))
    found = shop.changes("shop/cart.py")
    assert {name: one["change"] for name, one in found.items() if name != "Cart"} == {
        "LIMIT": "removed",
        "MOST": "added",
        "Cart._check": "removed",
        "tax": "removed",
        "duty": "added",
    }
    assert found["tax"]["breaking"] and "breaking" not in found["Cart._check"]


def test_public_additions_have_their_lines_and_headers(shop: Shop) -> None:
    long = ", ".join(f"parameter_{n}" for n in range(20))
    text = CART.replace(
        "    def _check",
        "    size = 3\n\n    def pay(\n        self,\n        how,\n    ): ...\n\n    def _check",
    )
    shop.write(
        "shop/cart.py", text + f"\n\ndef _one(): ...\n\n\ndef _two(): ...\n\n\ndef wide({long}): ...\n"
    )
    shop.write("tests/test_more.py", "def test_a(): ...\n\n\ndef test_b(): ...\n")
    assert shop.ask("semantic_diff").text.splitlines()[1:] == [
        "ADDED",
        "shop/cart.py",
        "  14: Cart.size",
        "  16: def Cart.pay(self, how)",
        "  added: _one, _two",
        "  40: " + f"def wide({long}"[:100] + "…",
        "TESTS AND DOCS",
        "tests/test_more.py (added)",
        "  added: test_a, test_b",
        "tests affected: 2 (tests/test_more.py, tests/test_cart.py)",
    ]


def test_a_name_that_stands_for_another_kind_of_thing_is_one_change(tmp_path: Path) -> None:
    before = (
        "class Job:\n    def __init__(self):\n        self.state = 1\n        self.size = 2\n\n    step = 3\n"
    )
    after = (
        "class Job:\n    @property\n    def state(self):\n        return 1\n\n"
        "    @property\n    def size(self):\n        return 2\n\n"
        "    @size.setter\n    def size(self, value): ...\n\n    def step(self): ...\n"
    )
    shop = Shop(tmp_path, {"jobs.py": before})
    shop.write("jobs.py", after)
    text = shop.ask("semantic_diff").text
    shop.session.close()
    assert text.startswith("1 removed, 3 signature changed\n")  # the constructor
    assert "  13: Job.step; field became method" in text.partition("MAY BREAK")[0]
    assert "MAY BREAK\njobs.py\n  2: Job.state; field became property\n" in text
    assert "HEADERS AND PRIVATE NAMES\njobs.py\n  6: Job.size; field became property" in text


def test_a_parameter_that_comes_between_others_breaks_callers_of_long_headers_too(tmp_path: Path) -> None:
    def new(count: int, inserted: str = "") -> str:
        names = [f"        parameter_{n}: Optional[date | datetime] = None,\n" for n in range(count)]
        return "".join(["class Event:\n    def new(\n        self,\n", inserted, *names, "    ): ...\n"])

    shop = Shop(tmp_path, {"long.py": new(40), "short.py": new(2)})
    for path, count in (("long.py", 40), ("short.py", 2)):
        shop.write(path, new(count, "        concepts=None,\n"))
    found = [shop.changes(path)["Event.new"] for path in ("long.py", "short.py")]
    text = shop.ask("semantic_diff").text
    shop.session.close()
    assert text.count("  2: Event.new; parameter added: concepts=None") == len(found)
    assert [one["breaking"] for one in found] == [True, True]
    assert found[0]["tags"] == found[1]["tags"] == ["parameters_changed", "parameter_added", "minor_change"]


def test_parameters_that_came_went_or_were_renamed_are_named(shop: Shop) -> None:
    text = CART.replace("(self, item, count=1)", "(self, thing, count=1)").replace("tax(value)", "tax()")
    shop.write("shop/cart.py", text)
    lines = shop.ask("semantic_diff").text.splitlines()
    assert "  7: Cart.add; parameter renamed: item → thing; used 1× in 1 file" in lines
    assert "  22: tax; parameter removed: value" in lines


def test_a_comment_or_an_edit_elsewhere_is_no_change_of_a_definition(shop: Shop) -> None:
    shop.write("shop/cart.py", "# A cart.\n\n" + CART)
    shop.write("README.md", "# Shop\n\nMore.\n")
    answer = shop.diff()
    assert answer["files"] == [] and answer["other_files"] == [
        "modified prod shop/cart.py",
        "modified docs README.md (no definitions)",
    ]


def test_a_comment_below_a_header_does_not_change_the_header(shop: Shop) -> None:
    shop.write(
        "shop/cart.py", CART.replace("class Cart:\n", "class Cart:\n    # Keeps items.\n    kept = 1\n")
    )
    found = shop.changes("shop/cart.py")
    assert {name: one["change"] for name, one in found.items()} == {
        "Cart.kept": "added",
    }


def test_a_file_that_moved_is_compared_with_itself(shop: Shop) -> None:
    (shop.root / "shop/cart.py").unlink()
    shop.write("shop/basket.py", CART.replace("rate = 2", "rate = 3"))
    [file] = shop.diff()["files"]
    assert (file["path"], file["status"], file["old_path"]) == ("shop/basket.py", "renamed", "shop/cart.py")
    assert [one["name"] for one in file["changes"]] == ["tax"]


def test_commits_are_compared_without_a_checkout(shop: Shop) -> None:
    shop.write("shop/cart.py", CART + "\n\ndef more():\n    return 1\n")
    git(shop.root, "commit", "-qam", "more")
    shop.write("shop/cart.py", "")
    assert list(shop.changes("shop/cart.py", base="HEAD~1", target="HEAD")) == ["more"]
    assert shop.diff(base="HEAD~1", target="HEAD", paths=["tests"])["summary"] == "nothing has changed"


@pytest.mark.parametrize(
    ("paths", "changed"),
    [
        (["!tests/"], ["README.md", "shop/cart.py"]),
        (["*.py"], ["shop/cart.py", "tests/test_cart.py"]),
        (["*.py", "!tests/"], ["shop/cart.py"]),
        (["./shop"], ["shop/cart.py"]),
        (["tests/test_cart.py"], ["tests/test_cart.py"]),
    ],
)
def test_paths_are_the_globs_of_search(shop: Shop, paths: list[str], changed: list[str]) -> None:
    shop.write("shop/cart.py", CART + "\n\ndef more(): ...\n")
    shop.write("tests/test_cart.py", FILES["tests/test_cart.py"] + "\n\ndef test_more(): ...\n")
    shop.write("README.md", "# Store\n")
    answer = shop.diff(paths=paths)
    others = [one.split()[2] for one in answer.get("other_files", ())]
    assert sorted([file["path"] for file in answer["files"]] + others) == changed
    assert answer["summary"].startswith(f"{len(changed) - len(others)} added") and answer["total"] == len(
        answer["files"]
    )


def test_paths_that_no_file_has_are_told(shop: Shop) -> None:
    assert "No file in either state matches `paths`" in shop.ask("semantic_diff", paths=["shpo/"]).text
    assert "No file" not in shop.ask("semantic_diff", paths=["shop/"]).text


def test_an_epoch_whose_text_the_last_commit_has_is_compared_like_a_commit(shop: Shop) -> None:
    shop.diff()
    before = shop.session.index.state().epoch
    shop.write(
        "shop/cart.py", CART.replace("def tax(value)", "def tax(value, x)").replace("rate = 2", "rate = 3")
    )
    found = shop.changes("shop/cart.py", base=f"epoch:{before}")
    assert list(found) == ["tax"] and "text_gone" not in found["tax"]["tags"]
    assert found["tax"]["preview"] == ["-    rate = 2", "+    rate = 3"]


def test_a_text_that_is_gone_is_compared_by_what_is_on_record_and_said_to_be_gone(shop: Shop) -> None:
    shop.write("shop/cart.py", CART.replace("rate = 2", "rate = 3"))
    shop.diff()
    before = shop.session.index.state().epoch
    shop.write("shop/cart.py", CART.replace("rate = 2", "rate = 4").replace("def clear", "def empty"))
    found = shop.changes("shop/cart.py", base=f"epoch:{before}")
    assert {name: one["change"] for name, one in found.items()} == {
        "Cart.empty": "renamed",
        "tax": "body_changed",
    }
    assert found["tax"]["tags"] == ["text_gone"] and "preview" not in found["tax"]
    assert found["tax"]["risk"] == "unknown"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    rate = 2\n", "    # The usual rate.\n    rate = 2  # of all\n"),
        (
            "    rate = 2\n    return value * rate\n",
            "\n    rate  =  2\n\n    return (value * rate)\n".replace("(", "").replace(")", ""),
        ),
        (
            "def add(self, item, count=1):",
            "def add(\n        self,\n        item,  # what\n        count=1):",
        ),
    ],
)
def test_comments_and_white_space_are_no_change(shop: Shop, old: str, new: str) -> None:
    shop.write("shop/cart.py", CART.replace(old, new))
    answer = shop.diff()
    assert answer["files"] == [] and answer["other_files"] == ["modified prod shop/cart.py"]


def test_a_line_that_stands_deeper_is_a_change(shop: Shop) -> None:
    shop.write(
        "shop/cart.py", CART.replace("        total = count\n", "        if 1:\n            total = count\n")
    )
    git(shop.root, "commit", "-qam", "if")
    shop.write(
        "shop/cart.py",
        CART.replace(
            "        total = count\n        return",
            "        if 1:\n            total = count\n            return",
        ),
    )
    assert list(shop.changes("shop/cart.py")) == ["Cart.add"]


def test_what_makes_instances_is_used_where_its_class_is_called(shop: Shop) -> None:
    made = "class Cart:\n    def __init__(self):\n        self.items = [1]\n\n"
    shop.write("shop/cart.py", CART.replace("class Cart:\n", made))
    shop.write(
        "shop/other.py", "class Other:\n    def __init__(self): ...\n\n\nsuper().__init__()\nx.__init__()\n"
    )
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "made")
    shop.write(
        "shop/cart.py",
        CART.replace("class Cart:\n", made.replace("(self)", "(self, size)").replace("1", "2")),
    )
    found = shop.changes("shop/cart.py")
    assert found["Cart.__init__"]["impact"] == {"references": {"strong": 1}, "files": 1}
    # The field is told with what gives it its value.
    assert list(found) == ["Cart.__init__"]


def test_a_long_diff_is_read_in_pages(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(45)))
    names: list[str] = []
    cursor: dict[str, object] = {}
    for _ in range(3):
        answer = shop.diff(limit=20, **cursor)
        names += [one["name"] for file in answer["files"] for one in file["changes"]]
        cursor = {"cursor": answer.get("next_cursor")}
    assert names == [f"f{n}" for n in range(45)] and cursor == {"cursor": None}


def test_the_offered_call_goes_on_as_it_is(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(45)))
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "many")
    names: list[str] = []
    asked: dict[str, Any] = {"base": "HEAD~1", "target": "HEAD", "paths": ["shop/many.py"], "limit": 20}
    while asked:
        answer = shop.ask("semantic_diff", **asked)
        assert not answer.is_error, answer.body
        names += [one["name"] for file in answer.body["result"]["files"] for one in file["changes"]]
        offered = answer.text.partition("next: semantic_diff ")[2]
        asked = json.loads(offered) if offered else {}
    assert names == [f"f{n}" for n in range(45)]


def test_definitions_deep_inside_each_other_are_compared(shop: Shop) -> None:
    lines = [f"{' ' * level}def f{level}():\n" for level in range(300)]
    shop.write("shop/deep.py", "".join([*lines, f"{' ' * 300}return 1\n"]))
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "deep")
    shop.write("shop/deep.py", "".join([*lines, f"{' ' * 300}return 2\n"]))
    found = shop.changes("shop/deep.py")
    assert [one["change"] for one in found.values()] == ["body_changed"]
    shop.write("shop/deep.py", "")
    assert list(shop.changes("shop/deep.py")) == ["f0"]


def test_a_cursor_of_another_state_is_gone(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(25)))
    cursor = shop.diff(limit=20)["next_cursor"]
    shop.write("shop/many.py", "")
    assert shop.error("semantic_diff", cursor=cursor)["name"] == "CURSOR_GONE"


def test_pages_between_commits_go_on_whatever_is_edited_meanwhile(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(25)))
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "many")
    states = {"base": "HEAD~1", "target": "HEAD"}
    first = shop.diff(**states, limit=20)
    assert first["tests_confidence"]
    shop.write("shop/cart.py", "")
    before = shop.session.index.state().epoch
    rest = shop.diff(**states, limit=20, cursor=first["next_cursor"])
    assert shop.session.index.state().epoch == before  # nobody asked about the tree
    assert [one["name"] for one in rest["files"][0]["changes"]] == [f"f{n}" for n in range(20, 25)]
    assert "tests_confidence" not in rest and rest["summary"] == first["summary"]
    git(shop.root, "commit", "-qam", "gone")
    assert shop.error("semantic_diff", **states, cursor=first["next_cursor"])["name"] == "CURSOR_GONE"


def test_without_a_commit_the_way_to_compare_is_told(tmp_path: Path) -> None:
    repo = Shop(tmp_path, FILES)
    git(repo.root, "update-ref", "-d", "HEAD")
    try:
        error = repo.error("semantic_diff")
        assert error["name"] == "REVISION_NOT_FOUND" and "epoch:" in error["hints"][0]
        repo.result("map_repo")
        before = repo.session.index.state().epoch
        repo.write("shop/cart.py", CART.replace("rate = 2", "rate = 3"))
        assert list(repo.changes("shop/cart.py", base=f"epoch:{before}")) == ["tax"]
    finally:
        repo.session.close()


def test_names_and_files_that_are_not_utf8_are_compared(shop: Shop) -> None:
    (shop.root / os.fsdecode(b"shop/\xff.py")).write_bytes(b"def \xe9(): ...\n\n\ndef ok(): return '\xff'\n")
    [file] = shop.diff()["files"]
    assert file["path"].startswith("shop/\ufffd") and "ok" in [one["name"] for one in file["changes"]]


BASED = """\
class Base:
    def run(self):
        return 1


class Job(Base):
    def run(self):
        return 2

    def stop(self):
        return 3


def helper():
    return 4
"""


def test_names_of_parameters_and_locals_are_no_references_of_what_is_gone(tmp_path: Path) -> None:
    user = (
        "from jobs import helper\n\n\ndef f(helper):\n    return helper\n\n\n"
        "def g():\n    helper = 1\n    return helper\n\n\ndef h():\n    return helper()\n"
    )
    shop = Shop(tmp_path, {"jobs.py": BASED, "user.py": user, "free.py": "from os import helper\nhelper()\n"})
    shop.write("jobs.py", BASED.partition("\n\ndef helper")[0])
    gone = shop.changes("jobs.py")["helper"]
    assert gone["impact"] == {"references": {"unknown": 2}, "files": 1}
    shop.session.close()


def test_a_member_that_a_base_still_provides_breaks_nobody(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"jobs.py": BASED, "user.py": "def f(stop, run):\n    return stop, run\n"})
    shop.write(
        "jobs.py", BASED.replace("    def run(self):\n        return 2\n\n", "").replace("stop", "halt")
    )
    found = shop.changes("jobs.py")
    assert "breaking" not in found["Job.run"]
    assert found["Job.run"]["tags"] == ["symbol_removed", "inherited"]
    assert found["Job.halt"]["breaking"] is True
    assert "impact" not in found["Job.run"]
    shop.session.close()


def test_a_member_that_a_base_from_elsewhere_may_provide_is_open(tmp_path: Path) -> None:
    before = BASED.replace("class Base:", "import abc\n\n\nclass Base(abc.Mystery):")
    shop = Shop(tmp_path, {"jobs.py": before})
    shop.write("jobs.py", before.replace("    def stop(self):\n        return 3\n", ""))
    assert shop.changes("jobs.py")["Job.stop"]["breaking"] == "unknown"
    shop.session.close()


def test_a_page_of_many_changes_is_short_and_the_rest_is_reached(shop: Shop) -> None:
    before = "".join(f"def function_number_{n}(a):\n    return a\n\n\n" for n in range(300))
    shop.write("shop/many.py", before)
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "many")
    shop.write("shop/many.py", before.replace("(a)", "(a, b)"))
    names: list[str] = []
    cursor: dict[str, object] = {}
    while cursor != {"cursor": None}:
        answer = shop.ask("semantic_diff", **cursor)
        assert len(answer.text) <= LONGEST_PAGE
        names += [one["name"] for file in answer.body["result"]["files"] for one in file["changes"]]
        cursor = {"cursor": answer.body["result"].get("next_cursor")}
    assert names == [f"function_number_{n}" for n in range(300)]


def test_what_is_imported_instead_of_defined_breaks_nobody(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"jobs.py": BASED})
    shop.write("tools.py", "def helper():\n    return 4\n")
    shop.write("jobs.py", "from tools import helper\n\n\n" + BASED.partition("\n\ndef helper")[0])
    assert shop.changes("jobs.py")["helper"]["tags"] == ["symbol_removed", "imported_instead"]
    assert "breaking" not in shop.diff()
    shop.session.close()


def test_line_ends_that_git_converts_are_no_change(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"a.py": "def f():\n    return 1\n", ".gitattributes": "*.py text\n"})
    (shop.root / "a.py").write_bytes(b"def f():\r\n    return 1\r\n")
    git(shop.root, "add", "a.py")
    assert shop.diff()["summary"] == "nothing has changed"
    shop.session.close()


def test_an_id_that_git_expands_is_no_change(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"a.py": 'def f():\n    return "$Id$"\n', ".gitattributes": "*.py ident\n"})
    (shop.root / "a.py").unlink()
    git(shop.root, "checkout", "-q", "--", "a.py")
    assert "$Id: " in (shop.root / "a.py").read_text()
    assert shop.diff()["summary"] == "nothing has changed"
    shop.session.close()


def test_files_outside_of_a_sparse_checkout_are_not_removed(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo", {"in/a.py": "def f(): ...\n", "out/b.py": "def g(): ...\n"})
    git(root, "sparse-checkout", "set", "--no-cone", "/in/")
    shop = Shop.at(root, tmp_path)
    answer = shop.ask("semantic_diff")
    assert answer.body["result"]["summary"] == "nothing has changed"
    assert "not in the working tree (a sparse checkout)" in answer.text
    shop.session.close()


def test_contents_that_the_clone_lacks_are_said_and_not_added(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    shop = Shop(tmp_path, {"a.py": pointer, "b.py": "def f(): ...\n"})
    blob = git(shop.root, "rev-parse", "HEAD:b.py")
    shop.write("a.py", "def g(): ...\n")
    shop.write("b.py", "def f(): return 1\n")
    git(shop.root, "commit", "-qam", "read")
    (shop.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    answer = shop.ask("semantic_diff", base="HEAD~1", target="HEAD")
    assert answer.body["result"]["summary"] == "nothing has changed in the files that can be read"
    assert "2 files have no content in this clone (lfs, missing) and are left out" in answer.text
    shop.session.close()


def test_a_file_that_one_side_cannot_read_as_text_says_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"a.py": "def f():\n    return 1\n"})
    (shop.root / "a.py").write_bytes("def f():\n    return 2\n".encode("utf-16"))
    assert shop.diff()["other_files"] == ["modified prod a.py (one side is not text)"]
    shop.session.close()


def test_lines_of_code_are_shown_and_documentation_is_only_counted(shop: Shop) -> None:
    changed = CART.replace("rate = 2", "rate = 3").replace("class Cart:", 'class Cart:\n    """Things."""\n')
    shop.write("shop/cart.py", changed)
    lines = shop.ask("semantic_diff").text.splitlines()
    at = next(number for number, line in enumerate(lines) if ": tax" in line)
    assert lines[at + 1 : at + 3] == ["    -rate = 2", "    +rate = 3"]
    assert "not listed: changes 1 of docstrings alone" in lines


def test_help_passed_as_an_argument_is_documentation(tmp_path: Path) -> None:
    code = "def build(p):\n    p.add_argument('-v', help='{}')\n    return p\n"
    shop = Shop(tmp_path, {"cli.py": code.format("more words")})
    shop.write("cli.py", code.format("says more"))
    answer = shop.diff()
    shop.session.close()
    assert answer["files"] == [] and answer["folded"] == {"docstrings": 1}


def test_of_many_changes_fewer_lines_are_shown(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = {{0}}\n" for n in range(5))
    code = "\n\n".join(f"def f{number}():\n{body}" for number in range(45))
    shop = Shop(tmp_path, {"a.py": code.format(1)})
    shop.write("a.py", code.format(2))
    [first, *_] = shop.diff()["files"][0]["changes"]
    shop.write("a.py", code.format(1).replace("= 1", "= 2", 5))
    [only] = shop.diff()["files"][0]["changes"]
    shop.session.close()
    assert (len(first["preview"]), first["preview_more"]) == (4, 6)
    assert len(only["preview"]) == 10 and "preview_more" not in only


class Compared(int):
    """A number that counts how often it is compared with others."""

    times = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return int(self) == other


def test_each_addition_is_not_compared_with_all_others(tmp_path: Path) -> None:
    shop = Shop(tmp_path, {"many.py": "".join(f"def f{n}(a):\n    return a\n\n\n" for n in range(300))})
    shop.session.index.refresh()
    with shop.session.index.snapshot() as snapshot:
        side = Side(Version(snapshot.require_facts(RepoPath("many.py")), lambda: None))
        side.items = [item._replace(parent=Compared(item.parent)) for item in side.items]
        assert len(_Comparison(Side(None), side).changes()) == 300
    assert Compared.times < 20 * 300
    shop.session.close()
