"""What the tool says about real edits of a real repository."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.drive import git
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
        """The changes of one file by name, members too."""
        [file] = [file for file in self.diff(**arguments)["files"] if file["path"] == path]
        found, waiting = {}, list(file["changes"])
        while waiting:
            one = waiting.pop()
            found[one["name"]] = one
            waiting += one.get("nested", [])
        return found


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


def test_a_changed_return_type_is_told_apart(shop: Shop) -> None:
    shop.write("shop/cart.py", CART.replace("-> int", "-> float"))
    assert shop.changes("shop/cart.py")["price"]["tags"] == ["return_type_changed", "minor_change"]


def test_members_are_below_their_class(shop: Shop) -> None:
    text = CART.replace("total = count\n", "total = count + 1\n").replace(
        "def clear(self):", "def empty(self):"
    )
    shop.write("shop/cart.py", text)
    [file] = shop.diff()["files"]
    [cart] = file["changes"]
    assert (cart["name"], cart["change"]) == ("Cart", "body_changed")
    assert [(one["name"], one["change"], one.get("old_name")) for one in cart["nested"]] == [
        ("Cart.add", "body_changed", None),
        ("Cart.empty", "renamed", "clear"),
    ]
    add = cart["nested"][0]
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


def test_a_comment_or_an_edit_elsewhere_is_no_change_of_a_definition(shop: Shop) -> None:
    shop.write("shop/cart.py", "# A cart.\n\n" + CART)
    shop.write("README.md", "# Shop\n\nMore.\n")
    answer = shop.diff()
    assert answer["files"] == [] and answer["other_files"] == [
        "modified docs README.md (no definitions)",
        "modified prod shop/cart.py",
    ]


def test_a_comment_below_a_header_does_not_change_the_header(shop: Shop) -> None:
    shop.write(
        "shop/cart.py", CART.replace("class Cart:\n", "class Cart:\n    # Keeps items.\n    kept = 1\n")
    )
    found = shop.changes("shop/cart.py")
    assert {name: one["change"] for name, one in found.items()} == {
        "Cart": "body_changed",
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


def test_an_epoch_whose_text_the_last_commit_has_is_compared_like_a_commit(shop: Shop) -> None:
    shop.diff()
    before = shop.session.index.state().epoch
    shop.write(
        "shop/cart.py", CART.replace("def tax(value)", "def tax(value, x)").replace("rate = 2", "rate = 3")
    )
    found = shop.changes("shop/cart.py", base=f"epoch:{before}")
    assert list(found) == ["tax"] and "text_gone" not in found["tax"]["tags"]
    assert found["tax"]["preview"][1] == "-    rate = 2"


def test_a_text_that_is_gone_is_compared_by_what_is_on_record_and_said_to_be_gone(shop: Shop) -> None:
    shop.write("shop/cart.py", CART.replace("rate = 2", "rate = 3"))
    shop.diff()
    before = shop.session.index.state().epoch
    shop.write("shop/cart.py", CART.replace("rate = 2", "rate = 4").replace("def clear", "def empty"))
    found = shop.changes("shop/cart.py", base=f"epoch:{before}")
    assert {name: one["change"] for name, one in found.items()} == {
        "Cart": "body_changed",
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
    assert list(shop.changes("shop/cart.py")) == ["Cart", "Cart.add"]


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
    assert list(found) == ["Cart", "Cart.__init__"]


def test_a_long_diff_is_read_in_pages(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(45)))
    names: list[str] = []
    cursor: dict[str, object] = {}
    for _ in range(3):
        answer = shop.diff(limit=20, **cursor)
        names += [one["name"] for file in answer["files"] for one in file["changes"]]
        cursor = {"cursor": answer.get("next_cursor")}
    assert names == [f"f{n}" for n in range(45)] and cursor == {"cursor": None}


def test_definitions_deep_inside_each_other_are_told_in_a_row(shop: Shop) -> None:
    lines = [f"{' ' * level}def f{level}():\n" for level in range(300)]
    shop.write("shop/deep.py", "".join([*lines, f"{' ' * 300}return 1\n"]))
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "deep")
    shop.write("shop/deep.py", "".join([*lines, f"{' ' * 300}return 2\n"]))
    found = shop.changes("shop/deep.py")
    assert len(found) > 30 and found["f0"]["change"] == "body_changed"
    shop.write("shop/deep.py", "")
    assert list(shop.changes("shop/deep.py")) == ["f0"]


def test_a_cursor_of_another_state_is_gone(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(25)))
    cursor = shop.diff()["next_cursor"]
    shop.write("shop/many.py", "")
    assert shop.error("semantic_diff", cursor=cursor)["name"] == "CURSOR_GONE"


def test_pages_between_commits_go_on_whatever_is_edited_meanwhile(shop: Shop) -> None:
    shop.write("shop/many.py", "".join(f"def f{n}(): ...\n" for n in range(25)))
    git(shop.root, "add", "-A")
    git(shop.root, "commit", "-qm", "many")
    states = {"base": "HEAD~1", "target": "HEAD"}
    first = shop.diff(**states)
    assert first["tests_confidence"]
    shop.write("shop/cart.py", "")
    before = shop.session.index.state().epoch
    rest = shop.diff(**states, cursor=first["next_cursor"])
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
