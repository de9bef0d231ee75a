"""Refactorings as plans: what would change, proven or not. Nothing here writes."""

from codeplane.refactor.plan import Group, Mention, Plan, Problem, Site, Verdict

__all__ = ["Group", "Mention", "Plan", "Problem", "Site", "Verdict"]
