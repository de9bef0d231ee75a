"""What a pack takes from strategies, the graph, other runs and memory."""

from codeplane.controller.execution.collisions import Holder, Reservations, file_resource
from codeplane.controller.strategy.run_strategy import open_graph
from codeplane.graph_store.model import Node
from tests.controller.pack.conftest import Turn
from tests.tools.repo import Repo

PROMPT = "The total price of a cart ignores the discount."


def test_the_strategy_is_chosen_for_the_files_of_the_pack(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT)
    strategy = answer["result"]["contextPack"]["strategy"]
    assert strategy["strategyId"] == answer["knowledgeStrategy"]["strategyId"]
    assert strategy["reasons"]
    assert strategy["contextSignature"]["hasJira"] is False


def test_a_chain_that_the_strategy_requires_and_that_breaks_is_an_unresolved_anchor(turn: Turn) -> None:
    answer = turn(
        "initialize_work", originalPrompt="The ag-Grid column of the cart shows the wrong total price"
    )
    pack = answer["result"]["contextPack"]
    assert pack["strategy"]["strategyId"] == "ui_aggrid_feature"
    [chain] = pack["anchors"]["proofChains"]
    assert chain["brokenAt"]
    lack = answer["packInsufficiency"]
    assert lack["codes"] == ["PACK_REQUIRED_ANCHOR_UNRESOLVED"]
    assert lack["missingAnchors"][0]["anchorType"] == "proof_chain"
    for action in lack["escalationPlan"]:
        assert turn(action["verb"], **action["args"])["denyReasons"] == [], action


def test_a_contract_that_the_strategy_rests_on_has_to_be_fetched(turn: Turn, shop_repo: Repo) -> None:
    prompt = "Change the OpenAPI contract: the endpoint for the total price of a cart, see openapi.yaml"
    shop_repo.write("openapi.yaml", "openapi: 3.0.0\ninfo: {title: shop, version: '1'}\npaths: {}\n")
    answer = turn("initialize_work", originalPrompt=prompt)
    assert answer["result"]["contextPack"]["strategy"]["strategyId"] == "api_contract_feature"
    [anchor] = answer["packInsufficiency"]["missingAnchors"]
    assert (anchor["anchorType"], anchor["requiredBy"]) == ("contract", "strategy api_contract_feature")
    action = answer["packInsufficiency"]["escalationPlan"][0]
    assert (action["verb"], action["args"]) == ("fetch_api_spec", {"specUrl": "openapi.yaml"})


def test_policies_of_the_graph_hold_for_their_files(turn: Turn, shop_repo: Repo) -> None:
    nodes = [
        Node("policy:cents", "policy", {"text": "Prices are integers of cents.", "files": ("shop/**",)}, 3),
        Node("policy:docs", "policy", {"text": "Short sentences.", "files": ("docs/**",)}),
    ]
    nodes.append(Node("policy:odd", "policy", {"text": "No pattern.", "files": ("x" * 900,)}))
    with open_graph(shop_repo.session) as store:
        store.upsert(nodes, [])
    answer = turn("initialize_work", originalPrompt=PROMPT)
    whys = [policy["why"] for policy in answer["result"]["contextPack"]["policies"]]
    assert any(why.startswith("policy policy:cents@3: Prices are integers of cents.") for why in whys)
    assert not any("policy:docs" in why or "policy:odd" in why for why in whys)


def test_a_file_that_another_run_has_reserved_is_a_conflict(turn: Turn, shop_repo: Repo) -> None:
    reservations = Reservations(lambda: shop_repo.session.state_db)
    reservations.reserve(Holder("w_other", "agent"), "n1", [file_resource("shop/cart.py")])
    answer = turn("initialize_work", originalPrompt=PROMPT)
    conflicts = answer["result"]["contextPack"]["missing"]["conflicts"]
    assert conflicts == ["shop/cart.py is reserved by run w_other"]
    assert "conflict: shop/cart.py is reserved by run w_other" in answer["text"]
