"""Recorded agents of our own writing: lists of messages in each provider's form.

`sessions` draws conversations as plain steps, `spell` writes them as one provider has them, and
`parts` reads texts, calls and results of any form again, without the code under test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import strategies as st

FORMS = ("openai", "responses", "anthropic", "gemini")
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
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
words = st.sampled_from([*WORDS.split(), "[End of ledger]", "\u6c34", "\U0001f6a2", "\n"])
texts = st.lists(words, max_size=40).map(" ".join)
rows = st.lists(
    st.fixed_dictionaries({"id": st.integers(1, 9_999), "name": words, "paid": st.booleans()}),
    max_size=12,
)
results = texts | rows.map(json.dumps) | st.just("") | st.just("Error: denied")
spoken = st.builds(Step, st.sampled_from(("user", "assistant")), texts)


@st.composite
def called(draw):
    """Some calls with their results; ids may be those of earlier calls."""
    size = draw(st.integers(1, 3))
    names = draw(st.permutations(("read", "find", "book")))[:size]
    arguments = draw(st.lists(texts, min_size=size, max_size=size))
    found = draw(st.lists(results, min_size=size, max_size=size))
    calls = tuple(zip(names, (json.dumps({"q": a}) for a in arguments), strict=True))
    return Step("tools", draw(st.just("") | texts), calls, tuple(found))


carried = st.builds(Step, st.sampled_from(("image", "thinking", "compaction", "unknown")), texts)
sessions = st.lists(spoken | called() | called() | carried, min_size=1, max_size=14)


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
            {"type": "function_call_output", "call_id": i, "output": text}
            for i, text in zip(ids, step.results, strict=True)
        ]
        return [reasoning, *calls, *answers]
    if step.kind == "image":
        image = {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "low"}
        content = [{"type": "input_text", "text": step.text}, image]
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
                "content": text if n else [{"type": "text", "text": text}],
            }
            for n, (i, text) in enumerate(zip(ids, step.results, strict=True))
        ]
        lead = {"role": "assistant", "content": [thinking, *said, *calls]}
        return [lead, {"role": "user", "content": answers}]
    if step.kind == "image":
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content = [{"type": "image", "source": source}, {"type": "text", "text": step.text or "?"}]
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
        calls = [
            {"functionCall": {"name": name, "args": json.loads(given)}, "thoughtSignature": "c2ln"}
            for name, given in step.calls
        ]
        answers = [
            {"functionResponse": {"name": name, "response": {"output": text}}}
            for (name, _), text in zip(step.calls, step.results, strict=True)
        ]
        said = [{"text": step.text}] if step.text else []
        return [{"role": "model", "parts": [*said, *calls]}, {"role": "user", "parts": answers}]
    if step.kind == "image":
        data = {"mimeType": "image/png", "data": PIXEL}
        return [{"role": "user", "parts": [{"inlineData": data}, {"text": step.text}]}]
    if step.kind in ("compaction", "unknown", "thinking"):
        return [{"role": "model", "parts": [{"text": step.text, "thought": True}]}]
    role = "user" if step.kind == "user" else "model"
    return [{"role": role, "parts": [{"text": step.text}]}]


def parts(messages):
    """What is counted and matched of any form, as (kind, id, text)."""
    return [part for message in messages for part in _message_parts(message)]


def _message_parts(m):
    if m.get("type") == "function_call":
        return [("call", m["call_id"], m["arguments"])]
    if m.get("type") == "function_call_output":
        return [("result", m["call_id"], _text(m["output"]))]
    if "parts" in m:
        return [part for p in m["parts"] for part in _gemini_part(p)]
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
    return [*found, ("said", "", _text(content))]


def _gemini_part(part):
    if "functionCall" in part:
        call = part["functionCall"]
        return [("call", call["name"], json.dumps(call["args"], ensure_ascii=False))]
    if "functionResponse" in part:
        response = part["functionResponse"]
        return [("result", response["name"], str(response["response"]["output"]))]
    return [("said", "", part.get("text", ""))]


def _text(content):
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(b["text"] for b in content if isinstance(b.get("text"), str))


def unmatched(messages):
    """Ids of calls without a result behind them, and of results without a call before them."""
    waiting, wrong = [], []
    for kind, name, _ in parts(messages):
        if kind == "call":
            waiting.append(name)
        elif kind == "result":
            if name in waiting:
                waiting.remove(name)
            else:
                wrong.append(name)
    return [*waiting, *wrong]


def least_tokens(messages, count):
    """Tokens of the contents and arguments alone: no more than what is budgeted."""
    return sum(count(text) for _, _, text in parts(messages))
