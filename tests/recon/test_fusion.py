"""How candidates of several lanes become one order of files."""

from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.recon.candidates import Candidate, Lane, LaneQuery, LaneSources
from codeplane.recon.fusion import fuse
from codeplane.recon.retrieval import retrieve

_candidates = st.lists(
    st.builds(
        Candidate,
        st.sampled_from(Lane),
        st.sampled_from("abcdef").map(RepoPath),
        st.integers(1, 9),
        st.integers(9, 20),
        st.sampled_from(("", "f", "C.m")),
        st.floats(0.01, 100),
        st.just("why"),
    ),
    max_size=30,
)


def _by_lane(candidates: list[Candidate]) -> dict[Lane, list[Candidate]]:
    return {lane: [one for one in candidates if one.lane is lane] for lane in Lane}


@given(_candidates, st.randoms())
def test_the_order_does_not_depend_on_the_order_of_lanes_and_candidates(candidates, random) -> None:  # type: ignore[no-untyped-def]
    mixed = [*candidates]
    random.shuffle(mixed)
    expected = [(file.path, file.score, file.lanes) for file in fuse(_by_lane(candidates))]
    lanes = dict(reversed(_by_lane(mixed).items()))
    assert [(file.path, file.score, file.lanes) for file in fuse(lanes)] == expected


@given(_candidates)
def test_every_file_keeps_who_found_it_and_why(candidates: list[Candidate]) -> None:
    files = fuse(_by_lane(candidates))
    assert sorted(file.path for file in files) == sorted({one.path for one in candidates})
    for file in files:
        assert set(file.reasons) == {one.lane for one in candidates if one.path == file.path}
        assert len(file.candidates) == sum(one.path == file.path for one in candidates)


def test_a_file_that_two_lanes_lead_to_comes_before_one_of_either_alone() -> None:
    both, first, second = map(RepoPath, ("both.py", "first.py", "second.py"))
    lanes = {
        Lane.LEXICAL: [_candidate(Lane.LEXICAL, first, 10), _candidate(Lane.LEXICAL, both, 9)],
        Lane.SYMBOL: [_candidate(Lane.SYMBOL, both, 0.9), _candidate(Lane.SYMBOL, second, 1)],
    }
    assert [file.path for file in fuse(lanes)] == [both, first, second]


def test_lanes_about_files_get_those_that_the_others_found(shop: Snapshot) -> None:
    answer = retrieve(LaneQuery("The total price ignores the discount"), LaneSources(shop))
    assert answer.files[0].path == "shop/cart.py"
    assert set(answer.files[0].lanes) >= {Lane.LEXICAL}
    assert any("@cart-team" in one.why for one in answer.policies)
    assert retrieve(LaneQuery("The total price ignores the discount"), LaneSources(shop)) == answer


def _candidate(lane: Lane, path: RepoPath, score: float) -> Candidate:
    return Candidate(lane, path, 1, 2, "", score, "why")
