"""What git's own package says in git's words, an agent reads as calls of tools."""

import ast
import re
from pathlib import Path

import pytest

import codeplane.git
from codeplane.answers.git.hints import tool_hint
from codeplane.core.errors import GitUnfinished
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.server.answer import error_body
from codeplane.tools import all_tools


def _filled(fix: Fix) -> Remedy:
    return Remedy(fix, **{name: f'a "{name}"' for name in re.findall(r"\{(\w+)\}", fix)})


@pytest.mark.parametrize("fix", Fix)
def test_every_fix_has_words_of_its_own_for_agents(fix: Fix) -> None:
    told = tool_hint(_filled(fix))
    assert told != str(_filled(fix)) and not re.search(r"<\w+>|\{\w+\}", told)


def test_a_name_with_quotes_stays_one_value() -> None:
    assert tool_hint(Remedy(Fix.CHECK_OUT, ref='a"b')) == 'git_checkout {"ref": "a\\"b"}'
    assert Remedy(Fix.CHECK_OUT, ref='a"b') == 'git checkout a"b'


def test_an_error_of_git_offers_calls_on_the_wire() -> None:
    error = GitUnfinished("No.", hints=[Remedy(Fix.ABORT_MERGE), "git am --abort"])
    assert error_body(error, ())["hints"] == ['git_merge {"action": "abort"}', "git am --abort"]


def test_the_package_of_git_names_no_tool() -> None:
    names = [name for name in all_tools() if "_" in name]
    tool = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for file in sorted(Path(codeplane.git.__file__).parent.rglob("*.py")):
        strings = (
            node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)
        )
        assert not [text for text in strings if isinstance(text, str) and tool.search(text)], file
