"""What makes two changes, or two failures, the same one."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from codeplane.core.edits import FileChange

_DIGITS: Final = 16

# What differs between two runs of the same failure, and what stands for it. The order matters: a time
# would lose its parts to the rule for line numbers.
_VARIES: Final = (
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<address>"),
    (re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s:'\",)\]]*/"), "<temporary>/"),
    (re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s:'\",)\]]*"), "<temporary>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d\d?:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|minutes?)\b"), "<duration>"),
    (re.compile(r"\b(line|ligne|Zeile)s?\s+\d+", re.IGNORECASE), r"\1 <line>"),
    (re.compile(r"(?<=[\w)\]>]):\d+(?::\d+)?\b"), ":<line>"),
    (re.compile(r"\((\d+),\s?(\d+)\)"), "(<line>)"),
    (re.compile(r"\b(pid|thread|process|goroutine)[ =:#-]*\d+", re.IGNORECASE), r"\1 <number>"),
    (re.compile(r"\b(thread '[^'\n]*') \(\d+\)"), r"\1 <number>"),
)  # fmt: skip
_SPACES: Final = re.compile(r"[ \t]+")


def _hash_text(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:_DIGITS]


def mutation_fingerprint(
    changes: Sequence[FileChange], insertions: int, deletions: int, symbol_changes: Iterable[str] = ()
) -> str:
    """One hash for the same files with the same contents before and after, whatever the order."""
    files = sorted(
        [c.path, c.before or "", c.after or "", c.mode_before or 0, c.mode_after or 0, c.moved_from or ""]
        for c in changes
        if (c.before, c.mode_before) != (c.after, c.mode_after) or c.moved_from
    )
    return "mut_" + _hash_text([files, insertions, deletions, sorted(symbol_changes)])


NO_CHANGE: Final = mutation_fingerprint((), 0, 0)
"""The fingerprint of a mutation that changed nothing."""


def failure_fingerprint(
    failing_tests: Iterable[str], exception_type: str | None, stack: str, exit_code: int | None
) -> str:
    """One hash for a failure in every run: addresses, lines, places and times do not count."""
    kind = (exception_type or "").strip().rsplit(".", 1)[-1]
    return "fail_" + _hash_text([sorted(set(failing_tests)), kind, normalized(stack), exit_code])


def normalized(stack: str) -> str:
    """A stack trace without what differs from run to run."""
    for pattern, stand_in in _VARIES:
        stack = pattern.sub(stand_in, stack)
    lines = (_SPACES.sub(" ", line).strip() for line in stack.splitlines())
    return "\n".join(line for line in lines if line)
