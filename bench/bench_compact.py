"""What is left of a conversation that is cut to a budget: `compact` beside simpler ways.

    python -m bench.bench_compact CONVERSATIONS.jsonl.gz

A line is `{"id", "messages": [OpenAI Chat messages]}`. At each call of a tool whose history is over
the budget, the history is cut. Of the call's argument values (four characters or more, with a digit
or an underscore) that stand in the history, the table has the share that still stands in what is
sent. Instructions in front are sent whole and are not counted. Nothing here calls a model. If
langchain is installed, its summarising middleware has a row.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, cycle
from pathlib import Path
from timeit import repeat
from typing import Any, TypeAlias

from foveate import Budget, BudgetTooSmall, Session, compact, converse, observed, proceed
from foveate.core.compact.measured import MeasuredList
from foveate.core.compact.openai_chat import OPENAI_CHAT
from foveate.pipeline.bill import bill
from foveate.pipeline.conversation import Conversation
from foveate.providers.tokenizers import load_tokenizer

Message: TypeAlias = dict[str, Any]
Cut: TypeAlias = Callable[[list[Message], int], list[Message]]
Count: TypeAlias = Callable[[str], int]

BUDGETS = (750, 1_500, 3_000)
REUSE_BUDGET = 8_000
GO_ON = "Go on."
SUMMARISING = "LangChain SummarizationMiddleware, scripted"
CLEARED = "[result cleared]"
RECENT_RESULTS = 3
"""Results that clearing leaves, as the providers' own clearing does by default."""

count = lru_cache(maxsize=None)(load_tokenizer("cl100k_base").count)


def total(messages: Sequence[Message], count: Count = count) -> int:
    """Tokens of their contents and arguments."""
    return sum(count(text) for message in messages for text in texts_of(message))


def drop_oldest(messages: list[Message], budget: int, count: Count = count) -> list[Message]:
    """Messages from the front leave until the rest fits and begins with no result."""
    kept = list(messages)
    while kept and (total(kept, count) > budget or kept[0]["role"] == "tool"):
        kept.pop(0)
    return kept


def clear_results(messages: list[Message], budget: int, count: Count = count) -> list[Message]:
    """All results but the last three are cleared, oldest first; then the oldest leave."""
    kept = list(messages)
    places = [n for n, m in enumerate(kept) if m["role"] == "tool"][:-RECENT_RESULTS]
    for n in places:
        if total(kept, count) <= budget:
            break
        kept[n] = {**kept[n], "content": CLEARED}
    return drop_oldest(kept, budget, count)


def langchain_trim(messages: list[Message], budget: int) -> list[Message]:
    """LangChain's `trim_messages`, beginning with a message of the user."""
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages
    from langchain_core.messages.utils import trim_messages

    known = convert_to_messages(messages)
    kept = trim_messages(
        known,
        max_tokens=budget,
        token_counter=lambda some: total(convert_to_openai_messages(some)),
        strategy="last",
        start_on="human",
        allow_partial=False,
    )
    return convert_to_openai_messages(kept)


