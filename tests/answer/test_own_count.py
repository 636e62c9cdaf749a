"""Requests to a real model, counted by the engine that reads them."""

from __future__ import annotations

import json
from dataclasses import replace
from http.client import HTTPConnection
from random import Random
from urllib.parse import urlsplit

import pytest

import conversations
from foveate import BadOption, Budget, BudgetTooSmall, assemble, converse, plugins
from foveate.answer.answer_budget import find_answer_model
from foveate.answer.ask import AskOptions, ask
from foveate.providers.chat.gguf import count_tokens, get_provider, measure_template
from foveate.providers.chat.http_client import ProviderError
from foveate.testing.tokenizers import check_tokenizer, samples
from local_model import KEY, engine, weights

CONVERSATIONS = 6


@pytest.fixture(scope="module")
def name():
    """The model file, its engine the one that the suite has loaded."""
    speaker = get_provider(weights())
    speaker._server, speaker._key = engine(), KEY
    yield f"gguf:{weights()}"
    del speaker  # kept until here: it is shared as long as anybody has it


def read(messages):
    """Tokens of the prompt that the engine makes of the messages, by its own template."""
    door = HTTPConnection(urlsplit(engine().listening_address).netloc, timeout=60)
    said = json.dumps({"messages": messages})
    door.request("POST", "/apply-template", said, {"authorization": f"Bearer {KEY}"})
    prompt = json.loads(door.getresponse().read())["prompt"]
    door.close()
    return count_tokens(engine().listening_address, KEY, prompt, special=True)


def test_the_laws_of_tokenizers(name):
    """B5: what the engine counts is a tokenizer like any other."""
    check_tokenizer(plugins.tokenizer(name), samples(count=6)[::6])

    assert plugins.tokenizer(name).fingerprint.startswith("gguf-1:")


def test_conversations_fit_by_the_endpoints_own_count(name, figure):
    """W3, B1: as the engine reads them, template and all, no request is over its room."""
    known = find_answer_model(name)
    tokenizer, fitted, nearest = plugins.tokenizer(name), 0, 10_000
    for seed in range(CONVERSATIONS):
        random = Random(seed)
        zones = {
            "documents": random.randint(60, 300),
            "conversation": random.randint(60, 400),
            "system": 20,
            "query": 90,
            "generation": random.randint(0, 100),
            "buffer": random.randint(0, 20),
        }
        message, reply = known.frame
        budget = Budget(window=sum(zones.values()), per_message=message, per_reply=reply, **zones)
        turns = [
            {"role": role, "content": conversations.text(random)}
            for _ in range(20)
            for role in ("user", "assistant")
        ]
        try:
            made = converse(
                conversations.sentence(random),
                conversations.chunks(random),
                turns=turns,
                system=random.choice(("", "Answer from the documents, and cite them.")),
                verbatim=random.randint(0, 6),
                budget=budget,
                zones=True,
                tokenizer=tokenizer,
                recipe="citations",
            )
        except BudgetTooSmall:
            continue
        left = budget.window - budget.generation - budget.buffer - read(made.openai())
        fitted, nearest = fitted + 1, min(nearest, left)
    figure(f"{fitted} of {CONVERSATIONS} fit by the engine's own count, the nearest by {nearest}")

    assert fitted > CONVERSATIONS / 2
    assert nearest >= 0


def test_a_plan_for_a_file_counts_as_the_file_does(name):
    """B1, B4: `model=` of a file: its tokenizer, its template, a window that it can have."""
    found = [{"text": f"Well {n} is {n} metres deep.", "source": "wells.md"} for n in range(9)]
    known = find_answer_model(name)
    context = assemble("How deep is well 3?", found, tokenizer=known.tokenizer, budget=60)

    assert context.token_count == plugins.tokenizer(name).count(context.text) <= 60
    assert context.manifest.tokenizer == name
    assert find_answer_model(name, 512) == replace(known, window=512)
    with pytest.raises(BadOption, match="reads 8192 tokens at the most"):
        find_answer_model(name, 9_000)
    with pytest.raises(BadOption, match="the request has"):
        ask(context, name, AskOptions(window=60, max_tokens=16))


def test_the_template_is_measured():
    """B1: what stands around messages, tried on conversations that it was not measured on."""
    message, request = measure_template(engine().listening_address, KEY)
    count = plugins.tokenizer(f"gguf:{weights()}").count
    for roles in (("system", "user"), ("user",) * 5, ("system", "user", "assistant") * 3):
        sent = [{"role": role, "content": f"Pump {n}: 3.5 bar"} for n, role in enumerate(roles)]
        said = sum(count(one["role"]) + count(one["content"]) for one in sent)

        assert read(sent) <= said + message * len(sent) + request
    with pytest.raises(ProviderError, match="answered 401"):
        measure_template(engine().listening_address, "sk-guess")
