from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.core.errors import AmbiguousSymbol, CodePlaneError, InvalidArgument, NotFound
from codeplane.names import Index

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": """\
class Cart:
    @property
    def total(self): ...

    @total.setter
    def total(self, value): ...

    def add(self, item): ...

    class Line:
        def add(self): ...


def checkout(cart): ...
""",
    "shop/order.py": "class Order(Cart):\n    def add(self, item): ...\n\na, b = 1, 2\n",
    "tool/main.go": "package main\n\ntype T struct{}\n\nfunc (t *T) Run() {}\n",
    "lib/a.ts": "export namespace Geo { export const x = 1 }\n",
    "docs/cart.md": "# Cart\n\n# Shipping\n",
}


@pytest.fixture
def shop(index: Index, repo: Path) -> Index:
    return filled(index, repo, FILES)


def filled(index: Index, repo: Path, files: Mapping[str, str]) -> Index:
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    index.refresh()
    return index


def named(index: Index, text: str) -> str:
    with index.snapshot() as snapshot:
        found = snapshot.symbol(text)
        return f"{found.path}:{found.name_line} {found.lexical_path}"


def refused(index: Index, text: str) -> CodePlaneError:
    with index.snapshot() as snapshot, pytest.raises(CodePlaneError) as raised:
        snapshot.symbol(text)
    return raised.value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("shop.cart.Cart.add", "shop/cart.py:8 Cart.add"),
        ("Cart.add", "shop/cart.py:8 Cart.add"),
        ("cart.Cart", "shop/cart.py:1 Cart"),
        (" `checkout()` ", "shop/cart.py:14 checkout"),
        ("Line.add", "shop/cart.py:11 Cart.Line.add"),
        ("shop/order.py:2", "shop/order.py:2 Order.add"),
        ("shop/order.py:4:4", "shop/order.py:4 b"),
        ("shop/cart.py:2", "shop/cart.py:3 Cart.total"),
        ("shop/order.py::Order.add", "shop/order.py:2 Order.add"),
        ("shop/order.py#a", "shop/order.py:4 a"),
        ("T.Run", "tool/main.go:5 Run"),
        ("Shipping", "docs/cart.md:3 Shipping"),
    ],
)
def test_a_definition_is_found_by_each_of_its_names(shop: Index, text: str, found: str) -> None:
    assert named(shop, text) == found


def test_code_comes_before_a_heading_of_the_same_name(shop: Index) -> None:
    assert named(shop, "Cart") == "shop/cart.py:1 Cart"


def test_a_property_and_its_setter_are_one(shop: Index) -> None:
    assert named(shop, "Cart.total") == "shop/cart.py:3 Cart.total"


def test_a_name_that_a_package_passes_on_is_followed(shop: Index) -> None:
    assert named(shop, "shop.Cart") == "shop/cart.py:1 Cart"
    assert named(shop, "shop.Cart.Line.add") == "shop/cart.py:11 Cart.Line.add"


def test_a_member_of_a_base_is_not_taken_for_one_of_the_class(shop: Index) -> None:
    assert isinstance(refused(shop, "Order.total"), NotFound)


def test_a_uid_leads_to_its_definition(shop: Index) -> None:
    with shop.snapshot() as snapshot:
        cart = snapshot.symbol("Cart")
        uid = snapshot.uid(cart.path, cart.position)
    assert named(shop, uid) == "shop/cart.py:1 Cart"
    assert isinstance(refused(shop, "sym_0000000000000000"), NotFound)


def test_a_name_of_several_definitions_is_answered_with_the_candidates(shop: Index) -> None:
    error = refused(shop, "add")
    assert isinstance(error, AmbiguousSymbol)
    candidates = error.details["candidates"]
    assert isinstance(candidates, list)
    assert [(one["name"], one["kind"], one["at"]) for one in candidates] == [
        ("shop.cart.Cart.add", "method", "shop/cart.py:8"),
        ("shop.order.Order.add", "method", "shop/order.py:2"),
        ("shop.cart.Cart.Line.add", "method", "shop/cart.py:11"),
    ]
    assert [named(shop, one["uid"]).split()[0] for one in candidates] == [one["at"] for one in candidates]
    assert isinstance(refused(shop, "shop/order.py:4"), AmbiguousSymbol)


def test_a_wrong_name_is_answered_with_the_nearest_ones(shop: Index) -> None:
    assert refused(shop, "chekcout").hints == ("The nearest names: shop.cart.checkout",)
    assert "shop.cart.Cart.add" in refused(shop, "Carts.add").hints[0]
    assert refused(shop, "zzzzzzzzz").details == {"absence": "proven_none"}


def test_a_line_inside_a_definition_is_not_its_name(shop: Index) -> None:
    error = refused(shop, "shop/cart.py:7")
    assert error.hints == ("The line is inside shop.cart.Cart (shop/cart.py:1).",)
    assert refused(shop, "cart.py:1").hints == ("There is shop/cart.py.",)


def test_partial_parts_of_one_class_are_one_thing(index: Index, repo: Path) -> None:
    files = {
        "A.cs": "namespace N { partial class P { void A() {} } }\n",
        "B.cs": "namespace N { partial class P { void B() {} } }\n",
    }
    assert named(filled(index, repo, files), "N.P") == "A.cs:1 N.P"


def test_parts_of_a_type_in_other_places_have_its_name(index: Index, repo: Path) -> None:
    files = {
        "a.rb": "module M\n  class A\n    def go; end\n  end\nend\n",
        "b.rb": "module M\n  class A\n    def stop; end\n  end\nend\n",
        "Cargo.toml": '[package]\nname = "app"\n',
        "src/lib.rs": "pub struct Square { side: f64 }\nimpl Square { pub fn new() {} }\n",
        "n.hpp": "namespace n {\nclass Foo {\n  Foo();\n  int bar(int x);\n};\n}\n",
        "n.cpp": '#include "n.hpp"\nnamespace n {\nint Foo::baz(int x) { return x; }\n}\n',
    }
    filled(index, repo, files)
    assert named(index, "M::A") == "a.rb:2 M.A"
    assert named(index, "app::Square") == "src/lib.rs:1 Square"
    assert named(index, "Square::new") == "src/lib.rs:2 Square.new"
    assert named(index, "Foo::baz") == "n.cpp:3 n.baz"


@pytest.mark.parametrize("text", ["", "  ", "``", "x" * 2000])
def test_what_cannot_be_a_name_is_an_invalid_argument(shop: Index, text: str) -> None:
    assert isinstance(refused(shop, text), InvalidArgument)


@pytest.mark.parametrize(
    "text", [".", "::", "a..b", ":1", "x:999999999999", "\udcff", "%", "*", "'; --", "()"]
)
def test_odd_texts_are_answered_in_order(shop: Index, text: str) -> None:
    assert isinstance(refused(shop, text), NotFound | InvalidArgument)


def test_a_name_that_only_text_has_is_a_language_gap(shop: Index, repo: Path) -> None:
    filled(shop, repo, {"notes.unknown": "frobnicate\n"})
    assert refused(shop, "frobnicate").details["absence"] == "language_gap"


def test_a_member_of_a_base_is_named_as_what_it_is(index: Index, repo: Path) -> None:
    files = {
        "base.py": "class Base:\n    def go(self): ...\n",
        "a.py": "from base import Base\n\n\nclass A(Base): ...\n",
    }
    filled(index, repo, files)
    with (
        index.snapshot() as snapshot,
        pytest.raises(NotFound, match=r"A\.go is inherited: it is base\.Base\.go") as raised,
    ):
        snapshot.symbol("A.go")
    assert raised.value.hints == ("Ask for base.Base.go.",)
