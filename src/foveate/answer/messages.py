"""A context as the messages that are sent: system prompt, then context and question.

Rules: what is sent is what was counted, so the last message is the context, an empty line and the
question, as `foveate.core.window` counts it; a request that is over the model's window is refused,
whatever system prompt came after the assembly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate import plugins
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall, UnknownName
from foveate.core.types import Context
from foveate.core.window import count_messages
from foveate.plan import Channel
from foveate.ports import Message
from foveate.prompts.markers import PARTS, marker_of_context
from foveate.prompts.text import system_prompt


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
    asked = f"{context.text}\n\n{context.query}" if context.text else context.query
    found: list[Message] = [{"role": "system", "content": system}] if system else []
    found.append({"role": "user", "content": asked})
    _refuse_parts(context)
    _refuse_large(context, found, tokenizer)
    return found


def for_anthropic(found: Sequence[Message]) -> dict[str, Any]:
    """The same as Anthropic's client takes it: `{"system": …, "messages": […]}`.

    >>> for_anthropic([{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}])
    {'system': 'S', 'messages': [{'role': 'user', 'content': 'Q'}]}
    """
    system = "\n\n".join(m["content"] for m in found if m["role"] == "system")
    turns = [dict(m) for m in found if m["role"] != "system"]
    return {**({"system": system} if system else {}), "messages": turns}


def _refuse_parts(context: Context) -> None:
    """A list of content parts in JSON is for a provider's own client, not a text to read."""
    if context.text.startswith('[{"type":"') and context.text.endswith("}]"):
        raise BadOption(
            f"the context is a list of content parts (formats {', '.join(PARTS)}, openai-parts); "
            "give json.loads(context.text) to the provider's client, or take another format"
        )


def _refuse_large(context: Context, found: Sequence[Message], given: Tokenizer | None) -> None:
    budget = context.budget
    if budget.window is None:
        return
    limit = budget.window - budget.generation - budget.buffer
    pairs = [(message["role"], message["content"]) for message in found]
    needed = count_messages(pairs, budget, given or tokenizer_of(context))
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
