"""The request as a whole, over many random conversations."""

from __future__ import annotations

from random import Random

import pytest

import conversations
from foveate import BadInput, Budget, BudgetTooSmall, Candidate, Chunk, converse
from foveate.pipeline.conversation import FlexibleBudget, Zone
from foveate.plugins import tokenizer as named
from foveate.testing.fakes import WordTokenizer
from full_counts import count

TOKENIZERS = (named("simple"), named("cl100k_base"), WordTokenizer(), named("cl100k_base*1.3"))


def random_budget(random: Random) -> Budget:
    """A small window with zones that add up to less."""
    zones = {
        "documents": random.randint(1, 300),
        "conversation": random.randint(0, 400),
        "system": random.randint(0, 60),
        "query": random.randint(20, 80),
        "generation": random.randint(0, 100),
        "buffer": random.randint(0, 40),
    }
    window = sum(zones.values()) + random.choice((0, 0, 50, 400))
    return Budget(window=window, **zones)


def tight_budget(random: Random) -> Budget:
    """A window that many conversations do not fit, with nothing to lend from."""
    zones = {
        "documents": random.randint(1, 60),
        "conversation": random.randint(0, 80),
        "system": random.randint(0, 20),
        "query": random.randint(20, 80),
        "generation": random.randint(0, 100),
        "buffer": random.randint(0, 40),
    }
    return Budget(window=sum(zones.values()), **zones)


