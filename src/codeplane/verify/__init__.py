"""Edits tried out before they are made: what they would break, found where nothing can be broken."""

from codeplane.verify.verdict import Check, Checked, Finding, Outcome, Verification

__all__ = ["Change", "Check", "Checked", "Finding", "Outcome", "Verification"]
