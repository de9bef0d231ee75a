"""What can be done to a file is listed briefly enough to be read before each delta."""

from pathlib import Path

import pytest

from tests.delta.plans import PlanRepo


@pytest.mark.parametrize("path", ["app.py", "a.rs", "a.c", "a.js", "a.ts", "a.html"])
def test_the_operations_of_a_file_fit_in_1500_characters(tmp_path: Path, path: str) -> None:
    repo = PlanRepo(tmp_path)
    text = repo.ask("delta_try", path=path).text
    assert "replace_match(with) on any code" in text
    assert len(text) <= 1500


def test_all_packs_are_listed_by_the_names_of_their_operations(tmp_path: Path) -> None:
    text = PlanRepo(tmp_path).ask("delta_try").text
    assert "python: add_decorator, add_import" in text and "html: insert_element" in text


def test_a_file_that_no_pack_claims_is_refused_with_the_listing_that_helps(tmp_path: Path) -> None:
    error = PlanRepo(tmp_path).error("delta_try", path="notes.txt")
    assert error["hints"] == ["delta_try {}"]


def test_a_delta_of_one_file_needs_no_list_around_it(tmp_path: Path) -> None:
    repo = PlanRepo(tmp_path)
    transform = {"operation": "add_import", "import": "import re"}
    document = {
        "title": "T",
        "phases": [
            {"title": "P", "tasks": [{"title": "A", "delta": {"path": "app.py", "transforms": [transform]}}]}
        ],
    }
    tree = repo.session.work_plans.create(document)
    [task] = tree.tasks_in_order(tree.phases_in_order()[0].id)
    assert task.delta is not None and [one["path"] for one in task.delta["elements"]] == ["app.py"]
    assert repo.session.work_plans.export(tree.plan.id)["phases"] == document["phases"]


def test_a_task_is_shown_before_and_after_by_its_key(tmp_path: Path) -> None:
    repo = PlanRepo(tmp_path)
    transform = {"operation": "add_import", "import": "import re"}
    task = {"title": "A", "key": "a", "delta": {"path": "app.py", "transforms": [transform]}}
    plan = str(
        repo.session.work_plans.create({"title": "T", "phases": [{"title": "P", "tasks": [task]}]}).plan.id
    )
    assert "+import re" in repo.ask("get_delta_status", plan=plan, task="a").text
