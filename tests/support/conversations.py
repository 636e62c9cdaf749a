"""Random conversations of our own words, and an own count of what is sent."""

from __future__ import annotations

import json
from random import Random
from typing import Any

WORDS = (
    *("pump", "valve", "boiler", "filter", "pressure", "winter", "drain", "water", "bar", "litre"),
    *("engineer", "Tuesday", "March", "2024", "3.5", "kg", "twelve", "why", "<|endoftext|>", "[2]"),
    *("温度", "مضخة", "Kühlung", "naïve", "👩\u200d🚒", "rattles", "opens", "closes"),
)


def sentence(random: Random, most: int = 9) -> str:
    """A few words and a full stop."""
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, most))) + "."


def text(random: Random, most: int = 4) -> str:
    """A few sentences, now and then in paragraphs."""
    glue = random.choice((" ", " ", "\n\n"))
    return glue.join(sentence(random) for _ in range(random.randint(1, most)))


def openai(random: Random, turns: int) -> list[dict[str, Any]]:
    """Messages of up to so many turns: questions, answers, calls of tools with their results."""
    found: list[dict[str, Any]] = []
    if random.random() < 0.3:
        found.append({"role": random.choice(("system", "developer")), "content": text(random, 2)})
    made = 0
    while made < turns:
        found.append({"role": "user", "content": text(random, 3)})
        made += 1
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            ids = [f"call_{made}_{n}" for n in range(random.randint(1, 2))]
            calls = [
                {
                    "id": name,
                    "type": "function",
                    "function": {
                        "name": "search",
                        "arguments": json.dumps({"q": sentence(random, 3)}),
                    },
                }
                for name in ids
            ]
            found.append({"role": "assistant", "content": None, "tool_calls": calls})
            found += (
                {"role": "tool", "tool_call_id": name, "content": text(random, 7)}
                for name in random.sample(ids, len(ids))
            )
            made += 1
        found.append({"role": "assistant", "content": text(random)})
        made += 1
    return found


def chunks(random: Random) -> list[dict[str, Any]]:
    """Up to six candidates."""
    return [
        {
            "id": f"c{n}",
            "source": f"manual{n % 3}.md",
            "sequence": n,
            "score": round(random.random(), 3),
            "text": f"{n}: {text(random, 6)}",
        }
        for n in range(random.randint(0, 6))
    ]


def counted(messages: list[dict[str, Any]], budget: Any, tokenizer: Any) -> int:
    """Tokens of messages as they are sent, by the rule of `docs/conversations.md`."""
    total = budget.per_reply
    for message in messages:
        parts = [message["content"] or ""]
        parts += [
            json.dumps(call, ensure_ascii=False, separators=(",", ":"))
            for call in message.get("tool_calls", ())
        ]
        parts.append(message.get("tool_call_id", ""))
        said = "\n".join(part for part in parts if part)
        total += budget.per_message + tokenizer.count(message["role"]) + tokenizer.count(said)
    return total