def check_pairs(messages):
    """Every call has its results right behind it, and no result is without its call."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert waiting == []
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert waiting == []


def converse_once(seed, make_budget=random_budget):
    """One random conversation: (what came of it, its recount) or the error."""
    random = Random(seed)
    tokenizer = random.choice(TOKENIZERS)
    budget = make_budget(random)
    turns = conversations.openai(random, random.randint(0, 40))
    asked = {
        "turns": turns,
        "system": random.choice(("", "Answer from the documents, and cite them.")),
        "verbatim": random.randint(0, 6),
        "zones": random.random() < 0.7,
        "tokenizer": tokenizer,
        "recipe": random.choice(("chat", "citations")),
    }
    query, found = conversations.sentence(random), conversations.chunks(random)
    try:
        made = converse(query, found, budget=budget, **asked)
    except BudgetTooSmall as error:
        return error, budget, (query, found, asked)
    messages = made.openai()
    assert conversations.counted(messages, budget, tokenizer) == made.tokens["request"]
    assert made.tokens["request"] <= budget.window - budget.generation - budget.buffer
    assert made.context.token_count <= (made.budget.documents or 0)
    check_pairs(messages)
    told = [d.chunk_id for d in made.history.trace.decisions]
    assert told == [f"message {n + 1}" for n in range(len(turns))]
    assert messages[-1]["role"] == "user"
    assert messages[-1]["content"].endswith(query)
    return made, budget, None


def test_conversations_fit_the_window(figure):
    """W3, B1, W1: recounted as sent, never over; no call without result, no turn lost silently."""
    fitted = [converse_once(seed)[0] for seed in range(count(250, 1_000))]

    made = [one for one in fitted if not isinstance(one, BudgetTooSmall)]
    fates = [d.reason for one in made for d in one.history.trace.decisions]
    figure(
        f"{len(made)} of {len(fitted):,} conversations fit; of {len(fates)} messages "
        + ", ".join(f"{fates.count(f)} {f}" for f in sorted(set(fates)))
    )

    assert len(made) > len(fitted) // 2
    assert {"message_left_out", "message_pinned", "message_kept"} <= set(fates)


def test_what_would_do_does(figure):
    """B1, X1: the smallest budget that an error names is one that does, and one less is not."""
    tried = 0
    for seed in range(60):
        error, budget, asked = converse_once(seed, tight_budget)
        if not isinstance(error, BudgetTooSmall) or asked is None or not asked[2]["zones"]:
            continue
        if "the request" not in str(error):
            continue
        tried += 1
        query, found, rest = asked
        more = error.needed - error.budget

        def larger(by, budget=budget):
            return Budget(
                **{
                    name: getattr(budget, name) + (by if name in ("documents", "window") else 0)
                    for name in (
                        *("documents", "window", "system", "conversation", "query"),
                        *("generation", "buffer"),
                    )
                }
            )

        converse(query, found, budget=larger(more), **rest)
        with pytest.raises(BudgetTooSmall):
            converse(query, found, budget=larger(more - 1), **rest)
    figure(f"{tried} refusals tried again with what they ask for")

    assert tried > 5


def test_a_long_query_is_refused_and_never_cut():
    """W2: over its zone it is refused, with the size that would do; at its size it is whole."""
    budget = Budget(window=2_000, documents=500, system=0, query=5, generation=0, buffer=0,
                    conversation=100)  # fmt: skip
    long = "one two three four five six"

    with pytest.raises(BudgetTooSmall, match="the query, which is never cut") as refused:
        converse(long, budget=budget, tokenizer=WordTokenizer())
    assert refused.value.needed == 6

    made = converse("one two three four five", budget=budget, tokenizer=WordTokenizer())
    assert made.openai() == [{"role": "user", "content": "one two three four five"}]
    with pytest.raises(BadInput, match="empty"):
        converse("  ")


def test_a_fixed_system_prompt_over_its_zone_is_refused():
    """B2: with zones that keep their size, a prompt over its own is refused; elastic ones lend."""
    budget = Budget(window=300, documents=100, system=2, query=9, generation=0, buffer=0,
                    conversation=100)  # fmt: skip
    asked = {"system": "be brief and kind", "tokenizer": WordTokenizer(), "budget": budget}

    with pytest.raises(BudgetTooSmall, match="the system prompt"):
        converse("Why?", zones=False, **asked)
    assert converse("Why?", **asked).openai()[0]["content"] == "be brief and kind"


def test_what_the_conversation_leaves_the_documents_use_and_back():
    """W1: zones lend both ways, and the documents never get more than a number that was asked."""
    text = " ".join(["word"] * 50)
    found = [{"text": f"{text} {n}", "source": f"{n}.md", "score": 1 / (n + 1)} for n in range(20)]
    said = [{"role": "user", "content": f"{text}. {n} more."} for n in range(40)]
    budget = Budget(window=2_000, documents=600, conversation=600, system=10, query=10,
                    generation=0, buffer=0)  # fmt: skip
    asked = {"budget": budget, "tokenizer": WordTokenizer()}

    quiet = converse("Why?", found, **asked)
    talky = converse("Why?", found[:1], turns=said, **asked)

    assert quiet.tokens["documents"] > 1_000
    assert talky.tokens["conversation"] > 900  # its zone has 600
    assert converse("Why?", found, budget=300, tokenizer=WordTokenizer()).tokens["documents"] <= 300
    capped = FlexibleBudget(documents=Zone(floor=100, ceiling=200), conversation=Zone())
    assert converse("Why?", found, zones=capped, **asked).tokens["documents"] <= 200


def test_a_model_is_enough_to_know_the_window():
    """B4, W3: with a model alone, its window holds conversation and documents."""
    random = Random(5)
    turns = conversations.openai(random, 40) * 12

    made = converse("Why?", conversations.chunks(random), turns=turns, model="gemma2:9b")

    assert made.tokens["request"] <= 8_192 - 1_024
    assert made.tokens["conversation"] > 500


def test_what_may_not_be_read_is_not_even_measured():
    """I4, X2: candidates for others change nothing, zones included; nothing found is no error."""
    said = [{"role": "user", "content": "one. two. three. " * 80}] * 9
    secret = Candidate(chunk=Chunk(text="the key " * 200, id="s", principals=("board",)))
    open_ = Candidate(chunk=Chunk(text="the pump", id="o"))
    zones = {"documents": 300, "conversation": 300, "system": 0, "query": 20}
    budget = Budget(window=900, generation=0, buffer=0, **zones)
    asked = {"verbatim": 1, "budget": budget, "tokenizer": WordTokenizer()}
    asked["turns"] = said

    with_secret = converse("Why?", [secret, open_], **asked)
    without = converse("Why?", [open_], **asked)

    assert with_secret.openai() == without.openai()
    assert with_secret.trace == without.trace
    assert converse("Why?", [secret], **asked).context.text == ""
