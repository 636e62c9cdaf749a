"""The tokens that a request leaves for the answer, in the context's and the model's window.

A limit of the caller is kept or refused. The default limit is lowered to what is left, if that is
enough for an answer. An unknown model has the context's window alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from foveate import plugins
from foveate.answer.messages import image_tokens, role_text_pairs, tokenizer_from_context
from foveate.core.errors import BadOption
from foveate.core.types import Context
from foveate.core.window import count_messages
from foveate.models import Model, registry
from foveate.ports import Message
from foveate.providers.chat import registry_name
from foveate.providers.chat.gguf import CONTEXT_TOKENS, get_provider

DEFAULT_ANSWER_TOKENS = 1024
"""Tokens for an answer if no limit is given."""
MIN_ANSWER_TOKENS = 256
"""Tokens below which a default limit is not lowered."""
GGUF_PREFIX = "gguf:"


def answer_limit(
    context: Context, sent: Sequence[Message], *, model: str, wanted: int | None, window: int | None
) -> int:
    """Tokens that the model may write; raises `BadOption` if they, or the request, do not fit.

    `wanted` None: what the context's budget keeps for the answer. `window`: the model's, in place
    of the registry's.
    """
    limit = wanted or context.budget.generation or DEFAULT_ANSWER_TOKENS
    pairs = role_text_pairs(context, sent)
    budget = context.budget
    if budget.window is not None:
        needed = count_messages(pairs, budget, tokenizer_from_context(context))
        needed += image_tokens(context)
        left = budget.window - budget.buffer - needed
        if limit > max(left, budget.generation):
            raise BadOption(
                f"max_tokens is {limit}, but the request leaves {left} of the context's window of "
                f"{budget.window}; ask for that at the most, or assemble with max_output={limit}"
            )
    known = find_answer_model(model, window)
    if known is None:
        return limit
    framed = replace(budget, per_message=known.frame[0], per_reply=known.frame[1])
    needed = count_messages(pairs, framed, plugins.tokenizer(known.tokenizer))
    needed += image_tokens(context)
    most = _max_answer_tokens(known, needed)
    if limit <= most:
        return limit
    if wanted is None and most >= MIN_ANSWER_TOKENS:
        return most
    if most < 1 or wanted is None:
        raise BadOption(
            f"the request has {needed} tokens, too many for {known.name!r}: it reads and writes "
            f"{known.window}; assemble with model={known.name!r}, or with a smaller budget"
        )
    raise BadOption(
        f"max_tokens is {limit}, but {known.name!r} can write {most} after a request of {needed}; "
        "ask for that at the most, or assemble with a smaller budget"
    )


def find_answer_model(name: str, window: int | None = None) -> Model | None:
    """The registered model with the caller's window; None if it is unknown.

    A model file states its own tokenizer and chat template.
    """
    if name.startswith(GGUF_PREFIX):
        return _model_from_gguf(name, window)
    plain = registry_name(name)
    found = registry().get(plain) or registry().get(plain.strip().lower())
    if window is None:
        return found
    if found is None:
        return Model(name=plain, window=window)
    return replace(
        found,
        window=window,
        max_input=min(found.max_input, window) if found.max_input else None,
        max_output=min(found.max_output, window) if found.max_output else None,
    )


def _model_from_gguf(name: str, window: int | None) -> Model:
    if window is not None and window > CONTEXT_TOKENS:
        raise BadOption(f"window is {window}; gguf: reads {CONTEXT_TOKENS} tokens at the most")
    frame = get_provider(name.removeprefix(GGUF_PREFIX)).measure_template()
    return Model(name=name, window=window or CONTEXT_TOKENS, tokenizer=name, frame=frame)


def _max_answer_tokens(known: Model, needed: int) -> int:
    """Tokens left for an answer; 0 or less if the request alone is too long."""
    if known.max_input is not None and needed > known.max_input:
        return 0
    left = known.window - needed
    return left if known.max_output is None else min(left, known.max_output)
