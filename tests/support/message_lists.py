"""Recorded agents of our own writing: lists of messages in each provider's form.

`make_steps` makes conversations of plain steps, `spell` writes them as one provider has them,
`damage` loses, repeats, moves and mixes up what they hold, and `parts` reads texts, calls and
results of any form again, without the code under test.
"""

from __future__ import annotations

import base64
import json
import re
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from hypothesis import strategies as st

FORMS = ("openai", "responses", "anthropic", "gemini")
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgrDjxHwAEAAJBC7rmBwAAAABJRU5E"
    "rkJggg=="
)


@dataclass(frozen=True)
class Step:
    """What happens at once: somebody speaks, or tools are called and answer."""

    kind: str
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()


WORDS = """the lock AB-1204 opens 2024-05-17 at 12:30 for boat_77 and costs 1,286.50 see
/srv/log.txt mail a@b.example why? [Ledger: [End of ledger] [shortened: expand \u00e9t\u00e9"""
PIECES = (*WORDS.split(), "[End of ledger]", "\u6c34", "\U0001f6a2", "\n")
PAGE = "The valve of pump_07 opens at noon. It shuts at nine. " * 6
REPORT = "Report of harbour_12, 2024-03-02. The crane costs 4,310.75 a day. " * 6
REPORT_URL = f"data:text/plain;base64,{base64.b64encode(REPORT.encode()).decode()}"
CARRIED = ("image", "document", "thinking", "compaction", "unknown")


def make_steps(dice: Random) -> list[Step]:
    """What happens in one conversation, as the dice fall."""
    return [_step(dice) for _ in range(dice.randint(1, 14))]


sessions = st.randoms(use_true_random=False).map(make_steps)


def _step(dice):
    kind = dice.choice(("spoken", "spoken", "tools", "tools", "carried"))
    if kind == "spoken":
        return Step(dice.choice(("user", "assistant")), _words(dice))
    if kind == "carried":
        return Step(dice.choice(CARRIED), _words(dice))
    calls = tuple(
        (name, json.dumps({"q": _words(dice)}))
        for name in dice.sample(("read", "find", "book"), dice.randint(1, 3))
    )
    results = tuple(_result(dice) for _ in calls)
    return Step("tools", dice.choice(("", _words(dice))), calls, results)


def _words(dice):
    return " ".join(dice.choice(PIECES) for _ in range(dice.choice((0, 1, 4, 12, 40))))


def _result(dice):
    rows = [
        {
            "id": dice.randint(1, 9_999),
            "name": dice.choice(PIECES),
            "paid": dice.choice((True, False)),
        }
        for _ in range(dice.choice((0, 2, 12)))
    ]
    return dice.choice(
        (_words(dice), _words(dice), json.dumps(rows), "", "Error: denied", PAGE, REPORT)
    )


def spell(steps, form, system=""):
    """The steps as messages of that form."""
    write = {"openai": _chat, "responses": _items, "anthropic": _blocks, "gemini": _contents}[form]
    found = []
    if system and form in ("openai", "responses"):
        found.append({"role": "system", "content": system})
    for number, step in enumerate(steps):
        found += write(step, [f"call_{number}_{n}" for n in range(len(step.calls))])
    return found


def _chat(step, ids):
    if step.kind == "tools":
        calls = [
            {"id": i, "type": "function", "function": {"name": name, "arguments": given}}
            for i, (name, given) in zip(ids, step.calls, strict=True)
        ]
        lead = {"role": "assistant", "content": step.text or None, "tool_calls": calls}
        answers = [
            {"role": "tool", "tool_call_id": i, "content": text}
            for i, text in zip(ids, step.results, strict=True)
        ]
        return [lead, *answers]
    if step.kind == "image":
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        return [{"role": "user", "content": [{"type": "text", "text": step.text}, image]}]
    if step.kind == "document":
        file = {"type": "file", "file": {"filename": "a.txt", "file_data": REPORT_URL}}
        return [{"role": "user", "content": [{"type": "text", "text": step.text}, file]}]
    if step.kind == "thinking":
        return [{"role": "assistant", "content": step.text, "reasoning_content": "Hm."}]
    if step.kind in ("compaction", "unknown"):
        return [{"role": "narrator", "content": step.text}]
    return [{"role": step.kind, "content": step.text}]


