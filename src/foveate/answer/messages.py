"""A context as messages: system prompt, then context and question.

The last message is what `foveate.core.window` makes and counts; a request over the model's window
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, cast

from foveate import plugins
from foveate.answer.image_bytes import ImageSource, add_image_bytes
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall, UnknownName
from foveate.core.formats.shared.parts import parse_content_parts
from foveate.core.image_fit import IMAGE_TOKENS
from foveate.core.json_text import join_lines
from foveate.core.typed import check_arguments
from foveate.core.types import Context
from foveate.core.window import count_messages, join_by_template, join_message, join_parts
from foveate.pipeline.inputs import Channel, check_context
from foveate.pipeline.options import add_instructions
from foveate.pipeline.prompts import marker_from_context, system_prompt
from foveate.ports import Content, Message, text_from_content
from foveate.providers.chat.request import calls_to_json

CACHE_MARKER = "cache_control"
"""What Anthropic calls a cache breakpoint on a content part."""


@check_arguments("context")
def messages(
    context: Context,
    *,
    prompt: str = "grounded",
    system: str | None = None,
    channel: Channel = "text",
    language: str = "en",
    extra_instructions: str = "",
    template: str = "",
    tokenizer: Tokenizer | None = None,
    images: ImageSource | None = None,
) -> list[Message]:
    """System and user message, for any OpenAI-compatible or Ollama client, or a `Model`.

    Content parts (formats `openai-parts`, `anthropic-search-result`, `anthropic-document`) are sent
    as parts, with the question as the last. `prompt`: `grounded`, `strict`, `soft`, `voice`, one of
    a plugin, or a file; `system`: its text instead ("" for none); `extra_instructions`: its last
    paragraph. `template`: the layout of a user's message that is a text, with `{context}` and
    `{question}` in it. Assemble with the same prompt, instructions and template; raises
    `BudgetTooSmall` if the request does not fit. `tokenizer`: the context's, if it has no
    name here. `images`: where the bytes of images are that the context names by hash, a directory
    or a function of the hash.

    >>> from foveate import assemble
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("When was it built?", found, model="gpt-4o", prompt="strict")
    >>> [message["role"] for message in messages(context, prompt="strict")]
    ['system', 'user']
    """
    check_context(context)
    if system is None:
        marker = marker_from_context(context)
        system = system_prompt(prompt, marker=marker, channel=channel, language=language)
    system = add_instructions(system, extra_instructions)
    parts = parse_content_parts(context)
    asked: Content = format_user_message(context)
    if template and parts is not None:
        raise BadOption("template: the context is a list of content parts; take a text format")
    if template:
        asked = join_by_template(context.text, context.query, template)
    elif parts is not None:
        asked = join_parts(add_image_bytes(parts, images), context.query)
    found: list[Message] = [{"role": "system", "content": system}] if system else []
    found.append({"role": "user", "content": asked})
    _check_window(context, found, tokenizer)
    return found


def format_for_anthropic(
    found: Sequence[Message], *, cache: Literal["5m", "1h"] | None = None
) -> dict[str, Any]:
    """The messages for Anthropic's client: `{"system": …, "messages": […]}`.

    `cache`: lifetime of cache breakpoints, set after the system prompt and after the last part of
    the context, so that another question reads both from the cache. A context in one string with
    its question has none. Other breakpoints are removed, because at most four are allowed.

    >>> format_for_anthropic([{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}])
    {'system': 'S', 'messages': [{'role': 'user', 'content': 'Q'}]}
    """
    system = "\n\n".join(text_from_content(m["content"]) for m in found if m["role"] == "system")
    said = [m for m in found if m["role"] != "system"]
    if not system.strip():  # a text of white space is refused
        system = ""
    if cache is None:
        return {**({"system": system} if system else {}), "messages": _copy_messages(said)}
    if cache not in ("5m", "1h"):
        raise BadOption(f"cache is {cache!r}; give 5m or 1h, or None for none")
    mark = {CACHE_MARKER: {"type": "ephemeral", "ttl": cache}}
    first = [{"type": "text", "text": system, **mark}]
    return {**({"system": first} if system else {}), "messages": _add_cache_marker(said, mark)}


def format_for_openai(found: Sequence[Message]) -> list[Any]:
    """The messages for OpenAI's chat completions, whose client has types of its own."""
    return _copy_messages(found)


