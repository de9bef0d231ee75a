"""A pack only grows."""

from hypothesis import given

from codeplane.controller.pack.enrichment import joined, new_items, reason_words, rejection_codes
from codeplane.controller.pack.sections import PackContent
from tests.controller.pack.samples import PACKS


@given(PACKS, PACKS)
def test_what_a_pack_had_it_keeps(old: PackContent, new: PackContent) -> None:
    whole = joined(old, new_items(old, new))
    places = {(one.path, one.first_line) for one in whole.anchors.anchors}
    assert {(one.path, one.first_line) for one in old.anchors.anchors} <= places
    assert [one for one in old.anchors.anchors if one.evidence and one not in whole.anchors.anchors] == []
    assert whole.policies[: len(old.policies)] == old.policies
    assert whole.active_memories[: len(old.active_memories)] == old.active_memories
    assert whole.validation.tests[: len(old.validation.tests)] == old.validation.tests
    assert whole.allowed.files[: len(old.allowed.files)] == old.allowed.files


@given(PACKS, PACKS)
def test_the_same_again_is_nothing_new(old: PackContent, new: PackContent) -> None:
    whole = joined(old, new_items(old, new))
    delta = new_items(whole, new)
    assert (delta.anchors.anchors, delta.policies, delta.active_memories) == ([], [], [])
    assert (delta.validation.tests, delta.missing.missing) == ([], [])


@given(PACKS)
def test_a_pack_has_nothing_that_is_new_to_itself(pack: PackContent) -> None:
    assert new_items(pack, pack).anchors.anchors == []


def test_codes_and_prose_of_reasons_are_no_words_of_code() -> None:
    reasons = [
        "PLAN_EVIDENCE_INSUFFICIENT: I can't find where `read_hidden` gets its input",
        "PACK_INSUFFICIENT",
    ]
    assert reason_words(reasons) == ["read_hidden", "input"]
    assert rejection_codes(reasons) == ["PLAN_EVIDENCE_INSUFFICIENT", "PACK_INSUFFICIENT"]