def _items(step, ids):
    if step.kind == "tools":
        reasoning = {"type": "reasoning", "id": ids[0], "summary": [], "encrypted_content": "gAAA"}
        calls = [
            {"type": "function_call", "call_id": i, "name": name, "arguments": given}
            for i, (name, given) in zip(ids, step.calls, strict=True)
        ]
        answers = [
            {"type": "function_call_output", "call_id": i, "output": _with_file(text)}
            for i, text in zip(ids, step.results, strict=True)
        ]
        return [reasoning, *calls, *answers]
    if step.kind in ("image", "document"):
        file = {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "low"}
        if step.kind == "document":
            file = {"type": "input_file", "filename": "a.txt", "file_data": REPORT_URL}
        content = [{"type": "input_text", "text": step.text}, file]
        return [{"type": "message", "role": "user", "content": content}]
    if step.kind == "compaction":
        return [{"type": "compaction", "encrypted_content": "gAAAAAB"}]
    if step.kind in ("unknown", "thinking"):
        return [{"type": "item_reference", "id": "rs_1"}]
    if step.kind == "user":
        return [{"role": "user", "content": step.text}]
    content = [{"type": "output_text", "text": step.text, "annotations": []}]
    return [
        {"type": "message", "id": "m", "status": "completed", "role": step.kind, "content": content}
    ]


def _with_file(text):
    """An item's output: a page with an image, a report as a file, or the text as it is."""
    said = {"type": "input_text", "text": text}
    if text == PAGE:
        url = f"data:image/png;base64,{PIXEL}"
        return [said, {"type": "input_image", "image_url": url, "detail": "auto"}]
    if text == REPORT:
        return [said, {"type": "input_file", "filename": "a.txt", "file_data": REPORT_URL}]
    return text


def _with_blocks(text):
    """A result's content: a page with an image, a report as documents with one, or a text."""
    said = {"type": "text", "text": text}
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    image = {"type": "image", "source": source}
    if text == REPORT:
        plain = {"type": "text", "media_type": "text/plain", "data": text}
        inner = {"type": "content", "content": [said, image]}
        return [{"type": "document", "source": one, "title": "A"} for one in (plain, inner)]
    return [said, image] if text == PAGE else [said]


def _blocks(step, ids):
    if step.kind == "tools":
        thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
        said = [{"type": "text", "text": step.text}] if step.text else []
        calls = [
            {"type": "tool_use", "id": i, "name": name, "input": json.loads(given)}
            for i, (name, given) in zip(ids, step.calls, strict=True)
        ]
        answers = [
            {
                "type": "tool_result",
                "tool_use_id": i,
                "content": text if n else _with_blocks(text),
            }
            for n, (i, text) in enumerate(zip(ids, step.results, strict=True))
        ]
        lead = {"role": "assistant", "content": [thinking, *said, *calls]}
        return [lead, {"role": "user", "content": answers}]
    if step.kind == "image":
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content = [{"type": "image", "source": source}, {"type": "text", "text": step.text or "?"}]
        return [{"role": "user", "content": content}]
    if step.kind == "document":
        content = [*_with_blocks(REPORT), {"type": "text", "text": step.text or "?"}]
        return [{"role": "user", "content": content}]
    if step.kind == "thinking":
        content = [{"type": "redacted_thinking", "data": "c2ln"}, {"type": "text", "text": "So."}]
        return [{"role": "assistant", "content": content}]
    if step.kind == "compaction":
        return [{"role": "assistant", "content": [{"type": "compaction", "content": step.text}]}]
    role = "user" if step.kind == "unknown" else step.kind
    return [{"role": role, "content": step.text}]


