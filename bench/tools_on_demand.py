"""Whether the tool that is called next was sent, where definitions have a tenth of their tokens.

    python -m bench.tools_on_demand CONVERSATIONS.jsonl.gz

A line is `{"id", "messages": [OpenAI Chat messages]}`. The tools of the conversations, those of an
airline, are padded to 60 and to 200 by those of other servers. Before each answer of the model,
`compact` chooses from the messages so far. Shares of all calls: *sent*: the definition was sent;
*named*: it was, or `find_tools` names the tool and finds it by its name; *by words*: it was, or the
last words of the person find it. An agent that misses a tool calls `find_tools` with its name:
*unsent*: calls for which it is not sent then either. *over*: requests whose called tools alone took
more than the budget. *changed*: how often the tools changed within a conversation. *reuse*: of the
tokens of tools and messages of a request, the share that the next one begins with.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from bench.bench_compact import Message, read_conversations
from foveate import BudgetTooSmall, Compacted, compact, find_tools
from foveate.core.json_text import compact_json
from foveate.providers.tokenizers import load_tokenizer

names = partial(map, lambda tool: tool["function"]["name"])
HERE = Path(__file__).parent
SIZES, SHARE = (60, 200), 0.1
SCHEMA = "http://json-schema.org/draft-07/schema#"
RETURNS = (
    "Returns JSON with the fields of each object, in pages where there are many. Needs access to "
    "the {server} of the workspace; an error names the permission that is missing. Calls are "
    "limited to 60 a minute; wait and try again when the limit is reached."
)
NEEDED = "Required; give it exactly as an earlier result spells it."
COLUMNS = ("sent", "named", "by words", "unsent", "over", "changed", "reuse")
WINDOW = 10**6
count = lru_cache(maxsize=None)(load_tokenizer("cl100k_base").count)


def read_tools(size: int) -> list[dict[str, Any]]:
    """So many definitions in the form of OpenAI's Chat: those of the airline among the others."""
    airline = list(map(json.loads, (HERE / "airline_tools.jsonl").read_text().splitlines()))
    server, others = "", []
    for line in (HERE / "other_tools.txt").read_text().splitlines():
        if line.startswith("@"):
            server = line[2:]
        elif line:
            others.append(_other_tool(server, *map(str.strip, line.split("|"))))
    wanted = size - len(airline)
    spread = [others[n * len(others) // wanted] for n in range(wanted)]
    known = [*spread[: wanted // 2], *airline, *spread[wanted // 2 :]]
    return [{"type": "function", "function": one} for one in known]


def _other_tool(server: str, name: str, description: str, parameters: str) -> dict[str, Any]:
    """A definition as public servers have them; a parameter with a question mark is optional."""
    fields, required = {}, []
    for given in parameters.split():
        known = given.rstrip("?")
        required += [known] * (known == given)
        more = NEEDED if known == given else "Optional; without it the server's default applies."
        said = f"The {known.replace('_', ' ')} of the {server} server. {more}"
        fields[known] = {"type": "string", "title": known.title(), "description": said,
                         "minLength": 1, "maxLength": 4_096}  # fmt: skip
    schema = {"type": "object", "properties": fields, "required": required,
              "additionalProperties": False, "$schema": SCHEMA}  # fmt: skip
    said = f"{description} {RETURNS.format(server=server)}"
    return {"name": name, "description": said, "parameters": schema}


def send(messages: list[Message], tools: list[Any], budget: int) -> Compacted:
    """What is sent; where the tools that were called need more, with what they need."""
    try:
        return compact(messages, budget=WINDOW, tools=tools, tools_budget=budget)
    except BudgetTooSmall as error:
        return compact(messages, budget=WINDOW, tools=tools, tools_budget=error.needed)


def look_up(name: str, number: int, tools: list[Any]) -> list[Message]:
    """A call of `find_tools` with its result."""
    function = {"name": "find_tools", "arguments": json.dumps({"query": name})}
    call = {"id": f"find_{number}", "type": "function", "function": function}
    found = compact_json(find_tools(name, tools))
    result = {"role": "tool", "tool_call_id": call["id"], "content": found}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, result]


def reused(before: Sequence[str], now: Sequence[str]) -> int:
    """Tokens of the texts that both begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False))
    return sum(count(text) for text, _ in same)


def measure(conversations: Sequence[list[Message]], tools: list[Any]) -> Counter[str]:
    """Counts over all requests of all conversations."""
    budget = int(SHARE * sum(count(compact_json(tool)) for tool in tools))
    seen: Counter[str] = Counter(budget=budget)
    for messages in conversations:
        history: list[Message] = []  # with the calls of `find_tools` that an agent makes
        last: list[str] = []
        for message in messages:
            if message["role"] == "assistant":
                called = [call["function"]["name"] for call in message.get("tool_calls") or ()]
                asked = next(m["content"] for m in reversed(history) if m["role"] == "user")
                made = send(history, tools, budget)
                missing = set(called).difference(names(made.tools))
                seen["calls"] += len(called)
                seen["sent"] += len(called) - len(missing)
                seen["over"] += made.tools_token_count > budget
                for name in missing:
                    found = name in names(find_tools(name, tools, limit=1))
                    seen["named"] += found and name in made.tools[-1]["function"]["description"]
                    seen["by words"] += name in names(find_tools(asked, tools))
                    history += look_up(name, len(history), tools)
                    seen["unsent"] += name not in names(send(history, tools, budget).tools)
                now, size = list(map(compact_json, [*made.tools, *made.messages])), len(made.tools)
                seen["changed"] += bool(last) and now[:size] != last[:size]
                seen["before"] += sum(map(count, last))
                seen["again"] += reused(last, now)
                last = now
            history.append(message)
    return seen


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("conversations", type=Path, help="JSON Lines, .gz too")
    options = parser.parse_args(argv)
    print("| tools | instructions | tokens |", " | ".join(COLUMNS), f"|\n{'|---' * 10}|")
    for size, system in product(SIZES, (True, False)):
        conversations = read_conversations(options.conversations, system=system)
        seen = measure(conversations, read_tools(size))
        shares = (seen["sent"], seen["sent"] + seen["named"], seen["sent"] + seen["by words"])
        cells = [size, "yes" if system else "no", f"{seen['budget']:,}"]
        cells += [f"{share / seen['calls']:.3f}" for share in shares]
        cells += [seen["unsent"], seen["over"], f"{seen['changed'] / len(conversations):.2f}"]
        print(
            f"| {' | '.join(map(str, cells))} | {seen['again'] / seen['before']:.3f} |", flush=True
        )


if __name__ == "__main__":
    main()