def langchain_summarise(messages: list[Message], budget: int) -> list[Message]:
    """LangChain's `SummarizationMiddleware`: half of the budget is kept, the rest summarised.

    In place of a model, a script writes the first words of the newest messages that leave, in a
    quarter of the budget; the whole history is summarised at once, from the originals.
    """
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    def counted(some: Any) -> int:
        return total(convert_to_openai_messages(list(some)))

    def script(some: Any) -> str:
        heads = [" ".join(text_of([m]).split()[:12]) for m in convert_to_openai_messages(some)]
        while heads and count("\n".join(heads)) > budget // 4:
            heads.pop(0)
        return "\n".join(heads)

    made = SummarizationMiddleware(
        FakeListChatModel(responses=[""]),
        trigger=("tokens", budget),
        keep=("tokens", budget // 2),
        token_counter=counted,
        summarizer=script,
    ).before_model({"messages": convert_to_messages(messages)}, None)
    # the first says that all before are removed
    return convert_to_openai_messages(made["messages"][1:]) if made else messages


def compacted(messages: list[Message], budget: int) -> list[Message]:
    """`foveate.compact`."""
    return [dict(message) for message in compact(messages, budget=budget).messages]


def compacted_again(messages: list[Message], budget: int) -> list[Message]:
    """The same by an agent that goes on with what came out: cut before each call of a tool."""
    sent: list[Message] = []
    start = 0
    places = [n for n, message in enumerate(messages) if message.get("tool_calls")]
    for end in (*places, len(messages)):
        sent, start = compacted(sent + messages[start:end], budget), end
    return sent


def conversed(messages: list[Message], budget: int) -> list[Message]:
    """The history that `converse` sends in a zone of that size."""
    zone = Budget(window=None, conversation=budget, documents=1)
    made = converse(GO_ON, turns=messages, budget=zone, zones=False)
    return _history_of(made)


def proceeded(messages: list[Message], budget: int) -> list[Message]:
    """The history that `proceed` sends, turn by turn: a request for each question of a person."""
    zone = Budget(window=None, conversation=budget, documents=1)
    session = Session()
    places = [n for n, m in enumerate(messages) if m["role"] == "user" and n]
    start = 0
    for end in [*places, len(messages)]:
        session = session.with_turns(*messages[start:end])
        asked = messages[end]["content"] if end < len(messages) else GO_ON
        made = proceed(session, asked, budget=zone, zones=False)
        session, start = made.session, end + 1
    return _history_of(made.conversation)


class Counted(list[Message]):
    """A history with its tokens as its way counts them: framing, roles and ids are in the zone."""

    tokens: int


def _history_of(made: Conversation) -> list[Message]:
    sent = Counted(made.openai())
    sent.tokens = made.tokens["conversation"]
    sent[-1] = {**sent[-1], "content": sent[-1]["content"].removesuffix(GO_ON)}
    return sent


WAYS: dict[str, Cut] = {
    "dropping the oldest": drop_oldest,
    "clearing tool results": clear_results,
    "LangChain trim_messages": langchain_trim,
    **({SUMMARISING: langchain_summarise} if find_spec("langchain") else {}),
    "foveate.compact": compacted,
    "foveate.compact of what it gave": compacted_again,
    "foveate.converse": conversed,
    "foveate.proceed": proceeded,
}


def values_of(call: Message) -> list[str]:
    """The argument values of a call that a history must still have."""
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return []
    return [v for v in _leaves(arguments) if len(v) > 3 and any(c.isdigit() or c == "_" for c in v)]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def texts_of(message: Message) -> list[str]:
    """A message's content and the arguments of its calls."""
    calls = message.get("tool_calls") or ()
    return [message.get("content") or "", *(call["function"]["arguments"] for call in calls)]


def text_of(messages: Sequence[Message]) -> str:
    """All that a model reads of them."""
    return "\n".join(text for message in messages for text in texts_of(message))


def orphans(messages: Sequence[Message]) -> int:
    """Calls without a result and results without a call; the next call may wait at the end."""
    waiting: list[str] = []
    wrong = 0
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                wrong += 1
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    return wrong + len(waiting)


@dataclass(slots=True)
class Figures:
    """What one way did at one budget."""

    kept: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    orphans: int = 0
    over: int = 0
    refused: int = 0

    def row(self) -> str:
        """The figures as cells of a table."""
        kept = f"{statistics.mean(self.kept):.3f}" if self.kept else "-"
        used = f"{statistics.mean(self.used):.2f}" if self.used else "-"
        return f"{kept} | {used} | {self.orphans} | {self.over} | {self.refused}"


def cut_histories(cut: Cut, conversations: Sequence[list[Message]], budget: int) -> Figures:
    """The figures of one way at one budget, over every call of every conversation."""
    figures = Figures()
    for messages in conversations:
        for place, message in enumerate(messages):
            history = messages[:place]
            if not message.get("tool_calls") or total(history) <= budget:
                continue
            before = text_of(history)
            try:
                sent = cut(history, budget)
            except BudgetTooSmall:
                figures.refused += 1
                continue
            after = text_of(sent)
            tokens = sent.tokens if isinstance(sent, Counted) else total(sent)
            figures.used.append(tokens / budget)
            figures.over += tokens > budget
            figures.orphans += orphans(sent)
            for call in message["tool_calls"]:
                if needed := [value for value in values_of(call) if value in before]:
                    figures.kept.append(statistics.mean(value in after for value in needed))
    return figures


def reuse(conversations: Sequence[list[Message]], budget: int) -> tuple[float, int]:
    """Of the tokens sent before, the share that is sent again as they were; and the requests.

    A request is made wherever a person or a tool spoke last. What counts is the common beginning
    of two requests, as for a provider's prefix cache.
    """
    again = before = requests = 0
    for messages in conversations:
        last: list[Message] = []
        for end in range(1, len(messages) + 1):
            if messages[end - 1]["role"] not in ("user", "tool"):
                continue
            sent = compacted(messages[:end], budget)
            if last:
                broken = bill(sent, before=last).prefix
                again += broken.reused if broken else total(last)
            before += total(last)
            requests += bool(last)
            last = sent
    return again / max(before, 1), requests


PAGES, RUNS = 67, 10
"""Of the long list, and how often it is cut."""


def seconds(messages: list[Message], budget: int) -> float:
    """The least of the runs over a list whose texts were counted before."""
    return min(repeat(lambda: compact(messages, budget=budget), repeat=RUNS + 1, number=1)[1:])


def long_list(conversations: Sequence[list[Message]]) -> list[Message]:
    """About 200 messages and 100,000 tokens: what is read becomes larger, page by page."""
    texts = [
        text for one in conversations for m in one if len(text := m.get("content") or "") > 200
    ]
    found: list[Message] = []
    for n in range(PAGES):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        page, some = "", cycle(texts[n % len(texts) :: PAGES])
        while count(page) < 1_400:
            page += f"{next(some)} {n}\n"
        found += [
            {"role": "user", "content": f"Read page {n} and go on."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": page},
        ]
    return found


def read_conversations(path: Path, *, system: bool = False) -> list[list[Message]]:
    """The messages of every line, without the instructions in front unless `system`."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file if line.strip()]
    return [
        [m for m in record["messages"] if system or m["role"] != "system"] for record in records
    ]


PROVIDERS: dict[str, Callable[[str], int]] = {
    "o200k_base": load_tokenizer("o200k_base").count,
    "one token a digit": lambda text: count(re.sub(r"\d", "", text)) + len(re.findall(r"\d", text)),
    "pieces of four letters": lambda text: (
        sum(-(-len(word) // 4) for word in re.findall(r"\w+", text))
        + len(re.findall(r"[^\w\s]", text))
    ),
}
"""Simulated providers, which count otherwise than `count` does."""
OBSERVED = 10


def corrected_counts(
    conversations: Sequence[list[Message]], provider: Callable[[str], int], start: str
) -> list[float]:
    """By how much lists are counted too high, as shares, once ten others were observed."""

    def counted(messages: list[Message], count: Callable[[str], int]) -> int:
        return MeasuredList(entries=OPENAI_CHAT.parse(messages), count=count).total

    counter: Any = start
    for messages in conversations[:OBSERVED]:
        usage = {"prompt_tokens": counted(messages, provider)}
        counter = observed(usage, messages, tokenizer=counter)
    return [
        counted(part, counter.count) / counted(part, provider) - 1
        for messages in conversations[OBSERVED:]
        for part in (messages[: len(messages) // 2], messages)
        if part
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("conversations", type=Path, help="JSON Lines, .gz too")
    options = parser.parse_args(argv)
    conversations = read_conversations(options.conversations)
    print("| way | budget | values kept | budget used | orphans | over | refused |")
    print("|---|---|---|---|---|---|---|")
    for budget in BUDGETS:
        for name, cut in WAYS.items():
            print(f"| {name} | {budget:,} | {cut_histories(cut, conversations, budget).row()} |")
    print()
    chained = [list(chain(*conversations[n : n + 10])) for n in range(0, len(conversations), 10)]
    for name, known in (("as recorded", conversations), ("ten in a row", chained)):
        share, requests = reuse(known, REUSE_BUDGET)
        print(f"reuse at {REUSE_BUDGET:,} tokens, {name}: {share:.3f} over {requests:,} requests")
    large = long_list(conversations)
    for part in (large[: len(large) // 2], large):
        took = seconds(part, REUSE_BUDGET) * 1_000
        print(f"{len(part)} messages, {total(part):,} tokens: {took:.1f} ms")
    for name, provider in PROVIDERS.items():
        for start in ("cl100k_base", "cl100k_base*1.3", "cl100k_base*1.7"):
            if over := corrected_counts(conversations, provider, start):
                low = [-share for share in over if share < 0]
                print(
                    f"counts, provider {name}, {start}: {statistics.mean(over):.3f} too high, "
                    f"{len(low)} of {len(over)} too low (by {max(low, default=0):.3f} at most)"
                )


if __name__ == "__main__":
    main()