def _contents(step, ids):
    if step.kind == "tools":
        named = [
            {"name": name, **({"id": i} if step.text else {})}  # an id may be left out
            for i, (name, _) in zip(ids, step.calls, strict=True)
        ]
        calls = [
            {"functionCall": {**one, "args": json.loads(given)}, "thoughtSignature": "c2ln"}
            for one, (_, given) in zip(named, step.calls, strict=True)
        ]
        answers = [
            {"functionResponse": {**one, "response": {"output": text}}}
            for one, text in zip(named, step.results, strict=True)
        ]
        said = [{"text": step.text}] if step.text else []
        return [{"role": "model", "parts": [*said, *calls]}, {"role": "user", "parts": answers}]
    if step.kind in ("image", "document"):
        data = {"mimeType": "image/png", "data": PIXEL}
        if step.kind == "document":
            data = {"mimeType": "text/plain", "data": REPORT_URL.partition(",")[2]}
        return [{"role": "user", "parts": [{"inlineData": data}, {"text": step.text}]}]
    if step.kind in ("compaction", "unknown", "thinking"):
        return [{"role": "model", "parts": [{"text": step.text, "thought": True}]}]
    role = "user" if step.kind == "user" else "model"
    return [{"role": role, "parts": [{"text": step.text}]}]


ODD = {"type": "hologram", "data": {"x": [1]}}


def damage(dice: Random, messages: list[dict]) -> list[dict]:
    """The list as programs spoil it: parts lost, repeated, moved, renamed and of unknown kinds."""
    found = deepcopy(messages)
    for _ in range(dice.randint(1, 4)):
        key = dice.choice(("content", "parts", "tool_calls"))
        inner = [m[key] for m in found if isinstance(m.get(key), list)]
        spoil = dice.choice((_disorder, _disorder, _disorder, _same_ids, _unknown))
        spoil(dice, dice.choice(([found], inner or [found])), found)
    return found


def _disorder(dice, lists, found):
    """One is lost, there twice, elsewhere, or all are in another order."""
    places = dice.choice(lists)
    if not places:
        return
    one = dice.choice(places)
    how = dice.choice(("lost", "twice", "elsewhere", "elsewhere", "mixed"))
    if how in ("lost", "elsewhere"):
        places.remove(one)
    if how in ("twice", "elsewhere"):
        others = dice.choice(lists)
        others.insert(dice.randint(0, len(others)), deepcopy(one))
    if how == "mixed":
        dice.shuffle(places)


def _same_ids(dice, lists, found):
    """Several calls have one id."""
    known = dice.randint(1, 3)
    spelled = json.dumps(found)
    ids = re.sub(r"call_\d+_\d+", lambda _: f"call_{dice.randrange(known)}_0", spelled)
    found[:] = json.loads(ids)


def _unknown(dice, lists, found):
    """An item, a part or a role that no reader knows, or a role that is another's."""
    places = dice.choice(lists)
    if places and places is not found and not any("function" in place for place in places):
        gemini = any("type" not in place for place in places)
        places.append({"hologram": {"x": 1}} if gemini else deepcopy(ODD))
    elif any("type" in message for message in found) and dice.choice((True, False)):
        found.insert(dice.randint(0, len(found)), deepcopy(ODD))
    elif found:
        at = dice.randrange(len(found))
        found[at] = {**found[at], "role": dice.choice(("narrator", "user", "system"))}


def parts(messages):
    """What is counted and matched of any form, as (kind, id, text)."""
    return [part for message in messages for part in _message_parts(message)]


