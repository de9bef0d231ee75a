"""Risks: reasons why a change that is proven may still break something. Each is one file of `risks/`."""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.rename_set import RenameSet

Subject = Literal["any", "definition", "member", "top level", "parameter", "rename"]
"""What a risk is about; `rename`: any definition or variable that gets another name."""


@dataclass(frozen=True)
class Question:
    """What is to be changed: definitions or variables, the name that they would get, the proven places."""

    snapshot: Snapshot
    names: RenameSet
    new: str = ""  # "" where nothing is renamed
    sites: Sequence[Site] = ()
    is_move: bool = False  # the name stays, and only its module is another one


class Risk(Protocol):
    """The names of a module of `risks/`. Its docstring is the sentence of the reference page."""

    KINDS: tuple[str, ...]  # of the problems that it finds
    SUBJECT: Subject
    ORDER: int  # risks are told by it
    IS_PER_SITE: bool  # each place is told; otherwise each sentence once
    IS_ABOUT_MOVES: bool  # it matters where the name stays and its module changes

    def applies(self, spec: LanguageSpec) -> bool:
        """Whether the language has what makes it a risk."""

    def find(self, asked: Question) -> Iterator[Problem]:
        """The evidence: where it may happen."""


@cache
def risks() -> dict[str, Risk]:
    """All risks by their names, in the order that they are told in."""
    folder = importlib.import_module("codeplane.refactor.risks")
    names = [one.name for one in pkgutil.iter_modules(folder.__path__)]
    modules: dict[str, Risk] = {name: importlib.import_module(f"{folder.__name__}.{name}") for name in names}
    return dict(sorted(modules.items(), key=lambda one: one[1].ORDER))


def doubts(asked: Question) -> Iterator[Problem]:
    """What may break although the change is proven, each sentence once."""
    told: set[str] = set()
    for risk in risks().values():
        if not _is_about(risk, asked):
            continue
        for one in risk.find(asked):
            if risk.IS_PER_SITE or one.text not in told:
                told.add(one.text)
                yield one


def _is_about(risk: Risk, asked: Question) -> bool:
    names = asked.names
    if asked.is_move and not risk.IS_ABOUT_MOVES:
        return False
    is_met = {
        "any": True,
        "definition": bool(names.places),
        "member": bool(names.places) and names.is_member,
        "top level": bool(names.places) and not names.is_member,
        "parameter": names.is_local,
        "rename": bool(asked.new),
    }
    return is_met[risk.SUBJECT] and (risk.IS_PER_SITE or risk.applies(_spec(asked)))


def _spec(asked: Question) -> LanguageSpec:
    names = asked.names
    paths = {place.path for place in (*names.places, *names.functions)} | {
        one.path for one in names.variables
    }
    return asked.snapshot.require_facts(min(paths)).spec
