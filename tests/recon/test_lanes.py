"""What each lane finds in a small repository, and why."""

import pytest

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.recon.candidates import (
    Artifact,
    Candidate,
    LaneQuery,
    LaneSources,
    LinterUse,
    MemoryNote,
    PastChange,
    PolicyRow,
)
from codeplane.recon.lanes import artifact, episodic, lexical, policy, symbol

_CART = RepoPath("shop/cart.py")


def _paths(candidates: list[Candidate]) -> list[str]:
    return [one.path for one in candidates]


def test_words_of_a_task_lead_to_the_definition_that_holds_them(shop: Snapshot) -> None:
    best = lexical.find(LaneQuery("The total price of a cart ignores the discount"), LaneSources(shop))[0]
    assert (best.path, best.symbol, best.first_line, best.last_line) == (_CART, "Cart.total_price", 8, 10)
    assert "discount" in best.why


def test_source_comes_before_tests_and_prose_that_say_the_same(shop: Snapshot) -> None:
    paths = list(dict.fromkeys(_paths(lexical.find(LaneQuery("total price of the cart"), LaneSources(shop)))))
    assert paths.index("shop/cart.py") < paths.index("tests/test_cart.py") < paths.index("docs/guide.md")


def test_words_below_the_first_line_count_less(shop: Snapshot) -> None:
    query = LaneQuery("Wrong weight of a parcel\n\nThis was seen when a cart had a price with a discount.")
    assert lexical.find(query, LaneSources(shop))[0].path == "shop/shipping.py"


def test_a_lexeme_counts_as_the_first_line_does(shop: Snapshot) -> None:
    query = LaneQuery("Something is wrong", lexemes=("parcel_weight",))
    assert lexical.find(query, LaneSources(shop))[0].symbol == "parcel_weight"


def test_a_verb_of_the_task_does_not_lead_to_code_that_is_named_for_it(shop: Snapshot) -> None:
    assert lexical.find(LaneQuery("add a discount"), LaneSources(shop))[0].symbol == "Cart.total_price"


@pytest.mark.parametrize("prompt", ["", "   \n", "!?", "the of and", "\0", "x" * 50_000])
def test_a_task_that_says_nothing_has_no_candidates(shop: Snapshot, prompt: str) -> None:
    query, sources = LaneQuery(prompt), LaneSources(shop)
    assert not [*lexical.find(query, sources), *symbol.find(query, sources), *artifact.find(query, sources)]


def test_a_name_in_the_prompt_leads_to_its_definition_and_to_who_refers_to_it(shop: Snapshot) -> None:
    candidates = symbol.find(LaneQuery("`total_price` is wrong"), LaneSources(shop))
    assert [(one.path, one.symbol) for one in candidates[:2]] == [
        (_CART, "Cart.total_price"),
        ("shop/checkout.py", "pay"),
    ]
    assert candidates[0].why == "defines total_price"
    assert candidates[1].why == "refers to Cart.total_price"


@pytest.mark.parametrize("name", ["Cart.total_price", "shop.cart.Cart.total_price", "basket.total_price()"])
def test_a_qualified_name_leads_there_too(shop: Snapshot, name: str) -> None:
    assert symbol.find(LaneQuery(f"See {name}."), LaneSources(shop))[0].symbol == "Cart.total_price"


def test_a_plain_word_counts_less_than_a_name_in_a_code_span(shop: Snapshot) -> None:
    candidates = symbol.find(LaneQuery("I pay and `refund_payment` fails"), LaneSources(shop))
    assert [one.symbol for one in candidates[:2]] == ["refund_payment", "pay"]


def test_attachments_and_frames_of_a_traceback_lead_to_their_files(shop: Snapshot) -> None:
    prompt = 'Traceback:\n  File "/home/me/x/shop/checkout.py", line 5, in pay\nAttributeError'
    candidates = artifact.find(LaneQuery(prompt, attachments=("shop/shipping.py",)), LaneSources(shop))
    assert [(one.path, one.symbol, one.why) for one in candidates] == [
        ("shop/shipping.py", "", "attached"),
        ("shop/checkout.py", "pay", "named in the prompt"),
    ]


def test_a_file_name_that_several_files_have_names_none(shop: Snapshot) -> None:
    assert artifact.find(LaneQuery("see docs.md and AGENTS.md"), LaneSources(shop)) != []
    assert "shop/AGENTS.md" not in _paths(artifact.find(LaneQuery("see /x/AGENTS.md"), LaneSources(shop)))


