"""Gives all elements of a tag another one."""

from typing import Final

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.operations.rename_tag import rename_tag
from codeplane.languages.html.selectors import document_of, select
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.codemods import pair_arguments

_MOST_NAMED: Final = 8
# Only names of tags change, and `check_shape` compares the trees: template syntax in values is no danger.
_TEMPLATES: Final = Argument(
    "templates",
    "choice",
    "What to do where tags hold template syntax such as `{{ x }}`: `refuse`, or `ignore` it, as by default.",
    choices=("refuse", "ignore"),
    default="ignore",
)


def _argument_errors(arguments: Arguments) -> list[str]:
    return [
        error.replace("`to`", f"`{name}`")
        for name in ("from", "to")
        for error in rename_tag.check_arguments(Arguments({"to": arguments.text(name)}))
    ]


@operation(
    version=1,
    target="file",
    arguments=(
        *pair_arguments("the tag, such as `app-button`", "the tag that takes its place"),
        _TEMPLATES,
    ),
    check_arguments=_argument_errors,
    check_result=check_shape,
)
def rewrite_template_tag(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Gives every element of a tag another tag, in start and end tags; attributes and bindings stay."""
    old, new = arguments.text("from"), arguments.text("to")
    matches = select(source, old)
    if not matches:
        names = list(dict.fromkeys(_tag_name(one) for one in document_of(source).elements))
        if new in names or new.lower() in names:
            return Outcome()
        known_names = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED]) or "none"
        raise OperationRefused(f"The file has no `<{old}>`; it has {known_names}.")
    step = Arguments({"to": new, "templates": arguments.text("templates")})
    outcomes = [rename_tag.compute_edit(source, match, step) for match in matches]
    return Outcome([edit for one in outcomes for edit in one.edits])


def _tag_name(element: Element) -> str:
    return element.start_tag.name if not element.is_html else element.name