def format_for_responses(found: Sequence[Message]) -> list[Any]:
    """The messages as the `input` of OpenAI's responses, with `input_text` and `output_text`.

    >>> format_for_responses([{"role": "user", "content": [{"type": "text", "text": "Q"}]}])
    [{'role': 'user', 'content': [{'type': 'input_text', 'text': 'Q'}]}]
    """
    whole = _copy_messages(found)
    for message in whole:
        if not isinstance(message["content"], str):
            kind = "output_text" if message["role"] == "assistant" else "input_text"
            message["content"] = [_convert_part(part, kind) for part in message["content"]]
    return whole


def _convert_part(part: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The part as a text of this kind, or an image; raises `BadOption` for another's block."""
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}
    if part["type"] != "text":
        raise BadOption(
            f"a block {part['type']!r} is not of OpenAI's kinds; take the format 'openai-parts'"
        )
    return {**part, "type": kind}


def _add_cache_marker(found: Sequence[Message], mark: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Mark the last part before the question, and remove all other marks."""
    whole = _copy_messages(found)
    for message in whole:
        _remove_cache_markers(message.get("content"))
    content = whole[-1]["content"] if whole else ""
    if not isinstance(content, str) and len(content) > 1:
        whole[-1]["content"] = [*content[:-2], {**content[-2], **mark}, content[-1]]
    return whole


def _copy_messages(found: Sequence[Message]) -> list[dict[str, Any]]:
    return [dict(deepcopy(message)) for message in found]


def _remove_cache_markers(content: Any) -> None:
    """Remove the marks of content parts, tool results included."""
    parts = content if isinstance(content, list) else ()
    for part in filter(lambda one: isinstance(one, dict), parts):
        part.pop(CACHE_MARKER, None)
        _remove_cache_markers(part.get("content"))


def format_user_message(context: Context) -> str:
    """The counted text of the user's message: the context, its end, the question."""
    return join_message(context.text, context.query)


def role_text_pairs(context: Context, found: Sequence[Message]) -> list[tuple[str, str]]:
    """Messages as they are counted: parts of the last one as the context's text.

    Parts of other messages count as their texts, tool calls as their JSON.
    """
    *before, last = found
    pairs = [(one["role"], _message_text(one, text_from_content(one["content"]))) for one in before]
    content = last["content"]
    text = content if isinstance(content, str) else format_user_message(context)
    return [*pairs, (last["role"], _message_text(last, text))]


def _message_text(message: Message, text: str) -> str:
    more = cast("Mapping[str, Any]", message)
    return join_lines(text, *calls_to_json(more), more.get("tool_call_id", ""))


def _check_window(context: Context, found: Sequence[Message], given: Tokenizer | None) -> None:
    budget = context.budget
    if budget.window is None:
        return
    limit = budget.window - budget.generation - budget.buffer
    tokenizer = given or tokenizer_from_context(context)
    needed = count_messages(role_text_pairs(context, found), budget, tokenizer)
    needed += image_tokens(context)
    if needed > limit:
        raise BudgetTooSmall(
            limit,
            needed,
            what="the request with this system prompt (assemble with the same prompt)",
        )


def image_tokens(context: Context) -> int:
    """Tokens of the context's images, which its count has beside those of its text."""
    notes = context.trace[-1].notes if context.trace else {}
    return int(notes.get(IMAGE_TOKENS, 0))


def tokenizer_from_context(context: Context) -> Tokenizer:
    """The context's tokenizer; raises `BadOption` if it has no name here."""
    name = context.manifest.tokenizer
    try:
        return plugins.tokenizer(name)
    except UnknownName:
        raise BadOption(
            f"the context was counted by {name!r}, which has no name here; give tokenizer="
        ) from None
