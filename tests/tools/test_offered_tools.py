"""Families of tools that a setting switches off."""

from codeplane.config import Settings
from codeplane.tools import all_tools, offered_tools


def test_refactoring_that_is_switched_off_takes_its_tools_along() -> None:
    settings = Settings.model_validate({"refactor": {"enabled": False}})
    left = offered_tools(settings)
    gone = all_tools().keys() - left.keys()
    assert {"refactor_rename", "refactor_apply", "decision_commit"} <= gone
    assert {all_tools()[name].category for name in gone} == {"refactoring"}
    assert offered_tools(Settings()).keys() == all_tools().keys()
