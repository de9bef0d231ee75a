"""Plans of deltas in a real repository."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.drive import git
from tests.tools.repo import Repo

FILES = {
    "app.py": '"""App."""\nimport os\n\n\ndef load(url):\n    """Loads."""\n    return os.getcwd() + url\n',
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
}


def element(path: str, *transforms: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    """One file of a delta."""
    return {"path": path, "transforms": list(transforms), **rest}


def annotate(target: str, type_text: str, **rest: Any) -> dict[str, Any]:
    return {"operation": "add_type_annotation", "target": target, "type": type_text, **rest}


def plan_of(*phases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A plan with a task for each element, phase by phase."""
    return {
        "title": "Types",
        "phases": [
            {
                "title": f"Phase {number + 1}",
                "tasks": [
                    {"title": f"Task {number + 1}.{position + 1}", "delta": {"elements": [one]}}
                    for position, one in enumerate(elements)
                ],
            }
            for number, elements in enumerate(phases)
        ],
    }


class PlanRepo(Repo):
    """A repository with a commit, and plans in it."""

    def __init__(self, base: Path, files: Mapping[str, str] = FILES) -> None:
        super().__init__(base, files)

    def create(self, *phases: Sequence[Mapping[str, Any]]) -> str:
        return str(self.session.work_plans.create(plan_of(*phases)).plan.id)

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def statuses(self, plan: str) -> dict[str, str]:
        """The status of every task by its title."""
        tree = self.session.work_plans.load(plan)
        return {
            item.title: str(item.derived.get("delta_status"))
            for item in tree.items.values()
            if item.delta is not None
        }

    def states(self, plan: str) -> dict[str, str]:
        """The state of every item by its title."""
        return {item.title: item.state for item in self.session.work_plans.load(plan).items.values()}
