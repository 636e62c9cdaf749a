"""Asks a model about a context: the answer as it arrives, citations resolved, then checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from foveate import plugins
from foveate.answer.answer_budget import answer_limit, find_answer_model
from foveate.answer.check import AnswerCheck, check_answer
from foveate.answer.image_bytes import ImageSource
from foveate.answer.messages import messages
from foveate.answer.reasoning import split_reasoning
from foveate.answer.stream import Resolver, StreamEvent
from foveate.answer.voice import citations_from_check
from foveate.core.errors import BadOption, ExternalError
from foveate.core.formats.shared.parts import parse_content_parts
from foveate.core.typed import check_arguments, check_fields
from foveate.core.types import Citation, Context
from foveate.models import model as find_model
from foveate.models import registry
from foveate.pipeline.inputs import Channel, check_context
from foveate.pipeline.options import AssembleOptions, ResolvedOptions, resolve_options
from foveate.pipeline.prompts import is_cited_by_provider
from foveate.ports import Message, Model, Reply
from foveate.providers.chat import registry_name
from foveate.providers.chat.request import adapt_messages, check_messages, check_timeout

LEAST_READ = 0.7
"""The share of the documents' tokens that a server must have read: vocabularies differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, its citations and its check.

    `citations`: the citations of the text, or in the voice channel the sources it rests on, each
    once. `reasoning`: what the model thought aloud before it, with its marks; empty where the
    server keeps that apart. `warning`: empty, or that the server read far less than was sent.
    `cost`: US dollars at the list price, None if price or usage is unknown.
    """

    text: str
    citations: tuple[Citation, ...]
    check: AnswerCheck
    reply: Reply
    reasoning: str = ""
    warning: str = ""
    cost: float | None = None


AskEvent: TypeAlias = StreamEvent | Answer
"""Text, a resolved marker, or at the end the answer as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """The options of `messages`, and the limits of the answer.

    `max_tokens` None: what the context's budget keeps for the answer, or less if the model's window
    leaves less. `window`: the model's, if the registry lacks it or is wrong. `timeout` in seconds.
    `images`: where the bytes of images are that the context names by hash, as `messages` takes it.
    """

    prompt: str = "grounded"
    system: str | None = None
    channel: Channel = "text"
    language: str = "en"
    max_tokens: int | None = None
    temperature: float = 0.0
    timeout: float = 120.0
    window: int | None = None
    images: ImageSource | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are none, before anything is searched or counted for them."""
        check_fields(self)
        check_timeout(self.timeout)
        if self.max_tokens is not None and self.max_tokens < 1:
            raise BadOption(f"max_tokens is {self.max_tokens}; give at least one token, or None")
        if self.window is not None and self.window < 1:
            raise BadOption(f"window is {self.window}; give the tokens that the model holds")


def resolve_for_model(
    name: str, question: str, options: AssembleOptions, how: AskOptions, *, advice: str
) -> tuple[ResolvedOptions, AskOptions]:
    """The options of a context for this model, and `how` with the system prompt.

    The prompt follows the recipe's format, and is counted before documents are packed. `advice`:
    what to do about the window of a model that the registry lacks.
    """
    known = find_answer_model(name, how.window)
    resolved = resolve_options(
        replace(
            options,
            model=known or find_model(registry_name(name), advice=advice),
            prompt=how.prompt,
            channel=how.channel,
            language=how.language,
            max_output=how.max_tokens or 1024,
        ),
        question,
    )
    return resolved, replace(how, system=resolved.system)


def ask(
    context: Context,
    model: str | Model,
    how: AskOptions | None = None,
    *,
    sent: Sequence[Message] | None = None,
) -> Answer:
    """The checked answer to the context's question.

    `model`: a `Model`, or its name (`openai:…`, `ollama:…`, `anthropic:…`, `gguf:…`). `sent`: the
    request of a conversation or a session in place of `messages(context)`. Raises `ExternalError`
    if there is no answer or an empty one, and `BadOption` if request and answer do not fit the
    window.

    >>> from foveate import assemble
    >>> from foveate.testing.fakes import ScriptedModel
    >>> found = [{"text": "The mill was built in 1880.", "source": "mill.md"}]
    >>> context = assemble("When was the mill built?", found, budget=99)
    >>> answer = ask(context, ScriptedModel(says=lambda messages: "It was built in 1880 [1]."))
    >>> answer.text, [one.source for one in answer.citations], answer.reply.usage.completion
    ('It was built in 1880 [1].', ['mill.md'], 6)
    """
    *_, last = ask_events(context, model, how, sent=sent)
    assert isinstance(last, Answer)
    return last


@check_arguments("context")
def ask_events(
    context: Context,
    model: str | Model,
    how: AskOptions | None = None,
    *,
    sent: Sequence[Message] | None = None,
) -> Iterator[AskEvent]:
    """The answer as it arrives; the `Answer` is the last item."""
    how = how or AskOptions()
    asked = _load_model(model)
    request, limits = _build_request(context, asked, how, sent)
    resolver, reply = Resolver(context), None
    for item in asked.stream(request, **limits):
        if isinstance(item, Reply):
            reply = item
        else:
            yield from resolver.feed(item)
    yield from resolver.finish()
    yield _build_answer(context, asked, reply, how)


async def aask(
    context: Context,
    model: str | Model,
    how: AskOptions | None = None,
    *,
    sent: Sequence[Message] | None = None,
) -> Answer:
    """`ask` without blocking the event loop."""
    last: AskEvent | None = None
    async for last in aask_events(context, model, how, sent=sent):  # noqa: B007 (the last is what counts)
        pass
    assert isinstance(last, Answer)
    return last


async def aask_events(
    context: Context,
    model: str | Model,
    how: AskOptions | None = None,
    *,
    sent: Sequence[Message] | None = None,
) -> AsyncIterator[AskEvent]:
    """`ask_events` without blocking the event loop."""
    how = how or AskOptions()
    asked = _load_model(model)
    request, limits = await asyncio.to_thread(_build_request, context, asked, how, sent)
    resolver, reply = Resolver(context), None
    stream: Callable[..., AsyncIterator[str | Reply]] = getattr(asked, "astream", None) or (
        lambda *given, **options: _iterate_in_thread(asked.stream(*given, **options))
    )
    async for item in stream(request, **limits):
        if isinstance(item, Reply):
            reply = item
        else:
            for event in resolver.feed(item):
                yield event
    for event in resolver.finish():
        yield event
    # A long answer takes a while to check: others go on meanwhile.
    yield await asyncio.to_thread(_build_answer, context, asked, reply, how)


def _load_model(model: str | Model) -> Model:
    return plugins.model(model) if isinstance(model, str) else model


def _build_request(
    context: Context, model: Model, how: AskOptions, given: Sequence[Message] | None
) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """The messages, and the limits of the answer."""
    check_context(context)
    _refuse_shared_markers(context)
    if given is None:
        given = messages(
            context,
            prompt=how.prompt,
            system=how.system,
            channel=how.channel,
            language=how.language,
            images=how.images,
        )
    check_messages(given)
    _refuse_earlier_blocks(context, given)
    sent = adapt_messages(given, getattr(model, "takes", frozenset()))
    return sent, {
        "max_tokens": answer_limit(
            context, sent, model=model.name, wanted=how.max_tokens, window=how.window
        ),
        "temperature": how.temperature,
        "timeout": how.timeout,
    }


def _refuse_shared_markers(context: Context) -> None:
    """A provider that cites by itself counts blocks, so each needs its own marker."""
    markers = [block.marker for block in context.blocks if block.kind == "chunk"]
    if is_cited_by_provider(context) and markers != list(range(1, len(markers) + 1)):
        raise BadOption(
            "the provider cites blocks by itself, and here several have one marker; take a recipe "
            "that cites chunks, or another format"
        )


def _refuse_earlier_blocks(context: Context, sent: Sequence[Message]) -> None:
    """A provider that cites by itself counts all blocks of a request, earlier ones first."""
    if is_cited_by_provider(context) and _has_earlier_blocks(context, sent):
        raise BadOption(
            "the request holds blocks of earlier turns, which the provider counts as well, so that "
            "its citations would name others; send those as text"
        )


def _has_earlier_blocks(context: Context, sent: Sequence[Message]) -> bool:
    """Whether a request has more blocks of the kind than the context, tool results included."""
    kinds = [part["type"] for part in parse_content_parts(context) or ()]
    cited = next((kind for kind in kinds if kind in ("document", "search_result")), "")

    def count(content: Any) -> int:
        parts = content if isinstance(content, list | tuple) else ()
        return sum(1 if part.get("type") == cited else count(part.get("content")) for part in parts)

    return sum(count(message["content"]) for message in sent) > kinds.count(cited)


def _build_answer(context: Context, model: Model, reply: Reply | None, how: AskOptions) -> Answer:
    """The checked and priced answer; raises `ExternalError` for an empty one."""
    first, last = split_reasoning(reply.text) if reply is not None else (0, 0)
    if reply is None or not reply.text[first:last].strip():
        spent = "; its limit was spent before it wrote, give it more --max-tokens"
        limit = spent if reply is not None and reply.finish == "length" else "; ask it again"
        raise ExternalError(f"model {model.name}: answered with nothing{limit}")
    text = reply.text[first:last]
    checked = check_answer(text, context, language=how.language, channel=how.channel)
    if how.channel == "voice":
        cited = citations_from_check(checked, context)
    else:
        cited = tuple(one for one in context.citations if one.marker in checked.cited)
    return Answer(
        text=text,
        reasoning=reply.text[:first].strip(),
        warning=_warn_if_cut(context, reply),
        citations=cited,
        check=checked,
        reply=reply,
        cost=_reply_cost(model, reply),
    )


def _warn_if_cut(context: Context, reply: Reply) -> str:
    """What to say where a server cut the request to its own window, as some do in silence."""
    read = reply.usage.prompt
    if read is None or read >= LEAST_READ * context.token_count:
        return ""
    return (
        f"the server says that it read {read:,} tokens, and the documents alone have "
        f"{context.token_count:,}: it has cut them, or counts only what it had not cached; give "
        "it a larger window, or ask with a smaller budget"
    )


def _reply_cost(model: Model, reply: Reply) -> float | None:
    """The cost at the provider's own address; elsewhere the price is unknown."""
    listed = getattr(model, "at_home", "@http" not in model.name)
    known = registry().get(registry_name(model.name)) if listed else None
    return known.cost(reply.usage) if known is not None else None


async def _iterate_in_thread(pieces: Iterator[str | Reply]) -> AsyncIterator[str | Reply]:
    """Read a blocking stream on a worker thread."""
    while (item := await asyncio.to_thread(next, pieces, None)) is not None:
        yield item
