"""A toolchain that is proposed can be read back, and each of its commands is one that checks."""

from codeplane.delta.proposal import _LINTERS, _RUNNERS, propose_toolchain
from codeplane.delta.toolchain import read_toolchain
from codeplane.lint.linters import LINTERS
from codeplane.testrun.runners import RUNNERS


def test_every_linter_and_runner_has_a_validator_that_is_well_formed() -> None:
    toolchain = read_toolchain(propose_toolchain(_LINTERS, _RUNNERS).encode())
    assert len(toolchain.validators) == len(_LINTERS) + len(_RUNNERS)
    assert toolchain.validators["ruff"].scope == "file"
    assert toolchain.validators["clippy"].cwd == "workspace_root"


def test_only_linters_and_runners_that_are_known_are_proposed() -> None:
    assert set(_LINTERS) <= set(LINTERS)
    assert set(_RUNNERS) <= set(RUNNERS)
    assert propose_toolchain(["no-such"], ["no-such"]) == ""
