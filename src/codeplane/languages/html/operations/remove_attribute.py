"""Removes an attribute of an element."""

from codeplane.languages.html.operations import _attributes as attributes
from codeplane.languages.html.operations._done import is_about, relaxed_matches
from codeplane.languages.html.operations._page import TEMPLATES, open_element
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.selectors import tokens_of
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


def _argument_errors(arguments: Arguments) -> list[str]:
    errors = [*attributes.name_errors(arguments.text("name")), *attributes.token_errors(arguments)]
    if "value" in arguments and not arguments.flag("token"):
        errors.append("`value` is only taken together with `token`.")
    return errors


def _is_done(source: Source, selector: str, arguments: Arguments) -> bool:
    name, value = arguments.text("name"), arguments.optional("value")
    for element in relaxed_matches(source, selector, lambda test: is_about(test, name)):
        attribute = element.attribute(name.lower())
        if attribute is None or (value and value not in tokens_of(attributes.value_of(source, attribute))):
            return True
    return False


@operation(
    version=1,
    target="element",
    arguments=(
        Argument("name", "text", "The name of the attribute.", is_required=True),
        Argument("value", "text", "With `token`: the token to remove."),
        Argument("token", "flag", "Whether only `value` is removed from a list such as `class`."),
        TEMPLATES,
    ),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=check_shape,
)
def remove_attribute(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes an attribute of an element, or one token of a list such as `class`."""
    _, element = open_element(source, match, arguments)
    name, value = arguments.text("name").lower(), arguments.optional("value")
    places = [item for item in element.start_tag.attributes if item.name == name]
    if value is not None:
        edits = [
            edit for item in places[:1] for edit in attributes.remove_token(source, element, item, value)
        ]
        return Outcome(edits)
    notes = [f"`{name}` was there {len(places)} times; all of them go."] if len(places) > 1 else []
    return Outcome([attributes.remove_attribute_text(source, element, item) for item in places], notes)
