"""`observed`: what a provider really counted corrects the next count."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import BadInput, BadOption, compact, observed
from foveate.core.compact.forms import message_form
from foveate.core.compact.measured import MeasuredList
from foveate.core.json_text import compact_json
from foveate.models import Model
from foveate.pipeline.compact_json import compaction_bundle, replay_compaction
from foveate.plugins import tokenizer
from foveate.ports import Usage

BASE = tokenizer("cl100k_base")
PROSE = "The pump draws air through a worn seal, so it is loud in the morning. "
TABLE = "".join(f"{n * 7919} {n * 104729} {n * 1299709}\n" for n in range(1, 60))


def provider_count(text: str) -> int:
    """A provider whose vocabulary has a token for each digit."""
    return BASE.count(re.sub(r"\d", "", text)) + len(re.findall(r"\d", text))


def total(messages, count) -> int:
    """Tokens of a list, each text counted by itself."""
    entries = message_form(messages, None).parse(messages)
    return MeasuredList(entries=entries, count=count).total


def lists_of(tables: int, prose: int):
    """A list with so many tables and so much prose."""
    said = [{"role": "user", "content": PROSE * 9} for _ in range(prose)]
    return [*said, *({"role": "user", "content": TABLE[k:]} for k in range(tables))]


def test_the_next_list_fits_as_the_provider_counts():
    """A7: without what was observed the list is over the budget at the provider."""
    messages = lists_of(tables=6, prose=2)
    made = compact(messages, budget=2_000)
    really = total(made.messages, provider_count)
    assert made.token_count <= 2_000 < really

    counter = observed({"prompt_tokens": really}, made)
    again = compact(messages, budget=2_000, tokenizer=counter)
    assert total(again.messages, provider_count) <= again.token_count <= 2_000
    assert total(made.messages, counter.count) >= really


def test_one_factor_corrects_the_whole():
    """A7: the largest share that was counted, with a cushion, is the factor of every text."""
    counter = BASE
    for messages in (lists_of(0, 4), lists_of(5, 0), lists_of(2, 2)):
        usage = {"prompt_tokens": total(messages, provider_count)}
        counter = observed(usage, messages, tokenizer=counter)
    prose, table = PROSE * 50, TABLE * 2
    assert provider_count(table) <= counter.count(table) < 1.1 * provider_count(table)
    assert counter.count(prose) / BASE.count(prose) == pytest.approx(counter.factor, abs=0.01)
    assert provider_count(table) > 1.2 * BASE.count(table)


def test_a_margin_that_was_too_large_shrinks():
    """A7: ten observations leave less than 8 % of a margin of 70 %."""
    counter = tokenizer("cl100k_base*1.7")
    for n in range(10):
        messages = lists_of(tables=n % 4, prose=2 + n % 3)
        usage = {"prompt_tokens": total(messages, BASE.count)}
        counter = observed(usage, messages, tokenizer=counter)
    wasted = [
        total(messages, counter.count) / total(messages, BASE.count) - 1
        for messages in (lists_of(3, 1), lists_of(1, 5), lists_of(0, 3))
    ]
    assert min(wasted) >= 0
    assert sum(wasted) / len(wasted) < 0.08


@settings(deadline=None)
@given(
    mixes=st.lists(
        st.tuples(st.integers(0, 4), st.integers(2, 4), st.floats(0.4, 3)), min_size=1, max_size=6
    ),
    start=st.sampled_from(["cl100k_base", "cl100k_base*1.7"]),
)
def test_no_request_is_counted_below_what_was_observed(mixes, start):
    """A7: however much the observations disagree, all of them hold."""
    counter, seen = start, []
    for tables, prose, factor in mixes:
        messages = lists_of(tables, prose)
        seen.append((messages, int(total(messages, BASE.count) * factor)))
        counter = observed({"prompt_tokens": seen[-1][1]}, messages, tokenizer=counter)
    assert all(total(messages, counter.count) >= really for messages, really in seen)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 900, "completion_tokens": 7, "prompt_tokens_details": {}},
        {"input_tokens": 900, "input_tokens_details": {"cached_tokens": 512}, "output_tokens": 3},
        {"input_tokens": 100, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 600},
        {"promptTokenCount": 900, "cachedContentTokenCount": 512},
        SimpleNamespace(prompt_tokens=900),
        SimpleNamespace(input_tokens=900, cache_read_input_tokens=None),
        SimpleNamespace(prompt_token_count=900, cached_content_token_count=512),
        Usage(prompt=900, cached=512),
    ],
)
def test_every_providers_usage_is_read(usage):
    """A7: cached tokens are part of the prompt, for Anthropic beside `input_tokens`."""
    messages = lists_of(1, 1)
    assert observed(usage, messages) == observed({"prompt_tokens": 900}, messages)


@pytest.mark.parametrize(
    "usage", [{}, None, {"prompt_tokens": 0}, {"prompt_tokens": "9"}, {"input_tokens": True}]
)
def test_a_usage_without_prompt_tokens_is_refused(usage):
    """X2: the error says what to give."""
    with pytest.raises(BadInput, match="give the usage object of a response"):
        observed(usage, lists_of(1, 1))


def test_what_was_sent_beside_the_list_is_counted():
    """A7, X2: tools and the system prompt; without them a usage of many times the list is wrong."""
    messages = lists_of(0, 2)
    tools = [{"name": "read", "description": PROSE * 600}]
    really = sum(map(BASE.count, (compact_json(tools[0]), PROSE))) + total(messages, BASE.count)
    with pytest.raises(BadInput, match="with tools= and system="):
        observed({"prompt_tokens": really}, messages)
    made = compact(messages, budget=20_000, tools=tools)
    for sent, beside in ((messages, tools), (made, ())):
        counter = observed({"prompt_tokens": really}, sent, tools=beside, system=PROSE)
        assert 1 < counter.factor < 1.2


def test_a_short_list_and_the_frame_of_messages_teach_nothing_of_texts():
    """A7: the provider's own tokens around a message are no property of its text."""
    short = [{"role": "user", "content": "Hello"}]
    assert observed({"prompt_tokens": 12}, short).factor == 1
    model = Model(name="own", window=16_000, tokenizer="cl100k_base", frame=(90, 3))
    made = compact(lists_of(1, 3), model=model)
    assert observed({"prompt_tokens": made.token_count}, made).factor < 1.1


def test_what_was_learned_is_data_that_the_manifest_names():
    """A7, D2: the tokenizer's name holds it, and a replay needs nothing else."""
    messages = lists_of(6, 2)
    counter = observed({"prompt_tokens": 900}, lists_of(1, 1))
    made = compact(messages, budget=2_000, tokenizer=counter)
    assert made.manifest.tokenizer_fingerprint == counter.fingerprint
    assert tokenizer(counter.name) == counter
    assert compact(messages, budget=2_000, tokenizer=counter.name).messages == made.messages
    assert replay_compaction(compaction_bundle(made)).identical
    with pytest.raises(BadOption, match="was removed: give one factor"):
        tokenizer("cl100k_base*text:1,words:0,marks:0,digits:2,letters:1,cjk:1")
