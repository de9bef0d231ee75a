"""A field of `LanguageSpec` is data that several languages have; what one language alone has is a rule in its
own folder."""

import ast
import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeplane.languages import LanguageSpec, specs
from codeplane.languages.spec import HERE

MOST_FIELDS = 60
MOST_MODULES = 20
RULES = sorted(path.stem for path in (HERE / "rules").glob("[a-z]*.py"))
# Names a language, and so differs everywhere.
IDENTITY = frozenset(("name", "family", "grammar"))


def setting(languages: Mapping[str, LanguageSpec]) -> dict[str, list[str]]:
    """Field → the languages whose value is not the default."""
    fields = [field for field in dataclasses.fields(LanguageSpec) if field.name not in IDENTITY]
    return {
        field.name: [name for name, spec in languages.items() if getattr(spec, field.name) != default(field)]
        for field in fields
    }


def default(field: "dataclasses.Field[object]") -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def test_every_field_is_set_by_several_languages() -> None:
    assert {name: by for name, by in setting(specs()).items() if len(by) < 2} == {}


def test_a_field_of_one_language_is_noticed() -> None:
    only = {"python": specs()["python"], "json": specs()["json"]}
    assert setting(only)["tests"] == ["python"]


def test_a_spec_stays_small() -> None:
    assert len(dataclasses.fields(LanguageSpec)) <= MOST_FIELDS


@pytest.mark.parametrize("concern", RULES)
def test_a_protocol_is_implemented_by_a_language(concern: str) -> None:
    implementing = [name for name in specs() if (HERE / name / f"{concern}.py").exists()]
    assert implementing


@pytest.mark.parametrize("concern", RULES)
def test_an_implementation_overrides_what_the_protocol_has(concern: str) -> None:
    """A misspelt rule would be one that nobody asks for."""
    known = _members(HERE / "rules" / f"{concern}.py")
    for name in specs():
        path = HERE / name / f"{concern}.py"
        if path.exists():
            assert _members(path) <= known, path


def _members(path: Path) -> set[str]:
    """The attributes and methods of all classes of a module."""
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    names: set[str] = set()
    for node in [inner for one in classes for inner in one.body]:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_a_level_has_few_modules() -> None:
    for folder in (HERE, HERE / "extraction", HERE / "rules"):
        assert len(list(folder.glob("*.py"))) <= MOST_MODULES, folder


def test_only_one_module_runs_queries() -> None:
    running = [path for path in HERE.parent.rglob("*.py") if "QueryCursor(" in path.read_text()]
    assert running == [HERE / "query.py"]


@pytest.mark.parametrize("language", [name for name in specs() if (HERE / name / "hooks.py").exists()])
def test_every_hook_is_one_that_the_extraction_calls(language: str) -> None:
    """A misspelt hook would never run, without a word about it."""
    tree = ast.parse((HERE / language / "hooks.py").read_text())
    hooks = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    callers = [HERE / "query.py", *(HERE / "extraction").glob("*.py")]
    text = "\n".join(path.read_text() for path in callers)
    assert [name for name in hooks if not name.startswith("_") and f"hooks.{name}(" not in text] == []