def test_a_ticket_leads_to_the_files_and_names_that_it_has(shop: Snapshot) -> None:
    ticket = Artifact("SHOP-7", "ticket", "refund_payment raises. Seen in checkout.py, please look.")
    candidates = artifact.find(LaneQuery("Do SHOP-7"), LaneSources(shop, artifacts=[ticket]))
    assert [(one.path, one.symbol, one.why) for one in candidates[:2]] == [
        ("shop/checkout.py", "", "named in ticket SHOP-7"),
        ("shop/checkout.py", "refund_payment", "has raises, refund_payment, as ticket SHOP-7"),
    ]


def test_the_words_of_a_ticket_lead_to_code_where_the_prompt_says_nothing(shop: Snapshot) -> None:
    ticket = Artifact("SHOP-8", "ticket", "Price ignores the discount\n\nThe total is too high.")
    best = artifact.find(LaneQuery("Do SHOP-8"), LaneSources(shop, artifacts=[ticket]))[0]
    assert best.symbol == "Cart.total_price"
    assert best.why.endswith("as ticket SHOP-8")


def test_earlier_changes_with_the_same_words_lead_to_their_files(shop: Snapshot) -> None:
    changes = [
        PastChange("1a2b3c", "Round prices", ("shop/cart.py", "gone.py")),
        PastChange("4d5e6f", "Weigh parcels", ("shop/shipping.py",)),
        PastChange("7a8b9c", "Format everything", tuple(f"f{number}.py" for number in range(30))),
    ]
    sources = LaneSources(shop, past_changes=lambda: changes)
    candidates = episodic.find(LaneQuery("The price is not rounded"), sources)
    assert [(one.path, one.why) for one in candidates] == [
        ("shop/cart.py", "changed by 1a2b3c Round prices"),
    ]


def test_memories_lead_to_the_candidates_that_they_are_about(shop: Snapshot) -> None:
    note = MemoryNote("mem_1", "Prices are cents", ("shop/",))
    sources = LaneSources(shop, memories=lambda _: [note])
    candidates = episodic.find(LaneQuery("x", paths=(_CART, RepoPath("docs/guide.md"))), sources)
    assert [(one.path, one.why) for one in candidates] == [("shop/cart.py", "mem_1: Prices are cents")]


def test_rules_hold_for_what_is_below_their_folder(shop: Snapshot) -> None:
    candidates = policy.find(LaneQuery("A price is a float", paths=(_CART,)), LaneSources(shop))
    whys = {str(one.path): one.why for one in candidates}
    assert "docs/AGENTS.md" not in whys
    assert whys["shop/AGENTS.md"] == "instructions for shop"
    assert whys["CONTRIBUTING.md"] == "guide for contributors"
    assert [one.path for one in candidates][:2] == ["shop/AGENTS.md", "AGENTS.md"]


def test_of_long_rules_the_part_about_the_task_is_the_candidate(shop: Snapshot) -> None:
    candidates = policy.find(LaneQuery("A price is a float", paths=(_CART,)), LaneSources(shop))
    [root] = [one for one in candidates if one.path == "AGENTS.md"]
    assert (root.symbol, root.first_line, root.last_line) == ("Rules.Prices", 3, 5)


def test_the_last_rule_of_codeowners_that_matches_counts(shop: Snapshot) -> None:
    query = LaneQuery("x", paths=(_CART, RepoPath("shop/checkout.py")))
    owners = [one for one in policy.find(query, LaneSources(shop)) if one.path == ".github/CODEOWNERS"]
    assert [(one.first_line, one.why) for one in owners] == [
        (2, "owned by @shop-team for shop/checkout.py"),
        (3, "owned by @cart-team for shop/cart.py"),
    ]


def test_policies_on_record_and_linters_hold_for_their_globs(shop: Snapshot) -> None:
    rows = [
        PolicyRow("policy:cents", "Prices are cents", ("shop/**",), ".codeplane/graph/seed/p.jsonl", 1),
        PolicyRow("policy:docs", "Short", ("docs/**",), ".codeplane/graph/seed/p.jsonl", 2),
    ]
    linters = [
        LinterUse("ruff", "ruff.toml", "", ("*.py",)),
        LinterUse("ruff-format", "ruff.toml", "", ("*.py",)),
        LinterUse("eslint", "ruff.toml", "web", ("*.js",)),
    ]
    sources = LaneSources(shop, policy_rows=lambda: rows, linters=lambda: linters)
    symbols = [one.symbol for one in policy.find(LaneQuery("x", paths=(_CART,)), sources)]
    assert symbols[0] == "policy:cents"
    assert {"ruff", "ruff-format"} <= set(symbols)
    assert not {"policy:docs", "eslint"}.intersection(symbols)


def test_a_limit_is_kept(shop: Snapshot) -> None:
    query = LaneQuery("total price of a cart with lines and discount", limit=2)
    assert len(lexical.find(query, LaneSources(shop))) == 2
