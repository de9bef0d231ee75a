"""The laws of the lattice of scopes, and its JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.semantic.scope import RefreshScope, covers, merge_scopes, scope_from_json, scope_to_json

names = st.frozensets(st.sampled_from(["a", "b", "c", "a/b.py", "é", "\udcff"]), max_size=4)
moments = st.none() | st.floats(0, 2e9) | st.integers(0, 2_000_000_000)
scopes = st.none() | st.builds(RefreshScope, names, names, moments)


@given(scopes, scopes)
def test_a_merge_is_commutative(a: RefreshScope | None, b: RefreshScope | None) -> None:
    assert merge_scopes(a, b) == merge_scopes(b, a)


@given(scopes, scopes, scopes)
def test_a_merge_is_associative(
    a: RefreshScope | None, b: RefreshScope | None, c: RefreshScope | None
) -> None:
    assert merge_scopes(merge_scopes(a, b), c) == merge_scopes(a, merge_scopes(b, c))


@given(scopes)
def test_a_merge_is_idempotent_and_none_absorbs(a: RefreshScope | None) -> None:
    assert merge_scopes(a, a) == a
    assert merge_scopes(a, None) is None
    assert merge_scopes(a, RefreshScope()) == a


@given(scopes, scopes, scopes)
def test_a_merge_is_the_least_scope_that_covers_both(
    a: RefreshScope | None, b: RefreshScope | None, c: RefreshScope | None
) -> None:
    both = merge_scopes(a, b)
    assert covers(both, a) and covers(both, b)
    assert covers(c, both) == (covers(c, a) and covers(c, b))


@given(scopes, scopes, scopes)
def test_covering_is_a_partial_order(
    a: RefreshScope | None, b: RefreshScope | None, c: RefreshScope | None
) -> None:
    assert covers(a, a)
    if covers(a, b) and covers(b, a):
        assert a == b
    if covers(a, b) and covers(b, c):
        assert covers(a, c)


@given(scopes, scopes)
def test_json_brings_a_scope_back_and_is_canonical(a: RefreshScope | None, b: RefreshScope | None) -> None:
    assert scope_from_json(scope_to_json(a)) == a
    if a == b and type(a and a.changed_since) is type(b and b.changed_since):
        assert scope_to_json(a) == scope_to_json(b)


def test_the_json_has_the_three_fields() -> None:
    scope = RefreshScope(frozenset({"b.py", "a.py"}), changed_since=5.5)
    assert scope.to_json() == '{"files": ["a.py", "b.py"], "packages": null, "changed_since": 5.5}'
    assert scope_to_json(None) is None


@pytest.mark.parametrize(
    "text",
    ["[]", "1", '{"file": []}', '{"files": [1]}', '{"changed_since": "x"}', '{"changed_since": true}', "{"],
)
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        RefreshScope.from_json(text)
