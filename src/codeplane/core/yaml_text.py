"""The one reader of YAML: each key once, no aliases. Nothing in it can grow when it is read.

It stands beside `documents`, because its parser takes long to load.
"""

import re
from collections.abc import Hashable
from typing import Any, Final

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import BaseConstructor, ConstructorError

from codeplane.core.documents import DEEPEST, LARGEST_MANIFEST, MOST_DIGITS, Malformed, depth_of_brackets

_LONG_NUMBER: Final = re.compile(rf"(?<![\d:_])[\d:_]{{{MOST_DIGITS + 1}}}")


def parse_yaml(text: str) -> object:
    """Reads one document of plain values; `Malformed` for anything else, with the place where it is known."""
    if _LONG_NUMBER.search(text):
        raise Malformed("a number has too many digits")
    return _load_yaml(text, _PlainLoader)


def parse_yaml_texts(text: str) -> object:
    """Reads one document in which every value is a text; `Malformed` for anything else."""
    return _load_yaml(text, _TextLoader)


def _load_yaml(text: str, loader: type[yaml.SafeLoader] | type[yaml.BaseLoader]) -> object:
    if len(text) > LARGEST_MANIFEST:
        raise Malformed(f"larger than {LARGEST_MANIFEST} characters")
    # The scanner takes the cube of the depth of brackets. Those in strings count as well: few are unbalanced.
    if depth_of_brackets(text) > DEEPEST:
        raise Malformed("nested too deeply")
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - neither makes anything but plain values
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
