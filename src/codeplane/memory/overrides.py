"""Memories that people write into `.codeplane/memory/overrides/`, as JSON or YAML."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from codeplane.core.documents import Malformed, parse_json
from codeplane.core.errors import OverrideInvalid
from codeplane.core.ids import MemoryId
from codeplane.core.suggest import nearest
from codeplane.memory.records import (
    FewShot,
    MemoryContent,
    MemoryRecord,
    PlanRule,
    RuleCondition,
    StrategySignal,
    Trigger,
)
from codeplane.memory.rows import OVERRIDE_PREFIX
from codeplane.storage.files import read_small

LARGEST_OVERRIDE: Final = 65_536
MOST_OVERRIDES: Final = 200
MOST_IN_FILE: Final = 50
_ENDINGS: Final = (".json", ".yaml", ".yml")
_KEYS: Final = tuple(
    dict.fromkeys(
        info.alias or name
        for model in (MemoryContent, FewShot, PlanRule, RuleCondition, StrategySignal)
        for name, info in model.model_fields.items()
    )
)


@dataclass(frozen=True)
class OverrideFiles:
    """What the folder says: memories by their keys, with the file of each; and what is wrong with others."""

    contents: Mapping[str, tuple[str, MemoryContent]] = field(default_factory=dict)
    problems: tuple[OverrideInvalid, ...] = ()

    @property
    def broken_files(self) -> frozenset[str]:
        return frozenset(str(problem.details["file"]) for problem in self.problems)


@dataclass(frozen=True)
class OverrideReport:
    """What came of reading the folder."""

    additions: tuple[MemoryRecord, ...] = ()
    retired_ids: tuple[MemoryId, ...] = ()
    problems: tuple[OverrideInvalid, ...] = ()


class OverrideFolder:
    """Reads the folder, and its files anew only where their bytes have changed."""

    def __init__(self) -> None:
        self._digest = ""
        self._files = OverrideFiles()

    def read_files(self, folder: Path) -> OverrideFiles:
        """What the files of the folder say now; a file that is no memory is a problem of its own."""
        data = _read_folder(folder)
        digest = hashlib.sha256(repr(sorted(data.items())).encode()).hexdigest()
        if digest != self._digest:
            self._files = _parse_files(data)
            self._digest = digest
        return self._files


def _read_folder(folder: Path) -> dict[str, bytes | None]:
    """The bytes of each file; None for one that is no plain file or too large."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return {}
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix in _ENDINGS)
    except OSError:
        return {}
    return {name: read_small(folder / name, LARGEST_OVERRIDE) for name in names[: MOST_OVERRIDES + 1]}


def _parse_files(data: Mapping[str, bytes | None]) -> OverrideFiles:
    contents: dict[str, tuple[str, MemoryContent]] = {}
    problems: list[OverrideInvalid] = []
    for number, (name, text) in enumerate(data.items()):
        try:
            if number >= MOST_OVERRIDES:
                raise _refuse_file(name, f"at most {MOST_OVERRIDES} files are read")
            contents |= {_content_key(content): (name, content) for content in parse_override(name, text)}
        except OverrideInvalid as error:
            problems.append(error)
    return OverrideFiles(contents, tuple(problems))


def _content_key(content: MemoryContent) -> str:
    """What the memory of an override is known by: what it says."""
    text = content.model_dump_json(by_alias=True)
    return f"{OVERRIDE_PREFIX}{hashlib.sha256(text.encode()).hexdigest()}"


def parse_override(name: str, data: bytes | None) -> list[MemoryContent]:
    """The memories of one file: one mapping, or a list of them; all of them, or an error."""
    if data is None:
        raise _refuse_file(name, f"not a plain file of at most {LARGEST_OVERRIDE} bytes")
    document = _parse_document(name, data)
    entries = document if isinstance(document, list) else [document]
    if len(entries) > MOST_IN_FILE:
        raise _refuse_file(name, f"more than {MOST_IN_FILE} memories")
    return [_parse_entry(name, entry) for entry in entries]


def _parse_document(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refuse_file(name, "not UTF-8") from error
    try:
        if name.endswith(".json"):
            return parse_json(text, LARGEST_OVERRIDE)
        from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

        return parse_yaml(text)
    except Malformed as error:
        raise _refuse_file(name, str(error)) from error


def _parse_entry(name: str, entry: object) -> MemoryContent:
    if not isinstance(entry, Mapping):
        raise _refuse_file(name, "a memory is a mapping with enforcementType and its example, rule or signal")
    try:
        content = MemoryContent.model_validate(dict(entry))
    except ValidationError as error:
        raise _refuse_file(name, _describe_problem(error)) from error
    if content.trigger is not Trigger.HUMAN_OVERRIDE:
        raise _refuse_file(name, f"trigger is human_override in an override, not {content.trigger}")
    return content


def _describe_problem(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    # A misspelled key is missing as well: its own spelling says more.
    first = next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])
    place = ".".join(str(part) for part in first["loc"])[:100]
    if first["type"] == "extra_forbidden":
        near = nearest(str(first["loc"][-1])[:60], _KEYS, most=1)
        return f"there is no key {place}" + (f"; did you mean {near[0]}?" if near else "")
    if first["type"] == "missing":
        return f"{place} is missing"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _refuse_file(name: str, problem: str) -> OverrideInvalid:
    return OverrideInvalid(
        f".codeplane/memory/overrides/{name}: {problem[:300].rstrip('.')}.",
        hints=['{"enforcementType": "informational", "domainAnchorIds": ["src"], "note": "…"} is a memory.'],
        file=name,
    )
