"""What pytest and unittest do by convention."""

from typing import Final

from codeplane.languages.rules.testing import Fixtures, TestRules


class PythonTests(TestRules):
    """The conventions of pytest and unittest."""

    fixtures = Fixtures(
        files=("conftest.py",),
        plugin_variable="pytest_plugins",
        word="fixture",
        mark=r"(?m)^\s*@(?:\w+\.)*fixture\b",
        for_all=r"\bautouse\s*=\s*True\b",
        requesting_calls=("usefixtures", "getfixturevalue"),
    )
    framework_hooks = (
        r"pytest_\w+|(?:setup|teardown)(?:_(?:module|class|method|function))?|(?:setUp|tearDown)\w*|conftest|"
        r"load_tests|main"
    )


RULES: Final = PythonTests()
