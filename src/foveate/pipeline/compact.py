"""The way in for message lists of agents: `compact`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from foveate import plugins
from foveate.core.checks import check_principals
from foveate.core.compact.compaction import Compacted, CompactOptions, compact_messages
from foveate.core.compact.forms import check_messages
from foveate.core.compact.search import search_originals
from foveate.core.compact.shorten import is_part_of, noted_handle, shorten_result
from foveate.core.compact.tool_search import find_tools
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.core.seal import content_hash
from foveate.core.typed import check_arguments
from foveate.models import Model
from foveate.models import model as model_named
from foveate.providers.tokenizers.counts import counts_for
from foveate.stores.originals import OriginalStore, unknown_handle

__all__ = ["CompactOptions", "Compacted", "OriginalStore", "compact", "expand", "find_tools"]

DEFAULT_TOKENIZER = "cl100k_base"
EXPAND_TOKENS = 2_000
"""Tokens of an original that are shown where no budget is given."""
MAX_OUTPUT = 4_096
"""Tokens of a model's window that are kept for its answer where only the model is named."""
SHORT = 24
"""Characters; counting so short a text is quicker than looking its count up."""


@check_arguments("messages", "budget")
def compact(
    messages: Iterable[Mapping[str, Any]],
    budget: int | None = None,
    *,
    tools: Iterable[Mapping[str, Any]] = (),
    tools_budget: int | None = None,
    model: str | Model | None = None,
    tokenizer: str | Tokenizer | None = None,
    query: str | None = None,
    pinned: Sequence[int] = (),
    form: str | None = None,
    slack: int | None = None,
) -> Compacted:
    r"""A message list that fits the budget, of the same kind as the one that came in.

    `messages`: OpenAI Chat messages, items of OpenAI's Responses API, Anthropic messages or Gemini
    contents. `budget`: tokens of their texts, arguments and other parts as they are sent, and of
    `tools`. Without a budget, it is what the `model`'s window leaves for input. `tools_budget`:
    tokens for `tools` within the budget: those that were called or are likely to be needed are sent
    whole, and one more tool, `find_tools`, names the others. `query`: what tool results are
    shortened for. `pinned`: places of messages that stay verbatim. `form`: `openai`, `responses`,
    `anthropic` or `gemini`, where it cannot be told. `slack`: as in `CompactOptions`.

    >>> said = [
    ...     {"role": "user", "content": "Book HAT097 for me. " * 9},
    ...     {"role": "assistant", "content": "Done. The booking is G72NSF."},
    ...     {"role": "user", "content": "Thanks! Which day is it?"},
    ... ]
    >>> for message in compact(said, budget=60).messages:
    ...     print(message["role"], "|", message["content"])
    user | [Ledger: message 1 left this list. Data only, by origin.]
    ...

    Raises `BadInput`, `BadOption`, `UnknownName`, or `BudgetTooSmall`, whose `needed` does.
    """
    source = check_messages(messages)
    known = model_named(model) if isinstance(model, str) else model
    frame = 0
    if budget is None:
        if known is None:
            raise BadOption("compact: give budget= in tokens, or model= to use its window")
        frame = known.frame[0]
        budget = _window(known) - known.frame[1]
    if tokenizer is None:
        tokenizer = known.tokenizer if known is not None else DEFAULT_TOKENIZER
    counter = plugins.tokenizer(tokenizer)
    options = CompactOptions(
        budget=budget,
        query=query or "",
        pinned=tuple(pinned),
        form=form,
        slack=slack,
        frame=frame,
        tools_budget=tools_budget,
    )
    return compact_messages(
        source,
        options,
        tokenizer=counter,
        count=token_counter(counter),
        tools=tuple(tools),
    )


@check_arguments("budget")
def expand(
    handle: str,
    originals: Mapping[str, str] | OriginalStore,
    *,
    query: str = "",
    budget: int = EXPAND_TOKENS,
    tokenizer: str | Tokenizer | None = None,
    tenant: str = "",
    principals: Iterable[str] = (),
) -> str:
    """More of an original: all of it, or what fits the query in at most `budget` tokens.

    `handle`: as a note or the ledger names it; empty: all originals are searched for the query, and
    what the best say of it is shown, each under its handle; nothing if none has a word of it.
    `originals`: `Compacted.originals`, or a store of them, which is read as `tenant` and
    `principals`. Of what was shortened twice, the text that came first is given if it is there.
    Raises `BadInput` for a handle that is not there, `BadOption`, `BudgetTooSmall`.
    """
    if type(budget) is not int or budget < 1:
        raise BadOption(f"expand: budget is {budget!r}; it must be 1 or more")
    if not handle and not query.strip():
        raise BadOption("expand: give a handle, or a query to search all originals for")

    readers = check_principals(principals)
    count = token_counter(plugins.tokenizer(tokenizer or DEFAULT_TOKENIZER))
    if not handle:
        texts = originals
        if not isinstance(texts, Mapping):
            texts = texts.texts(tenant=tenant, principals=readers)
        return search_originals(texts, query, budget, count)

    def read(handle: str) -> str:
        if not isinstance(originals, Mapping):
            return originals.get(handle, tenant=tenant, principals=readers)
        if handle not in originals:
            raise unknown_handle(handle)
        return originals[handle]

    text = _first_original(handle, read)
    if count(text) <= budget:
        return text
    shown, _, _ = shorten_result(text, query, budget, count)
    if (needed := count(shown)) > budget:
        raise BudgetTooSmall(budget, needed, what="the note of a shortened original")
    return shown


def _first_original(handle: str, read: Callable[[str], str]) -> str:
    """The text behind a handle; if that is a shortened one, what it was made of, if that is known.

    A note at the end of a text may be forged, so it is followed only to what holds all of the text.
    """
    text, seen = read(handle), {"", handle}
    while (earlier := noted_handle(text)) not in seen:
        seen.add(earlier)
        try:
            original = read(earlier)
        except BadInput:
            break
        if not is_part_of(text, original):
            break
        text = original
    return text


def _window(model: Model) -> int:
    kept = min(MAX_OUTPUT, model.max_output or MAX_OUTPUT, model.window // 4)
    return min(model.window - kept, model.max_input or model.window)


def token_counter(tokenizer: Tokenizer) -> Callable[[str], int]:
    """Counts texts, each longer one once in this process."""
    known = counts_for(tokenizer.fingerprint)

    def count(text: str) -> int:
        if len(text) < SHORT:
            return tokenizer.count(text) if text else 0
        key = content_hash(text)
        found = known.get(key)
        if found is None:
            found = known[key] = tokenizer.count(text)
        return found

    return count
