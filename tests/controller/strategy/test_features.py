"""Each feature of a task, seen and not seen."""

from typing import Any

import pytest

from codeplane.controller.strategy import context_signature, rate_confidence, shipped_book
from codeplane.names import Snapshot

SEED_FEATURES = (
    "hasJira hasSwagger mentionsAgGrid touchesShadowDom crossesFederationBoundary"
    " migrationAdpDetected contractAnchorPresent testConfidenceLevel"
).split()

CASES: list[tuple[str, str, dict[str, Any], list[str], str]] = [
    ("hasJira", "", {"SHOP-12": {"source": "jira", "digest": "x"}}, [], "SHOP-12 has been fetched"),
    ("hasJira", "See the Jira ticket.", {}, [], "the prompt mentions 'jira'"),
    ("hasSwagger", "Follow the OpenAPI file", {}, [], "the prompt mentions 'openapi'"),
    ("hasSwagger", "", {}, ["api/openapi.yaml"], "api/openapi.yaml is named like"),
    ("hasSwagger", "", {"pets": {"kind": "openapi"}}, [], "pets has been fetched"),
    ("mentionsAgGrid", "Sort the AG-Grid by name.", {}, [], "the prompt mentions 'ag-grid'"),
    ("mentionsAgGrid", "", {}, ["src/orders.table.ts"], "src/orders.table.ts imports ag-grid-community"),
    ("touchesShadowDom", "", {}, ["src/card.ts"], "src/card.ts contains attachShadow"),
    ("touchesShadowDom", "style the shadow root", {}, [], "the prompt mentions 'shadow root'"),
    ("crossesFederationBoundary", "", {}, ["src/remote.ts"], "imports @angular-architects/module-federation"),
    ("crossesFederationBoundary", "", {}, ["module-federation.config.js"], "is named like"),
    (
        "migrationAdpDetected",
        "Migrate the ADP table",
        {},
        [],
        "mentions 'adp' and the prompt mentions 'migrate'",
    ),
    ("migrationAdpDetected", "Use SDF here.", {}, ["src/legacy.ts"], "src/legacy.ts imports @adp/grid and"),
    ("contractAnchorPresent", "", {"GET /orders": {"source": "openapi"}}, [], "GET /orders has been fetched"),
]


def test_the_features_are_those_of_the_contract() -> None:
    assert list(shipped_book().features) == SEED_FEATURES


@pytest.mark.parametrize(("feature", "prompt", "artifacts", "files", "evidence"), CASES)
def test_a_feature_is_seen_with_its_evidence(
    grid: Snapshot, feature: str, prompt: str, artifacts: dict[str, Any], files: list[str], evidence: str
) -> None:
    signature = context_signature(prompt, artifacts, grid, files)
    assert signature.features[feature] is True
    assert evidence in signature.evidence[feature]


@pytest.mark.parametrize(
    ("prompt", "artifacts", "files"),
    [
        ("", {}, []),
        ("Rename the function page_count to count_pages.", {}, ["src/plain.ts"]),
        ("The flag grids stays; the image tag gridlines too.", {}, ["src/plain.ts"]),
        ("Read UTF-8 and SHA-256.", {"note": {"source": "prompt"}}, ["src/gone.ts", "src/plain.ts"]),
        ("An adaptor of the sdfx format", {}, ["src/plain.ts"]),
    ],
)
def test_nothing_is_seen_in_everyday_work(
    grid: Snapshot, prompt: str, artifacts: dict[str, Any], files: list[str]
) -> None:
    signature = context_signature(prompt, artifacts, grid, files)
    assert {name for name, value in signature.features.items() if value is True} == set()


@pytest.mark.parametrize(
    ("test_counts", "level"),
    [([], "none"), ([0, 0], "none"), ([9, 0], "low"), ([9, 1], "medium"), ([3, 4], "high")],
)
def test_confidence_is_that_of_the_file_with_the_fewest_tests(test_counts: list[int], level: str) -> None:
    assert rate_confidence(test_counts) == level


@pytest.mark.parametrize("level", ["none", "low", "medium", "high"])
def test_test_confidence_is_an_ordinal(grid: Snapshot, level: str) -> None:
    assert context_signature("", {}, grid, [], level).features["testConfidenceLevel"] == level
