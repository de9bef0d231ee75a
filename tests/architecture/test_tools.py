from collections.abc import Iterator
from pathlib import Path

import pytest

import codeplane.tools
from codeplane.tools import Tool, all_tools
from tests.architecture import rules
from tests.toy_tools import toys_found

CASES = Path(__file__).parent.parent / "cases" / "tools"
SOURCES = Path(next(iter(codeplane.tools.__path__)))

GOOD = '''
from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyInput(Input):
    text: str = Field(description="What to say.")


class ToyOutput(Output):
    text: str = Field(description="What was said.")


@tool(Effect.READ, "introspection", standard=True)
def toy_made(call: Call, args: ToyInput) -> ToyOutput:
    """Says it.

    Examples:
    - Say hello: {"text": "hello"}
    """
    return ToyOutput(text=args.text)
'''


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "made"
    folder.mkdir()
    yield folder


def tools_of(folder: Path, source: str) -> dict[str, Tool]:
    (folder / "toy_made.py").write_text(source)
    with toys_found(folder) as tools:
        return {"toy_made": tools["toy_made"]}


def test_every_tool_keeps_the_rules() -> None:
    tools = all_tools()
    assert list(rules.named_for_its_module(tools.values())) == []
    assert list(rules.described(tools.values())) == []
    assert list(rules.examples_work(tools.values())) == []
    assert list(rules.has_a_case(tools.values(), CASES)) == []
    assert list(rules.fits_the_budget(tools)) == []
    assert list(rules.only_codeplane_errors(SOURCES.glob("*.py"))) == []


def test_every_case_is_of_a_tool() -> None:
    """A tool may have more than one: `tool_part.txt`."""
    names = all_tools().keys()
    for case in CASES.glob("*.txt"):
        assert any(case.stem == name or case.stem.startswith(f"{name}_") for name in names), case


def test_a_good_tool_breaks_no_rule(made: Path) -> None:
    tools = tools_of(made, GOOD)
    assert not [*rules.named_for_its_module(tools.values()), *rules.described(tools.values())]
    assert not [*rules.examples_work(tools.values()), *rules.fits_the_budget(tools)]


def test_a_module_without_its_tool_is_a_bug(made: Path) -> None:
    with pytest.raises(AssertionError, match=r"BUG: toy_made\.py holds no tool toy_made"):
        tools_of(made, GOOD.replace("def toy_made", "def toy_other"))


def test_a_field_without_a_description_is_seen(made: Path) -> None:
    tools = tools_of(made, GOOD.replace('Field(description="What to say.")', "Field()"))
    assert list(rules.described(tools.values())) == ["toy_made: ToyInput.text has no description"]


def test_a_long_name_is_seen(made: Path) -> None:
    [tool] = tools_of(made, GOOD).values()
    long = Tool(**{**vars(tool), "name": "x" * 60, "module": "codeplane.tools." + "x" * 60})
    assert len(list(rules.named_for_its_module([long]))) == 1


def test_an_example_that_does_not_work_is_seen(made: Path) -> None:
    tools = tools_of(made, GOOD.replace('{"text": "hello"}', '{"txt": 1, "b": 2}'))
    assert len(list(rules.examples_work(tools.values()))) == 1


def test_a_tool_without_a_case_is_seen(made: Path) -> None:
    tools = tools_of(made, GOOD)
    assert list(rules.has_a_case(tools.values(), CASES)) == ["toy_made has no case toy_made.txt"]


def test_a_list_of_tools_that_costs_too_much_is_seen(made: Path) -> None:
    assert len(list(rules.fits_the_budget(tools_of(made, GOOD), budget=10))) == 1


def test_an_error_outside_the_tree_is_seen(made: Path) -> None:
    source = made / "bad.py"
    source.write_text("def f():\n    raise ValueError('x')\n")
    assert list(rules.only_codeplane_errors([source])) == ["bad.py:2 raises ValueError"]
