"""Text cases: files of a repository, calls, and what they answer, in one readable file."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_HEADING = re.compile(r"^-- (.+) --$", re.MULTILINE)
_FOR_PROGRAMS = frozenset(("repo_fingerprint", "mutation"))
_OF_FILES = frozenset(("line_ending", "edits", "more_edits"))
_OF_GIT_FILES = _OF_FILES | {"old_hash", "file_sha256"}
_VOLATILE = (
    (re.compile(r"^tool_count: \d+$", re.MULTILINE), "tool_count: <number>"),
    (re.compile(r"^( *)version: \S+$", re.MULTILINE), r"\1version: <version>"),
    (re.compile(r"^( *)fingerprint: [0-9a-f]{64}$", re.MULTILINE), r"\1fingerprint: <fingerprint>"),
    (re.compile(r"^( *)size_bytes: \d+$", re.MULTILINE), r"\1size_bytes: <number>"),
    (re.compile(r"\b(req|sess|agent|task|cur|op|ref|plan|ph|pt|ps)_[0-9a-f]{12}\b"), r"\1_…"),
    (re.compile(r"\bpack_[0-9a-f]{16}\b"), "pack_…"),
    (re.compile(r"\b(contextPackHash|planFingerprint)(\"?: \"?)[0-9a-f]{64}"), r"\1\2<hash>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\b(expires_ms\"?: )\d+"), r"\1<time>"),
    (re.compile(r"^( *)elapsed_seconds: [\d.]+$", re.MULTILINE), r"\1elapsed_seconds: <number>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<commit>"),
    (re.compile(r"(?<=refs/codeplane/saved/)\d{8}T\d{6}-[0-9a-f]{7}"), "<saved>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{10}\b"), "<short>"),
    (re.compile(r"(?<=<short> )\d{4}-\d\d-\d\d\b"), "<day>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
)


@dataclass
class Step:
    """One call and the answer that the case expects."""

    tool: str
    arguments: Any
    expected: str = ""
    is_error: bool = False
    text: str | None = None  # what a model reads, where the case says it


@dataclass
class Case:
    """What a case file says: a sentence, a repository, calls."""

    about: str
    files: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def render(self) -> str:
        parts = [self.about.rstrip() + "\n"]
        parts += [f"-- {name} --\n{text}" for name, text in self.files.items()]
        for step in self.steps:
            parts.append(f"-- call {step.tool} --\n{json.dumps(step.arguments, ensure_ascii=False)}\n")
            parts.append(f"-- {'error' if step.is_error else 'result'} --\n{step.expected}")
            parts += [f"-- text --\n{step.text}"] if step.text is not None else []
        return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def parse_case(text: str) -> Case:
    about, *rest = _HEADING.split(text)
    case = Case(about.strip())
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        body = body.removeprefix("\n")
        if heading.startswith("call "):
            case.steps.append(Step(heading.removeprefix("call "), json.loads(body)))
        elif heading in ("result", "error"):
            case.steps[-1].expected = body.strip() + "\n"
            case.steps[-1].is_error = heading == "error"
        elif heading == "text":
            case.steps[-1].text = body.strip() + "\n"
        else:
            case.files[heading] = body.rstrip("\n") + "\n"
    return case


def show(body: dict[str, Any], root: Path) -> str:
    """The data of an answer, line by line."""
    if "error" in body:
        error = body["error"]
        lines = [f"{error['name'].lower()}: {error['message']}"]
        lines += [f"hint: {hint}" for hint in error.get("hints", [])]
    else:
        lines = list(_lines(_lean(body["result"]), ""))
    return stable("\n".join(lines), root)


def _lean(value: Any) -> Any:
    """An answer without what only programs use of a change; `test_deltas` has that."""
    if isinstance(value, list):
        return [_lean(one) for one in value]
    if not isinstance(value, dict):
        return value
    left_out = _FOR_PROGRAMS
    if "action" in value and "path" in value:
        left_out |= _OF_FILES if "insertions" in value else _OF_GIT_FILES
    return {key: _lean(one) for key, one in value.items() if key not in left_out}


def stable(text: str, root: Path) -> str:
    """A text that is the same at every run: ids, commits, times and the root are named, not spelled."""
    text = text.strip().replace(str(root), "<root>") + "\n"
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text


def _lines(value: Any, indent: str) -> list[str]:
    shown = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            shown += [f"{indent}{key}:", *_lines(item, indent + "  ")]
        elif isinstance(item, list) and item:
            shown += [f"{indent}{key}:", *(f"{indent}  - {_inline(entry)}" for entry in item)]
        else:
            shown.append(f"{indent}{key}: {_inline(item)}")
    return shown


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
