"""The fixture's prompts and completions."""

from __future__ import annotations

from collections.abc import Callable

from mcp import types

from tests.conformance.catalogue import Context, embedded, image, text
from tests.conformance.rounds import ask_user, submitted, wanted

Answer = types.GetPromptResult | types.InputRequiredResult
Render = Callable[[types.GetPromptRequestParams], Answer]

COMPLETIONS = ("paris", "park", "party", "test")


def _messages(*content: types.ContentBlock) -> types.GetPromptResult:
    messages = [types.PromptMessage(role="user", content=block) for block in content]
    return types.GetPromptResult(messages=messages)


def _simple(params: types.GetPromptRequestParams) -> Answer:
    return _messages(text("This is a simple prompt for testing."))


def _with_arguments(params: types.GetPromptRequestParams) -> Answer:
    given = params.arguments or {}
    return _messages(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"))


def _with_resource(params: types.GetPromptRequestParams) -> Answer:
    uri = (params.arguments or {})["resourceUri"]
    return _messages(
        embedded(uri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
    )


def _with_image(params: types.GetPromptRequestParams) -> Answer:
    return _messages(image(), text("Please analyze the image above."))


def _asking(params: types.GetPromptRequestParams) -> Answer:
    context = submitted(params, "user_context", "context")
    if context is None:
        question = ask_user("What context should the prompt use?", "context")
        return wanted({"user_context": question})
    return _messages(text(f"Use this context: {context}"))


def _prompt(name: str, description: str, *arguments: str) -> types.Prompt:
    listed = [
        types.PromptArgument(name=argument, description=f"Value of {argument}", required=True)
        for argument in arguments
    ]
    return types.Prompt(name=name, description=description, arguments=listed)


LISTED = [
    _prompt("test_simple_prompt", "One message."),
    _prompt("test_prompt_with_arguments", "A message with two arguments.", "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", "A message with a resource.", "resourceUri"),
    _prompt("test_prompt_with_image", "A message with an image."),
    _prompt("test_input_required_result_prompt", "A message that asks the user first."),
]

RENDERERS: dict[str, Render] = {
    "test_simple_prompt": _simple,
    "test_prompt_with_arguments": _with_arguments,
    "test_prompt_with_embedded_resource": _with_resource,
    "test_prompt_with_image": _with_image,
    "test_input_required_result_prompt": _asking,
}


async def complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [word for word in COMPLETIONS if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
