"""Risks: reasons why a change that is proven may still break something. Each is one file of `risks/`."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

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


Find = Callable[[Question], Iterator[Problem]]


@dataclass(frozen=True)
class Risk:
    """A module of `risks/`: its `find`, its docstring, and what `@risk` says of it."""

    find: Find  # the evidence: where it may happen
    sentence: str  # of the reference page
    kinds: tuple[str, ...]  # of the problems that it finds
    subject: Subject
    order: int  # risks are reported in this order
    applies: Callable[[LanguageSpec], bool]  # whether the language has what makes it a risk
    is_per_site: bool  # each place is reported; otherwise each sentence once
    is_about_moves: bool  # it matters where the name stays and its module changes


def risk(
    *,
    kinds: tuple[str, ...],
    subject: Subject,
    order: int,
    applies: Callable[[LanguageSpec], bool] = lambda _: True,
    is_per_site: bool = False,
    is_about_moves: bool = False,
) -> Callable[[Find], Risk]:
    """Makes a risk of the `find` of its module; the defaults are what most risks have."""

    def make(find: Find) -> Risk:
        sentence = sys.modules[find.__module__].__doc__ or ""
        return Risk(find, sentence.strip(), kinds, subject, order, applies, is_per_site, is_about_moves)

    return make


@cache
def risks() -> dict[str, Risk]:
    """All risks by their names, in the order that they are reported in."""
    folder = importlib.import_module("codeplane.refactor.risks")
    names = [one.name for one in pkgutil.iter_modules(folder.__path__)]
    every: dict[str, Risk] = {
        name: importlib.import_module(f"{folder.__name__}.{name}").find for name in names
    }
    return dict(sorted(every.items(), key=lambda item: item[1].order))


def find_risks(question: Question) -> Iterator[Problem]:
    """What may break although the change is proven, each sentence once."""
    texts: set[str] = set()
    for risk in risks().values():
        if not _is_about(risk, question):
            continue
        for one in risk.find(question):
            if risk.is_per_site or one.text not in texts:
                texts.add(one.text)
                yield one


def _is_about(risk: Risk, question: Question) -> bool:
    names = question.names
    if question.is_move and not risk.is_about_moves:
        return False
    is_met = {
        "any": True,
        "definition": bool(names.places),
        "member": bool(names.places) and names.is_member,
        "top level": bool(names.places) and not names.is_member,
        "parameter": names.is_local,
        "rename": bool(question.new),
    }
    return is_met[risk.subject] and (risk.is_per_site or risk.applies(_spec(question)))


def _spec(question: Question) -> LanguageSpec:
    names = question.names
    paths = {place.path for place in (*names.places, *names.functions)} | {
        one.path for one in names.variables
    }
    return question.snapshot.require_facts(min(paths)).spec
