"""A tool's docstring, taken apart: the text is written once and published everywhere."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codeplane.core.documents import decode_json

_HEADINGS = {"Use when:": "use", "Not for:": "avoid", "Examples:": "examples"}


@dataclass(frozen=True)
class Example:
    description: str
    params: dict[str, Any]


@dataclass(frozen=True)
class ToolDoc:
    """`summary` is the docstring's first line; `description` is what an agent is sent."""

    summary: str
    description: str
    when_to_use: tuple[str, ...]
    when_not_to_use: tuple[str, ...]
    examples: tuple[Example, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "ToolDoc":
        """From its fields, as JSON has them."""
        return cls(
            told["summary"],
            told["description"],
            tuple(told["when_to_use"]),
            tuple(told["when_not_to_use"]),
            tuple(Example(**example) for example in told["examples"]),
        )


def parse_doc(docstring: str | None) -> ToolDoc:
    """Reads `Use when:`, `Not for:` and `Examples:` lists out of a docstring."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    prose: list[str] = []
    items: dict[str, list[str]] = {"use": [], "avoid": [], "examples": []}
    section: str | None = None
    for line in lines:
        section = _HEADINGS.get(line.strip(), section)
        if section is None:
            prose.append(line)
        elif line.lstrip().startswith("- "):
            items[section].append(line.strip()[2:])
        elif line.strip() not in _HEADINGS and line.strip():
            items[section][-1] += " " + line.strip()
    text = "\n".join(prose).strip()
    return ToolDoc(
        summary=text.split("\n", 1)[0],
        description=_describe(text, items["use"], items["avoid"]),
        when_to_use=tuple(items["use"]),
        when_not_to_use=tuple(items["avoid"]),
        examples=tuple(_make_example(item) for item in items["examples"]),
    )


def _describe(text: str, use: list[str], avoid: list[str]) -> str:
    parts = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    parts += [f"Use when: {'; '.join(use)}."] if use else []
    parts += [f"Not for: {'; '.join(avoid)}."] if avoid else []
    return "\n".join(parts)


def _make_example(item: str) -> Example:
    description, _, params = item.partition(": ")
    return Example(description, decode_json(params))
