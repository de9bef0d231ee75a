"""Whether files can still be parsed once edits are made."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.edits import Change
from codeplane.core.paths import RepoPath
from codeplane.index import Parsed
from codeplane.names import Index
from codeplane.verify.verdict import Checked, Finding, Outcome

_BROKEN: Final = ("partial", "failed")
_LINE: Final = re.compile(r"\bline (\d+)\b")


def parses(index: Index, change: Change) -> Checked:
    """Reads every file as it was and as it would be; what could be parsed before has to be parsed after."""
    before, after = index.parsed(change.before), index.parsed(change.contents)
    findings = tuple(_new_errors(change, before, after))
    text = f"{len(after)} edited files parsed"
    if unread := len(change.contents) - len(after):
        text += f", {unread} in no supported language"
    if preexisting := sum(one.state in _BROKEN for one in after.values()) - len(findings):
        text += f", {preexisting} with errors, as before"
    return Checked("parse", Outcome.FAILED if findings else Outcome.PASSED, text, findings)


def _new_errors(
    change: Change, before: dict[RepoPath, Parsed], after: dict[RepoPath, Parsed]
) -> Iterator[Finding]:
    for path, origin in sorted(change.origins.items()):
        was, is_now = before.get(origin), after.get(path)
        if is_now is None or is_now.state not in _BROKEN or (was is not None and was.state in _BROKEN):
            continue
        line = _LINE.search(is_now.reason)
        yield Finding(f"It does not parse: {is_now.reason}.", path, int(line[1]) if line else 0)
