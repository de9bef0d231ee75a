"""The one reader and writer of YAML: each key once, no aliases. Nothing in it can grow when it is read.

It stands beside `documents`, because its parser takes long to load.
"""

import re
from collections.abc import Callable, Hashable
from typing import Any, Final

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import BaseConstructor, ConstructorError

from codeplane.core.documents import DEEPEST, LARGEST_MANIFEST, MOST_DIGITS, Malformed, depth_of_brackets

_LONG_NUMBER: Final = re.compile(rf"(?<![\d:_])[\d:_]{{{MOST_DIGITS + 1}}}")


def parse_yaml(text: str) -> object:
    """Reads one document of plain values; `Malformed` for anything else, with the place where it is known."""
    _check_bounds(text)
    return _load_yaml(text, _PlainLoader)


def parse_yaml_texts(text: str) -> object:
    """Reads one document in which every value is a text; `Malformed` for anything else."""
    return _load_yaml(text, _TextLoader)


def yaml_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of each key and item of a document that `parse_yaml` reads, by the way to it."""
    lines: dict[tuple[str | int, ...], int] = {}
    root = _guard_parser(lambda: yaml.compose(text, Loader=_PlainLoader))
    pending: list[tuple[tuple[str | int, ...], yaml.Node]] = [((), root)] if root is not None else []
    while pending:
        path, node = pending.pop()
        lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            pending += [((*path, number), item) for number, item in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                lines[(*path, str(key.value))] = key.start_mark.line + 1
                pending.append(((*path, str(key.value)), value))
    return lines


def dump_yaml(value: object) -> str:
    """Plain values as a document that `parse_yaml` reads back exactly; keys stay in their order.

    `Malformed` where the reader would refuse the document for its size or its brackets.
    """
    text = yaml.dump(value, Dumper=_ExactDumper, sort_keys=False, allow_unicode=True, width=100)
    _check_bounds(text)
    return text


class _ExactDumper(yaml.SafeDumper):
    """Lines as a block where that is exact; escapes where a plain scalar would not come back as it was."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if text.isprintable() else '"'
        lines = text.split("\n")
        if len(lines) > 1 and all(_is_block_line(line) for line in lines) and lines[0].strip(" ") == lines[0]:
            style = "|" if lines[0] else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the reader refuses aliases
        return True


def _is_block_line(line: str) -> bool:
    # Blanks at the end of a line are lost on those who edit the file.
    return line.isprintable() and not line.endswith(" ")


_ExactDumper.add_representer(str, _ExactDumper.represent_text)


def _load_yaml(text: str, loader: type[yaml.SafeLoader] | type[yaml.BaseLoader]) -> object:
    _check_size(text)
    # Neither loader makes anything but plain values.
    return _guard_parser(lambda: yaml.load(text, Loader=loader))  # noqa: S506


def _check_bounds(text: str) -> None:
    if _LONG_NUMBER.search(text):
        raise Malformed("a number has too many digits")
    _check_size(text)


def _check_size(text: str) -> None:
    if len(text) > LARGEST_MANIFEST:
        raise Malformed(f"larger than {LARGEST_MANIFEST} characters")
    # The scanner takes the cube of the depth of brackets. Those in strings count as well: few are unbalanced.
    if depth_of_brackets(text) > DEEPEST:
        raise Malformed("nested too deeply")


def _guard_parser(parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except yaml.MarkedYAMLError as error:
        raise Malformed(_error_place(error)) from error
    except yaml.YAMLError as error:
        raise Malformed(str(error)) from error
    except RecursionError as error:
        raise Malformed("nested too deeply") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed(f"a value cannot be read: {error}") from error


class _Strict(Composer, BaseConstructor):
    # An alias may stand for a document that is exponentially larger than its text.
    def compose_node(self: Any, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias = self.peek_event()
            raise ComposerError(None, None, "aliases (*name) are not allowed", alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = set()
        for key_node, _ in node.value:
            if (key_node.tag, key_node.value) in keys:
                problem = f"the key {key_node.value} is duplicated"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            if isinstance(key_node, yaml.ScalarNode):
                keys.add((key_node.tag, key_node.value))
        return super().construct_mapping(node, deep)


class _PlainLoader(_Strict, yaml.SafeLoader):
    pass


class _TextLoader(_Strict, yaml.BaseLoader):
    pass


def _error_place(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "not YAML"
    mark = error.problem_mark or error.context_mark
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else problem
