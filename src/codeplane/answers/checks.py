"""What came of trying edits out, as every tool tells it."""

from typing import Final

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.jail import shown
from codeplane.verify import Finding, Verification

_MOST_TOLD: Final = 20


class CheckOutput(Output):
    check: str = Field(description="Its name.")
    outcome: str = Field(description="passed, failed or not_run.")
    text: str = Field(description="What was checked, or why not.")
    findings: list[str] | None = Field(default=None, description="`path:line: text` of new problems.")


def checks_told(verification: Verification | None) -> list[CheckOutput] | None:
    """The checks of edits that were tried out."""
    if verification is None:
        return None
    return [
        CheckOutput(check=one.check, outcome=one.outcome, text=one.text, findings=_told(one.findings))
        for one in verification.checks
    ]


def _told(findings: tuple[Finding, ...]) -> list[str] | None:
    lines = [_where(one) + one.text for one in findings[:_MOST_TOLD]]
    more = [f"… {len(findings) - _MOST_TOLD} more"] if len(findings) > _MOST_TOLD else []
    return [*lines, *more] or None


def _where(one: Finding) -> str:
    if one.path is None:
        return ""
    return f"{shown(one.path)}:{one.line}: " if one.line else f"{shown(one.path)}: "
