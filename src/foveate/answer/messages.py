"""A context as the messages that are sent: system prompt, then context and question.

Rules: what is sent is what was counted, so the last message is the context, an empty line and the
question, as `foveate.core.window` counts it; a request that is over the model's window is refused,
whatever system prompt came after the assembly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, cast

from foveate import plugins
from foveate.adapters.models.tools import calls_in
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall, UnknownName
from foveate.core.layout.parts import content_of
from foveate.core.talk.turns import lines
from foveate.core.types import Context
from foveate.core.window import count_messages
from foveate.plan import Channel
from foveate.ports import Content, Message, text_of
from foveate.prompts.markers import marker_of_context
from foveate.prompts.text import system_prompt

MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""What providers call a cache breakpoint on a content part."""


def messages(
    context: Context,
    *,
    prompt: str = "grounded",
    system: str | None = None,
    channel: Channel = "text",
    language: str = "en",
    tokenizer: Tokenizer | None = None,
) -> list[Message]:
    """System and user message, for any OpenAI-compatible or Ollama client, or a `Model`.

    A context of content parts (formats `openai-parts`, `anthropic-search-result`,
    `anthropic-document`) is sent as those, the question as one more.
    `prompt`: `grounded`, `strict`, `soft`, `voice`, one of a plugin, or a file; `system`: the text
    itself, in place of it ("" for none). Assemble with the same prompt, and the window holds it;
    raises `BudgetTooSmall` where it does not. `tokenizer`: where the context was counted by one
    that has no name here.

    >>> from foveate import assemble
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("When was it built?", found, model="gpt-4o", prompt="strict")
    >>> [message["role"] for message in messages(context, prompt="strict")]
    ['system', 'user']
    """
    if system is None:
        marker = marker_of_context(context)
        system = system_prompt(prompt, marker=marker, channel=channel, language=language)
    parts = content_of(context)
    asked: Content = counted(context)
    if parts is not None:
        asked = [*parts, {"type": "text", "text": context.query}]
    found: list[Message] = [{"role": "system", "content": system}] if system else []
    found.append({"role": "user", "content": asked})
    _refuse_large(context, found, tokenizer)
    return found


def for_anthropic(
    found: Sequence[Message], *, cache: Literal["5m", "1h"] | None = None
) -> dict[str, Any]:
    """The same as Anthropic's client takes it: `{"system": …, "messages": […]}`.

    `cache`: with cache breakpoints, kept for so long: behind the system prompt, and behind the last
    part of the context, so that another question about the same context reads both from the cache.
    A context that is a text has its question in the same string, and no breakpoint behind it.
    Breakpoints that messages came with are taken off then, for four are the most that may be set.

    >>> for_anthropic([{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}])
    {'system': 'S', 'messages': [{'role': 'user', 'content': 'Q'}]}
    """
    system = "\n\n".join(text_of(m["content"]) for m in found if m["role"] == "system")
    said = [m for m in found if m["role"] != "system"]
    if not system.strip():  # a text of white space is refused
        system = ""
    if cache is None:
        return {**({"system": system} if system else {}), "messages": _copied(said)}
    _refuse_unknown(cache, "5m", "1h")
    mark = {"cache_control": {"type": "ephemeral", "ttl": cache}}
    first = [{"type": "text", "text": system, **mark}]
    return {**({"system": first} if system else {}), "messages": _marked(said, mark)}


def for_openai(
    found: Sequence[Message], *, cache: Literal["30m", "12h"] | None = None
) -> list[dict[str, Any]]:
    """The same for OpenAI's chat completions; they take messages as they are.

    `cache`: with cache breakpoints, as for Anthropic. OpenAI finds prefixes without them, too.

    >>> parts = [{"type": "text", "text": "[1] Source: mill.md"}, {"type": "text", "text": "Q"}]
    >>> (sent,) = for_openai([{"role": "user", "content": parts}], cache="30m")
    >>> sent["content"][0]["prompt_cache_breakpoint"], list(sent["content"][1])
    ({'mode': 'explicit', 'ttl': '30m'}, ['type', 'text'])
    """
    if cache is None:
        return _copied(found)
    _refuse_unknown(cache, "30m", "12h")
    mark = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": cache}}
    system = [n for n, message in enumerate(found) if message["role"] == "system"]
    whole = _marked(found, mark)
    for place in system[-1:]:
        if text := text_of(found[place]["content"]):
            whole[place]["content"] = [{"type": "text", "text": text, **mark}]
    return whole


