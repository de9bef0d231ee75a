"""Sets an attribute of an element."""

from codeplane.languages.html.operations import _attributes as attributes
from codeplane.languages.html.operations._done import is_about, relaxed_matches
from codeplane.languages.html.operations._page import (
    TEMPLATES,
    duplicate_notes,
    open_element,
    refuse_letters,
)
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.selectors import document_of, tokens_of
from codeplane.languages.html.tag_names import BOOLEAN_ATTRIBUTES
from codeplane.languages.html.tokens import Attribute
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


def _argument_errors(arguments: Arguments) -> list[str]:
    return [*attributes.name_errors(arguments.text("name")), *attributes.token_errors(arguments)]


def _is_set(source: Source, attribute: Attribute | None, arguments: Arguments) -> bool:
    if attribute is None:
        return False
    value, target = attributes.value_of(source, attribute), arguments.optional("value")
    if arguments.flag("token"):
        return target in tokens_of(value)
    if target is None:
        return value == "" or attribute.name in BOOLEAN_ATTRIBUTES
    return value == target.replace("\r\n", "\n")


def _is_done(source: Source, selector: str, arguments: Arguments) -> bool:
    name = arguments.text("name")
    elements = relaxed_matches(source, selector, lambda test: is_about(test, name))
    return any(_is_set(source, element.attribute(name.lower()), arguments) for element in elements)


@operation(
    version=1,
    target="element",
    arguments=(
        Argument("name", "text", "The name of the attribute.", is_required=True),
        Argument("value", "text", "Its value as a browser reads it; without one, the name alone is written."),
        Argument("token", "flag", "Whether `value` is added to the tokens of a list such as `class`."),
        TEMPLATES,
    ),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=check_shape,
)
def set_attribute(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Sets an attribute of an element, or adds a token to a list such as `class`; quotes are kept."""
    document, element = open_element(source, match, arguments)
    name, value = arguments.text("name"), arguments.optional("value")
    refuse_letters(source, [name, value or ""])
    attribute = element.attribute(name.lower())
    notes = duplicate_notes(source, document, element, name)
    if _is_set(source, attribute, arguments):
        return Outcome((), notes)
    if attribute is None:
        return Outcome(attributes.add_attribute(source, document, element, name, value), notes)
    if arguments.flag("token") and value is not None:
        return Outcome(attributes.add_token(source, attribute, value), notes)
    notes += _id_note(source, name, value)
    return Outcome(attributes.set_value(source, attribute, value), notes)


def _id_note(source: Source, name: str, value: str | None) -> list[str]:
    if name.lower() != "id" or value is None:
        return []
    document = document_of(source)
    others = [
        item for item in document.elements if item.values(document.data, document.is_xml).get("id") == value
    ]
    return [f"Line {source.line_of(item.start)} has the id `{value}` already." for item in others[:1]]
