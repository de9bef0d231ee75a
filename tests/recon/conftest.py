from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.index import Workers
from codeplane.names import Index, Snapshot
from tests.drive import new_repo
from tests.index.conftest import tree_of

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n"
        "    def __init__(self):\n"
        "        self.lines = []\n\n"
        "    def add_line(self, line):\n"
        "        self.lines.append(line)\n\n"
        "    def total_price(self):\n"
        '        """The sum of all lines, discount included."""\n'
        "        return sum(line.amount for line in self.lines)\n"
    ),
    "shop/checkout.py": (
        "from shop.cart import Cart\n\n\n"
        "def pay(cart: Cart):\n"
        "    return cart.total_price()\n\n\n"
        "def refund_payment(payment):\n"
        "    raise NotImplementedError(payment)\n"
    ),
    "shop/shipping.py": "def parcel_weight(parcel):\n    return parcel.weight\n",
    "tests/test_cart.py": (
        "from shop.cart import Cart\n\n\ndef test_total_price():\n    assert Cart().total_price() == 0\n"
    ),
    "docs/guide.md": "# Prices\n\nThe total price of a cart includes the discount.\n",
    "AGENTS.md": "# Rules\n\n## Prices\n\nA price is an integer of cents, never a float.\n",
    "shop/AGENTS.md": "# Shop\n\nNo print in the shop.\n",
    "docs/AGENTS.md": "# Docs\n\nShort sentences.\n",
    "CONTRIBUTING.md": "# Contributing\n\nRun the tests.\n",
    ".github/CODEOWNERS": "* @everybody\n/shop/ @shop-team\n/shop/cart.py @cart-team  # prices\n[odd\n",
    "ruff.toml": "line-length = 100\n",
}
"""A repository in which one function is what a task about prices means."""


@pytest.fixture
def shop(tmp_path: Path, workers: Workers) -> Iterator[Snapshot]:
    repo = new_repo(tmp_path / "shop", SHOP)
    index = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    index.refresh()
    with index.snapshot() as snapshot:
        yield snapshot
    index.close()