def _message_parts(m):
    if m.get("type") == "function_call":
        return [("call", m["call_id"], m["arguments"])]
    if m.get("type") == "function_call_output":
        return [("result", m["call_id"], _text(m["output"]))]
    if "parts" in m:
        return [*filter(None, map(_gemini_part, m["parts"])), ("said", "", _text(m["parts"]))]
    if m.get("role") == "tool":
        return [("result", m["tool_call_id"], _text(m["content"]))]
    calls = m.get("tool_calls") or ()
    found = [("call", c["id"], c["function"]["arguments"]) for c in calls]
    content = m.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            found.append(("call", block["id"], json.dumps(block["input"], ensure_ascii=False)))
        elif block.get("type") == "tool_result":
            found.append(("result", block["tool_use_id"], _text(block["content"])))
    files = [part for part in content if _is_file(part)] if isinstance(content, list) else []
    words = [part for part in content if part not in files] if files else content
    texts = [_text(words), *(text for one in files for text in _file_texts(one))]
    return [*found, *(("said", "", text) for text in texts)]


def _is_file(block):
    return isinstance(block, dict) and block.get("type") in ("document", "input_file", "file")


def _gemini_part(part):
    if "functionCall" in part:
        call = part["functionCall"]
        return ("call", call.get("id", call["name"]), json.dumps(call["args"], ensure_ascii=False))
    if "functionResponse" in part:
        response = part["functionResponse"]
        text = str(response["response"]["output"])
        return ("result", response.get("id", response["name"]), text)
    return None


def _text(content):
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(filter(None, map(_block_text, content)))


def _block_text(block):
    if _is_file(block):
        return "\n".join(_file_texts(block))
    return block["text"] if isinstance(block.get("text"), str) else ""


def _file_texts(block):
    """What a document holds: its title and its text, which are counted one by one."""
    if "source" not in block:
        return [REPORT]
    source = block["source"]
    inner = _text(source["content"]) if source["type"] == "content" else source["data"]
    return [block["title"], inner]


def unmatched(messages):
    """Ids of calls without a result before somebody else speaks, and of results without a call.

    A call and its result stand in two messages.
    """
    return [name for _, name in _halves(messages)]


def orphans(messages):
    """The same but for calls that the model made last, for their results may still come."""
    step = len(messages)
    while step and _has_result(messages[step - 1]):
        step -= 1
    while step and _is_of_model(messages[step - 1]):
        step -= 1
    return [name for place, name in _halves(messages) if place < step]


def _halves(messages):
    waiting, lost = [], []
    for place, message in enumerate(messages):
        if not _is_of_model(message) and not _has_result(message):
            lost += waiting
            waiting = []
        for kind, name, _ in sorted(parts([message]), key=lambda part: part[0] == "call"):
            call = next((one for one in waiting if kind == "result" and one[1] == name), None)
            if kind == "call":
                waiting.append((place, name))
            elif call:
                waiting.remove(call)
            elif kind == "result":
                lost.append((-1, name))
    return [*lost, *waiting]


def _has_result(message):
    return any(kind == "result" for kind, _, _ in parts([message]))


def _is_of_model(message):
    if _has_result(message):
        return False
    ours = ("function_call", "reasoning", "item_reference")
    kind = str(message.get("type"))
    return message.get("role") in ("assistant", "model") or kind in ours or kind.endswith("_call")


ITEMS = ("compaction", "thinking", "redacted_thinking")
"""Blocks of the provider's own; where there is nothing else, nobody speaks."""


def take_turns(messages):
    """Whether no two messages of people or of the model stand in a row, tools left out."""
    sides = [_side(m) for m in messages]
    spoken = [side for side in sides if side]
    return all(a != b for a, b in pairwise(spoken))


def _side(m):
    content = m.get("content")
    if isinstance(content, list) and content and all(b.get("type") in ITEMS for b in content):
        return ""
    role = {"model": "assistant"}.get(m.get("role"), m.get("role"))
    kinds = {kind for kind, _, _ in parts([m])} - {"said"}
    return role if role in ("user", "assistant") and not kinds else ""


def least_tokens(messages, count):
    """Tokens of the contents and arguments alone: no more than what is budgeted."""
    return sum(count(text) for _, _, text in parts(messages))
