"""What a recipe is, and how one is found by its name."""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

import codeplane.controller.execution.recipes as recipe_modules
from codeplane.controller.verb import VerbResult
from codeplane.core.errors import RecipeInvalid
from codeplane.core.suggest import nearest

if TYPE_CHECKING:
    from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
    from codeplane.controller.execution.steps import Steps

_OWN: Final = "recipe"


class RecipeParams(BaseModel):
    """Base of the parameters of a recipe: an unknown one is refused."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class RecipeOutcome(NamedTuple):
    """What a recipe did: its answer, `passed`, `failed` or `not_run`, and what failed."""

    result: VerbResult
    validation: str
    signature: str = ""


@dataclass(frozen=True)
class Recipe:
    """One recipe; its module is named like it and has `PARAMS` and `run`."""

    recipe_id: str
    params: type[RecipeParams]
    run: "Callable[[Steps, AcceptedPlan, AcceptedNode, Any], RecipeOutcome]"

    def read_params(self, values: Mapping[str, Any]) -> RecipeParams:
        """The parameters, or an error with everything that is wrong with them."""
        try:
            return self.params.model_validate(dict(values))
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, one['loc'])) or 'params'}: {one['msg']}"
                for one in error.errors(include_url=False, include_context=False)
            ]
            takes = [to_camel(name) for name in self.params.model_fields]
            raise RecipeInvalid(
                f"{self.recipe_id}: {'; '.join(problems)}. It takes {{{', '.join(takes)}}}.", takes=takes
            ) from error


@cache
def all_recipes() -> Mapping[str, Recipe]:
    """Every recipe by its id, found by reading the folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(recipe_modules.__path__))
    modules = {name: import_module(f"{recipe_modules.__name__}.{name}") for name in names if name != _OWN}
    return {name: Recipe(name, module.Params, module.run) for name, module in modules.items()}


def find_recipe(recipe_id: str) -> Recipe:
    """A recipe by its id; an error with the nearest where there is none."""
    recipes = all_recipes()
    if recipe_id in recipes:
        return recipes[recipe_id]
    near = nearest(recipe_id[:60], recipes, most=1)
    ending = f"; did you mean {near[0]}?" if near else "."
    raise RecipeInvalid(f"There is no recipe {recipe_id[:60]!r}{ending}", candidates=list(recipes))
