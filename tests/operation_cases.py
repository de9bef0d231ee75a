"""Text cases of operations: a file before and after one operation, in `tests/cases/operations`.

A file of cases belongs to one operation of one language, `LANGUAGE/OPERATION.txt`. A case begins with `==`
and its title. `-- call --` has the target and the arguments, `-- before --` the file, `-- after --`,
`-- already --` or `-- refused --` what comes of it, `-- notes --` what is remarked. `-- file --` names
the file where its name counts, `-- form --` lists the forms that the case can't have.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeplane.languages.operations import OperationRefused, Source, operations_of
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import Target, resolve_target

FOLDER: Final = Path(__file__).parent / "cases" / "operations"
FORMS: Final = ("crlf", "tabs", "bom", "no_newline", "non_ascii")
_HEADING: Final = re.compile(r"^-- ([a-z]+) --\n", re.MULTILINE)
_TARGETS: Final = ("target", "selector", "pattern", "inside", "expect")
# A line of comment with letters of two and four bytes, for each language.
_NON_ASCII: Final = {"html": "<!-- é😀 -->\n", "python": "# é😀\n"}
_SUFFIXES: Final = {
    "python": "py", "rust": "rs", "javascript": "js", "typescript": "ts"
}  # fmt: skip


@dataclass
class OperationCase:
    """One file, one call, and what comes of it."""

    language: str
    operation: str
    title: str
    parts: dict[str, str]

    @property
    def name(self) -> str:
        title = re.sub("[^a-z0-9]+", "_", self.title.lower()).strip("_")
        return f"{self.language}-{self.operation}-{title[:60]}"

    @property
    def call(self) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(self.parts["call"])
        return arguments

    @property
    def path(self) -> str:
        return self.parts.get("file", "").strip() or f"src/a.{_SUFFIXES.get(self.language, self.language)}"

    @property
    def forms(self) -> list[str]:
        absent = self.parts.get("form", "").split()
        return [form for form in FORMS if form not in absent]


def operation_cases(folder: Path = FOLDER) -> Iterator[OperationCase]:
    for file in sorted(folder.glob("*/*.txt")):
        for block in re.split(r"^== ", file.read_text(), flags=re.MULTILINE)[1:]:
            title, _, body = block.partition("\n")
            _, *rest = _HEADING.split(body)
            parts = dict(zip(rest[::2], rest[1::2], strict=True))
            yield OperationCase(file.parent.name, file.stem, title.strip(), _without_gap(parts))


def _without_gap(parts: dict[str, str]) -> dict[str, str]:
    """A blank line before the next case is not of this one."""
    last = list(parts)[-1]
    return {**parts, last: parts[last].removesuffix("\n") if parts[last].endswith("\n\n") else parts[last]}


def shaped(form: str, language: str, text: str) -> bytes:
    """A file in another form: line endings, tabs, byte order mark, no last newline, letters before it."""
    if form == "tabs":
        text = re.sub(r"^(?:    )+", lambda match: "\t" * (len(match[0]) // 4), text, flags=re.MULTILINE)
    if form == "no_newline":
        text = text.removesuffix("\n")
    if form == "non_ascii":
        text = _NON_ASCII.get(language, "// é😀\n") + text
    data = text.encode()
    if form == "crlf":
        data = data.replace(b"\n", b"\r\n")
    return b"\xef\xbb\xbf" + data if form == "bom" else data


def answer_of(case: OperationCase, data: bytes) -> tuple[str, bytes | str, list[str]]:
    """What an operation makes of a file: `after` with its bytes, `already`, or `refused` with the reason."""
    language, call = case.language, case.call
    operation = operations_of(language)[case.operation]
    values = {name: value for name, value in call.items() if name not in _TARGETS}
    arguments, errors = check_arguments(operation, pack_of(language) or language, language, values)
    if errors:
        return "refused", "\n".join(errors), []
    source = Source(language, data, case.path)
    target = Target("symbol", call["target"]) if "target" in call else Target("file")
    target = Target("selector", call["selector"]) if "selector" in call else target
    if "pattern" in call:
        target = Target("pattern", call["pattern"], call.get("inside", ""))
    matches = resolve_target(source, target)
    number = call.get("expect", 1)
    if len(matches) != number:
        if not matches and operation.is_done(source, target.text, arguments):
            return "already", data, []
        return "refused", f"{len(matches)} matches instead of {number}.", []
    try:
        result = run_operation(operation, source, matches, arguments)
    except OperationRefused as refusal:
        return "refused", refusal.reason, []
    return "already" if result.is_already else "after", result.data, list(result.outcome.notes)
