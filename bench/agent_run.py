"""A conversation of sixty turns at an order desk, with its list fitted before each call.

    python -m bench.agent_run

The agent's loop and its tools are real. The model is a script on loopback (`order_desk`), so each
way has the same conversation. The endpoint counts the tokens and what a prefix cache has of them;
the price is the list price of models.toml. `values`: of the argument values of the calls, how many
stood in the request. The folder gets the last two requests and the bundle of the last list.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias
from urllib.request import Request, urlopen

from examples.order_desk import (
    CALLABLE,
    INSTRUCTIONS,
    SCHEMAS,
    TOKENIZER,
    TURNS,
    ScriptedModel,
    scripted_model,
    turns,
)

from bench.bench_compact import Message, clear_results, drop_oldest, texts_of
from foveate import compact
from foveate.cli import main as foveate
from foveate.core.compact.compaction import Compacted
from foveate.core.json_text import compact_json
from foveate.core.types import Decision
from foveate.models import model
from foveate.pipeline.compact_json import compaction_bundle, replay_compaction
from foveate.pipeline.reason_messages import format_decision
from foveate.ports import Usage
from foveate.providers.tokenizers import load_tokenizer

Fit: TypeAlias = Callable[[list[Message]], list[Message]]

MODEL = "gpt-5.1"
BUDGET = 8_000
SHOWN, WIDTH = 4, 88


def converse(fit: Fit) -> ScriptedModel:
    """Ask the model in each turn and call the tools that it names, until it answers."""
    messages = [{"role": "system", "content": INSTRUCTIONS}]
    with scripted_model() as endpoint:
        for turn in turns():
            messages.append({"role": "user", "content": turn.question})
            calls: Sequence[Message] = [{}]
            while calls:
                reply = ask(endpoint.url, fit(messages))
                calls = reply.get("tool_calls", ())
                messages += [reply, *map(result, calls)]
    return endpoint


def ask(url: str, messages: list[Message]) -> Message:
    """The model's message for this list."""
    body = json.dumps({"model": MODEL, "messages": messages, "tools": SCHEMAS}).encode()
    with urlopen(Request(f"{url}/chat/completions", body)) as response:  # noqa: S310  # loopback
        message: Message = json.load(response)["choices"][0]["message"]
    return message


def result(call: Message) -> Message:
    """What the tool gives for a call."""
    function = call["function"]
    content = CALLABLE[function["name"]](**json.loads(function["arguments"]))
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def ways(budget: int, slack: int | None, made: list[Compacted]) -> dict[str, Fit]:
    """Each way at this budget, instructions and tools included; `made` gets what `compact` made."""
    count = lru_cache(maxsize=None)(load_tokenizer(TOKENIZER).count)
    beside = count(INSTRUCTIONS) + sum(count(compact_json(tool)) for tool in SCHEMAS)

    def fit(messages: list[Message]) -> list[Message]:
        asked = {"budget": budget, "slack": slack, "tools": SCHEMAS, "tokenizer": TOKENIZER}
        made.append(compact(messages, **asked))
        return [dict(message) for message in made[-1].messages]

    def behind(cut: Callable[..., list[Message]]) -> Fit:
        return lambda messages: [messages[0], *cut(messages[1:], budget - beside, count)]

    return {
        "the whole list": list,
        "dropping the oldest": behind(drop_oldest),
        "clearing tool results": behind(clear_results),
        "foveate.compact": fit,
    }


def row(endpoint: ScriptedModel) -> str:
    """What the endpoint counted, as cells of a table."""
    usage = [
        Usage(
            prompt=one["prompt_tokens"],
            completion=one["completion_tokens"],
            cached=one["prompt_tokens_details"]["cached_tokens"],
        )
        for one in endpoint.usage
    ]
    sent = sum(one.prompt for one in usage)
    largest = max(one.prompt for one in usage)
    cached = sum(one.cached for one in usage) / sent
    price = sum(model(MODEL).cost(one) for one in usage)
    values = f"{endpoint.found} of {endpoint.needed}"
    return f"{sent:,} | {largest:,} | {cached:.0%} | {price:.3f} | {values}"


def became(made: Compacted) -> Iterator[str]:
    """How many messages stayed, changed and left, why, and their tokens before and after."""
    groups: dict[tuple[str, str], list[Decision]] = {}
    for decision in made.decisions:
        groups.setdefault((decision.action, decision.reason), []).append(decision)
    for (action, reason), found in groups.items():
        before, after = (
            sum(one.numbers.get(key, 0) for one in found) for key in ("tokens", "shown")
        )
        yield f"{len(found):>4} {action:<8} {reason:<18} {before:>6,} tokens, {after:>5,} sent"


def excerpt(made: Compacted) -> Iterator[str]:
    """Messages that came, with their decisions, and the beginning of what is sent."""
    came = list(zip(made.source, made.decisions, strict=True))
    changed = [one for one in came if one[1].action == "changed"]
    for some in (came[:SHOWN], changed[:1], came[-SHOWN:]):
        for message, decision in some:
            yield line(decision.chunk_id, message)
            yield f"{'':13}{decision.action}: {format_decision(decision)}"
        yield ""
    yield "what is sent"
    for place, message in list(zip(made.places, made.messages, strict=True))[:SHOWN]:
        is_ledger = made.ledger in texts_of(message)
        yield line(f"message {place + 1}" if place >= 0 else "ledger" * is_ledger, message)
        if is_ledger:
            yield from (clip(f"{'':23}{part}") for part in made.ledger.splitlines()[1 : 1 + SHOWN])
    yield f"[… {len(made.messages) - SHOWN} more messages]"


def line(name: str, message: Message) -> str:
    """The first line of a message."""
    texts = [text for text in texts_of(message) if text]
    return clip(f"{name:<13}{message['role']:<10}{texts[0].partition(chr(10))[0]}")


def clip(text: str) -> str:
    """The text, no wider than a terminal."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 2]} …"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table, and what became of the last list."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--budget", type=int, default=BUDGET, help=f"tokens (default: {BUDGET:,})")
    parser.add_argument("--slack", type=int, help="of foveate.compact (default: by the budget)")
    parser.add_argument("--out", type=Path, default=Path("build", "desk"), help="a folder")
    options = parser.parse_args(argv)
    made: list[Compacted] = []
    print("| way | tokens sent | largest request | from the cache | US dollars | values |")
    print("|---|---|---|---|---|---|")
    for name, fit in ways(options.budget, options.slack, made).items():
        endpoint = converse(fit)
        print(f"| {name} | {row(endpoint)} |")
    verdicts = Counter(str(replay_compaction(compaction_bundle(one))) for one in made)
    print(*(f"\n{number} lists replayed: {said}" for said, number in verdicts.items()))
    print(f"\nthe last list, of turn {TURNS}", *became(made[-1]), "", *excerpt(made[-1]), sep="\n")
    options.out.mkdir(parents=True, exist_ok=True)
    before, last, bundle = (options.out / f"{n}.json" for n in ("before", "request", "bundle"))
    written = (*endpoint.requests[-2:], compaction_bundle(made[-1]))
    for file, value in zip((before, last, bundle), written, strict=True):
        file.write_text(json.dumps(value), encoding="utf-8")
    counted = ("--before", str(before), "--tokenizer", TOKENIZER)
    for command in (("bill", str(last), *counted), ("replay", str(bundle))):
        print("\n$ foveate", *command, flush=True)
        foveate(command)


if __name__ == "__main__":
    main()
