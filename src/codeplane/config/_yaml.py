"""YAML as settings need it: plain values, each key once. Nothing in it can grow when it is read."""

from collections.abc import Hashable
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

_LONGEST_REASON = 200


class NotYaml(ValueError):
    """The text cannot be read; the message says why in one line, and where if that is known."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split())[:_LONGEST_REASON])


def parse(text: str) -> object:
    """Reads one document; `NotYaml` for anything else."""
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader that takes less
    except yaml.MarkedYAMLError as error:
        raise NotYaml(_where(error)) from error
    except yaml.YAMLError as error:
        raise NotYaml(str(error)) from error
    except RecursionError as error:
        raise NotYaml("nested too deeply") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise NotYaml(f"a value cannot be read: {error}") from error


class _PlainLoader(yaml.SafeLoader):
    # An alias may stand for a document that is exponentially larger than its text.
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise ComposerError(None, None, "aliases (*name) are not taken", alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            if (key_node.tag, key_node.value) in seen:
                problem = f"the key {key_node.value} is there twice"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            if isinstance(key_node, yaml.ScalarNode):
                seen.add((key_node.tag, key_node.value))
        return super().construct_mapping(node, deep)


def _where(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "not YAML"
    mark = error.problem_mark or error.context_mark
    return f"{problem} (line {mark.line + 1}, column {mark.column + 1})" if mark else problem
