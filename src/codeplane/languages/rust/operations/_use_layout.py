"""Writes `use` declarations as rustfmt does."""

from typing import NamedTuple

from codeplane.languages.rust.operations._use_trees import UseTree, inline_text
from codeplane.languages.rust.operations._widths import MAX_WIDTH, display_width


class Layout(NamedTuple):
    """What the lines of a declaration begin and end with."""

    indent: str
    unit: str
    newline: str


def declaration_text(tree: UseTree, head: str, layout: Layout) -> str:
    """A declaration from its first word to its semicolon; `head` is `use`, with what makes it public."""
    return f"{head} {_tree_text(tree, layout, f'{layout.indent}{head} ', ';')};"


def _tree_text(tree: UseTree, layout: Layout, before: str, after: str) -> str:
    """A tree in a line that begins and ends with other texts."""
    one_line = inline_text(tree)
    items = tree.items or ()
    is_nested = any(item.items is not None for item in items)
    if not items or (not is_nested and display_width(before + one_line + after) <= MAX_WIDTH):
        return one_line
    prefix = "::".join(tree.path) + "::" if tree.path else ""
    inner = layout.indent + layout.unit
    nested = layout._replace(indent=inner)
    if is_nested:
        rows = [inner + _tree_text(item, nested, inner, ",") + "," for item in items]
    else:
        rows = _filled_rows([inline_text(item) for item in items], inner)
    return layout.newline.join((f"{prefix}{{", *rows, f"{layout.indent}}}"))


def _filled_rows(texts: list[str], indent: str) -> list[str]:
    rows = [f"{indent}{texts[0]},"]
    for text in texts[1:]:
        longer = f"{rows[-1]} {text},"
        if display_width(longer) <= MAX_WIDTH:
            rows[-1] = longer
        else:
            rows.append(f"{indent}{text},")
    return rows