def for_responses(
    found: Sequence[Message], *, cache: Literal["30m", "12h"] | None = None
) -> list[dict[str, Any]]:
    """The same as the `input` of OpenAI's responses, whose parts have names of their own.

    `input_text`, or `output_text` where the model said it.

    >>> for_responses([{"role": "user", "content": [{"type": "text", "text": "Q"}]}])
    [{'role': 'user', 'content': [{'type': 'input_text', 'text': 'Q'}]}]
    """
    whole = for_openai(found, cache=cache)
    for message in whole:
        if not isinstance(message["content"], str):
            kind = "output_text" if message["role"] == "assistant" else "input_text"
            message["content"] = [_part_of(part, kind) for part in message["content"]]
    return whole


def _part_of(part: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """A part as a text of this kind; raises `BadOption` for blocks of another provider."""
    if part["type"] != "text":
        raise BadOption(
            f"a block {part['type']!r} is not of OpenAI's kinds; take the format 'openai-parts'"
        )
    return {**part, "type": kind}


def _marked(found: Sequence[Message], mark: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages with the mark behind the last one's last part before the question.

    Others' marks are taken off: at most four may be set, and one too many is refused.
    """
    whole = _copied(found)
    for message in whole:
        _unmark(message.get("content"))
    content = whole[-1]["content"] if whole else ""
    if not isinstance(content, str) and len(content) > 1:
        whole[-1]["content"] = [*content[:-2], {**content[-2], **mark}, content[-1]]
    return whole


def _copied(found: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages, to be changed by whoever gets them."""
    return [dict(deepcopy(message)) for message in found]


def _unmark(content: Any) -> None:
    """Take the marks off content parts, and off those within a tool's result."""
    parts = content if isinstance(content, list) else ()
    for part in filter(lambda one: isinstance(one, dict), parts):
        for name in MARKS & part.keys():
            del part[name]
        _unmark(part.get("content"))


def _refuse_unknown(cache: str, *known: str) -> None:
    if cache not in known:
        raise BadOption(f"cache is {cache!r}; give {' or '.join(known)}, or None for none")


def counted(context: Context) -> str:
    """What is counted of the user's message: the context, an empty line, the question."""
    return f"{context.text}\n\n{context.query}" if context.text else context.query


def pairs_of(context: Context, found: Sequence[Message]) -> list[tuple[str, str]]:
    """Messages as they are counted: the last one's parts as the context that they are.

    Those of others as their texts; calls of tools as the JSON that is sent.
    """
    *before, last = found
    pairs = [(one["role"], _said(one, text_of(one["content"]))) for one in before]
    content = last["content"]
    text = content if isinstance(content, str) else counted(context)
    return [*pairs, (last["role"], _said(last, text))]


def _said(message: Message, text: str) -> str:
    more = cast("Mapping[str, Any]", message)
    return lines(text, *calls_in(more), more.get("tool_call_id", ""))


def _refuse_large(context: Context, found: Sequence[Message], given: Tokenizer | None) -> None:
    budget = context.budget
    if budget.window is None:
        return
    limit = budget.window - budget.generation - budget.buffer
    needed = count_messages(pairs_of(context, found), budget, given or tokenizer_of(context))
    if needed > limit:
        raise BudgetTooSmall(
            limit,
            needed,
            what="the request with this system prompt (assemble with the same prompt)",
        )


def tokenizer_of(context: Context) -> Tokenizer:
    """What the context was counted by; raises `BadOption` where that has no name here."""
    name = context.manifest.tokenizer
    try:
        return plugins.tokenizer(name)
    except UnknownName:
        raise BadOption(
            f"the context was counted by {name!r}, which has no name here; give tokenizer="
        ) from None
