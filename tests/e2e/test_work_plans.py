"""Plans of work from the shell: written, shown, edited, exported and dropped, with and without a server."""

import json
from contextlib import nullcontext

import pytest

from codeplane.core.yaml_text import parse_yaml
from tests.drive import Cpl, git

DOCUMENT = """\
title: Type the core
description: |
  Prose, with a colon: and "quotes".

  é😀
phases:
- title: One
  key: one
  tasks:
  - title: first
    key: a
    delta:
      elements:
      - path: a.py
        transforms:
        - operation: add_import
          import: import re
    fields:
      notes: "\\e[31m\\x9B"
  - title: second
    after:
    - a
"""


@pytest.mark.parametrize("is_served", [False, True])
def test_a_plan_goes_through_the_shell_and_back(cpl: Cpl, is_served: bool) -> None:
    file = cpl.repo / "plan.yaml"
    file.write_text(DOCUMENT)
    with cpl.up("--set", "server.port=0") if is_served else nullcontext():
        plan = cpl.json("plan", "new", "plan.yaml")["result"]["plan"]
        assert f"{plan} draft 4 items Type the core" in cpl.run("plan", "list").stdout
        exported = cpl.run("plan", "show", plan, "--format", "yaml").stdout
        assert exported == DOCUMENT
        as_json = cpl.run("plan", "show", plan, "--format", "json").stdout
        assert "\x1b" not in as_json and "\x9b" not in as_json
        assert json.loads(as_json) == parse_yaml(DOCUMENT)
        done = cpl.run(
            "plan", "edit", "a", "--plan", plan, "--set", "state=in_progress", "--set", "fields.reason=n"
        )
        assert "[~]" in done.stdout and done.returncode == 0
        refused = cpl.run("plan", "edit", "a", "--plan", plan, "--set", "state=ready_to_land")
        assert refused.returncode == 1 and "delta_status is pending, not green" in refused.stdout
        file.write_text(as_json.replace("second", "another"))
        assert "1 removed" in cpl.run("plan", "edit", plan, "plan.yaml").stdout
        shown = cpl.run("plan", "show", plan).stdout
        assert "another (open) after a" in shown and "a: first (in_progress)" in shown
        assert cpl.run("plan", "drop", plan).returncode == 2
        assert cpl.run("plan", "drop", plan, "--yes").returncode == 0
        assert "no plans" in cpl.run("plan", "list").stdout
    assert git(cpl.repo, "status", "--porcelain") == "?? plan.yaml"


def test_a_plan_is_read_from_standard_input(cpl: Cpl) -> None:
    done = cpl.run("plan", "new", "-", stdin='{"title": "from stdin"}')
    assert "from stdin (draft)" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("new",), "cpl plan new FILE"),
        (("new", "missing.yaml"), "no such file"),
        (("new", "."), "is a directory"),
        (("show",), "cpl plan show PLAN"),
        (("list", "x"), "cpl plan list"),
        (("edit", "pt_000000000000"), "either --set or a FILE"),
        (("edit", "pt_000000000000", "--set", "state"), "KEY=VALUE"),
        (("edit", "pt_000000000000", "--set", "colour=red"), "KEY=VALUE"),
        (("edit", "pt_000000000000", "--set", "after=["), "expected the node content"),
        (("drop", "plan_000000000000"), "--yes"),
    ],
)
def test_a_command_that_is_wrong_says_how_it_is_right(
    cpl: Cpl, arguments: tuple[str, ...], problem: str
) -> None:
    done = cpl.run("plan", *arguments)
    assert done.returncode == 2 and problem in done.stderr
