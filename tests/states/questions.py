"""The questions that are asked of two repositories whose answers have to be the same."""

from typing import Any

from codeplane.server.answer import Answer
from tests.tools.repo import Repo

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "helper"}),
    ("search", {"query": "def \\w+", "mode": "regex"}),
    ("search", {"query": "Base", "mode": "symbol"}),
    ("search", {"query": "run", "mode": "references"}),
    ("search", {"query": "run", "paths": ["lib/"]}),
    ("map_repo", {}),
    ("list_files", {"depth": 3}),
    ("list_files", {"path": "lib"}),
    ("read_source", {"targets": ["app.py", "lib/util.py", "Base.run"]}),
    ("read_file_full", {"path": "app.py", "confirm": True}),
    ("code_get_span", {"path": "lib/util.py"}),
    ("symbols_search", {"query": "helper"}),
    ("symbols_search", {"query": "", "kinds": ["class"]}),
    ("symbols_get_card", {"symbol": "lib.util.Base"}),
    ("symbols_get_definition_span", {"symbol": "lib.util.helper"}),
    ("refs_find", {"symbol": "lib.util.helper"}),
    ("refs_find", {"symbol": "Base.run"}),
    ("graph_callers", {"symbol": "lib.util.helper", "depth": 3}),
    ("graph_callees", {"symbol": "app.App.run"}),
    ("graph_trace_feature", {"entry_point": "app.App.run"}),
    ("types_hierarchy", {"symbol": "lib.util.Base"}),
    ("find_unused", {}),
    ("find_pattern", {"pattern": "helper($X)"}),
    ("surfaces_list_endpoints", {}),
    ("surfaces_list_config_keys", {}),
    ("surfaces_list_db_tables", {}),
    ("refactor_impact", {"target": "lib/util.py"}),
    ("inspect_affected_tests", {"affected_by": ["lib/util.py"]}),
    ("inspect_affected_tests", {"affected_by": "changes"}),
    ("discover_test_targets", {}),
    ("semantic_diff", {"base": "v1"}),
)


def essence(answer: Answer) -> object:
    """An answer without what differs from one repository or moment to the next."""
    body = dict(answer.body)
    if answer.is_error:
        error = body["error"]
        return error["name"], error["message"].split(" before epoch")[0], error.get("hints")
    return _without(body["result"]), body["meta"].get("limits_applied")


def _without(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without(one) for key, one in value.items() if key != "next_cursor"}
    if isinstance(value, list):
        return [_without(one) for one in value]
    # A file that was read at a commit is named with it.
    return value.removesuffix("@v1") if isinstance(value, str) else value


def ask_all(repo: Repo, client: str = "a client", **state: object) -> dict[str, object]:
    """The answers to all questions, each by the call it was asked with."""
    return {
        f"{tool} {arguments}": essence(repo.ask(tool, **arguments, **state)) for tool, arguments in QUESTIONS
    }
