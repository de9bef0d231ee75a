import re

from codeplane.core import errors
from codeplane.core.errors import CodePlaneError, InvalidArgument, NotFound, catalogue


def test_every_code_is_given_once() -> None:
    codes = [error.code for error in catalogue()]
    assert len(codes) == len(set(codes)) > 20


def test_the_drawn_tree_is_the_real_tree() -> None:
    drawn = dict(re.findall(r"[├└]── (\w+)\s+(\d{4})$", errors.__doc__ or "", re.MULTILINE))
    assert drawn == {error.__name__: str(error.code) for error in catalogue()}


def test_every_error_says_what_it_means() -> None:
    assert all(error.__doc__ and error.__doc__ != CodePlaneError.__doc__ for error in catalogue())


def test_an_error_on_the_wire_leaves_out_what_is_empty() -> None:
    assert NotFound("No such tool.").to_wire() == {
        "code": 1003,
        "name": "NOT_FOUND",
        "message": "No such tool.",
        "retryable": False,
    }
    wire = InvalidArgument("Bad.", hints=["good"], parameters=["a"]).to_wire()
    assert (wire["details"], wire["hints"]) == ({"parameters": ["a"]}, ["good"])
