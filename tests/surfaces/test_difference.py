"""Laws of differences between the surfaces of two states."""

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.surfaces.difference.compare import SurfaceChange, mirrored, surface_changes
from codeplane.surfaces.difference.state import EndpointFact, KeyFact, SurfaceState, TableFact
from codeplane.surfaces.tracing.route_match import plain_route

_PATHS = st.sampled_from([RepoPath("app/users.py"), RepoPath("app/orders.py")])
_NAMES = st.sampled_from(["show", "change", "drop", "List.get", ""])
_PARTS = st.sampled_from(["api", "v1", "v2", "users", "{id}", "<int:pk>", "orders"])
_ROUTES = st.lists(_PARTS, max_size=4).map(lambda parts: "/" + "/".join(parts))
_MOUNTED = st.sampled_from(["always", "conditional", "never seen"])
_LINES = st.integers(1, 9)
_ENDPOINTS = st.builds(EndpointFact, _ROUTES, _NAMES, _MOUNTED, _PATHS, _LINES)
_KEYS = st.builds(KeyFact, st.sampled_from([None, "1", "2"]), st.booleans(), st.just("env"), _PATHS, _LINES)
_TABLES = st.builds(TableFact, st.sampled_from(["User", "Order", ""]), _PATHS, _LINES)


@st.composite
def _states(draw: st.DrawFn) -> SurfaceState:
    methods = st.sampled_from(["GET", "POST"])
    rows = draw(st.lists(st.tuples(methods, _ENDPOINTS), max_size=8))
    return SurfaceState(
        {(method, plain_route(one.route)): one for method, one in rows},
        draw(st.dictionaries(st.sampled_from(["HOST", "PORT", "KEY"]), _KEYS)),
        draw(st.dictionaries(st.sampled_from(["users", "orders", "carts"]), _TABLES)),
    )


def _bare(change: SurfaceChange) -> SurfaceChange:
    """A change without what belongs to one of the two states alone."""
    return change._replace(is_breaking=False, path=RepoPath(""), line=0)


@settings(max_examples=150, deadline=None)
@given(_states())
def test_a_state_differs_from_itself_in_nothing(state: SurfaceState) -> None:
    assert surface_changes(state, state) == []


@settings(max_examples=300, deadline=None)
@given(_states(), _states())
def test_the_way_back_is_the_mirror_of_the_way_there(old: SurfaceState, new: SurfaceState) -> None:
    there = sorted(_bare(mirrored(one)) for one in surface_changes(old, new))
    assert there == sorted(_bare(one) for one in surface_changes(new, old))


@settings(max_examples=300, deadline=None)
@given(_states(), _states())
def test_every_endpoint_that_is_only_in_one_state_is_told_once(old: SurfaceState, new: SurfaceState) -> None:
    changes = [one for one in surface_changes(old, new) if one.kind == "endpoint"]
    moved = sum(len(one.names) for one in changes if one.aspect in ("path", "prefix", "method"))
    removed = sum(len(one.names) for one in changes if one.change == "removed")
    added = sum(len(one.names) for one in changes if one.change == "added")
    assert removed + moved == len(old.endpoints.keys() - new.endpoints.keys())
    assert added + moved == len(new.endpoints.keys() - old.endpoints.keys())


@settings(max_examples=200, deadline=None)
@given(_states(), _states())
def test_what_is_gone_breaks_and_what_has_come_breaks_only_where_it_is_required(
    old: SurfaceState, new: SurfaceState
) -> None:
    for one in surface_changes(old, new):
        if one.change == "removed":
            assert one.is_breaking == (one.kind != "config")
        elif one.change == "added":
            assert one.is_breaking == (one.kind == "config" and new.keys[one.names[0]].is_required)
