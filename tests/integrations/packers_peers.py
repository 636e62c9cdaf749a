"""What packages that fill a budget get wrong, shown on them, and what ours does.

Run by `make matrix` on their newest releases, for what they need is no part of the environment of
the tests: where one of these fails, look first whether the package has got better.
"""

from __future__ import annotations

import json

from context_forge import forge
from entroly_core import context_receipts_run
from llmslim import plan_context
from llmslim.planning import ContextBudget

from foveate import assemble, messages
from foveate.providers import tokenizers

COUNT = tokenizers.load_tokenizer("cl100k_base").count
FERRY = "渡し船は夏に一日四回、冬に二回海峡を渡ります。"
WELL = (
    "The well was dug by hand in 1880. It is nine metres deep and lined with stone, and its water "
    "is drawn by a windlass that stands beside it."
)


def test_short_chunks():
    """S9, B1: by its defaults context-forge drops chunks of a sentence; here they are shown."""
    found = [
        {"id": "a", "text": "The mill was built in 1880 by two brothers.", "source": "mill.md"},
        {"id": "b", "text": "The well is nine metres deep.", "source": "well.md"},
    ]

    theirs = forge(chunks=found, query="How old is the mill?", budget=200)
    ours = assemble("How old is the mill?", found, budget=200)

    assert (theirs.blocks, theirs.used_tokens) == ([], 0)
    assert [block.source for block in ours.blocks] == ["mill.md", "well.md"]


def test_counting_by_the_letter():
    """B1: context-forge takes a quarter of the letters for tokens; in Japanese it is far over."""
    found = [{"id": f"{n}", "text": f"{n}。{FERRY * 12}", "source": f"{n}.md"} for n in range(9)]

    theirs = forge(chunks=found, query="渡し船", budget=300)
    ours = assemble("渡し船", found, budget=300)

    sent = "\n\n".join(block["text"] for block in theirs.blocks)
    assert theirs.used_tokens <= 300
    assert COUNT(sent) > 1_000
    assert COUNT(ours.text) == ours.token_count <= 300


def test_counting_latin_words():
    """B1: entroly's receipts count Latin words; a page of Japanese is one token to them."""
    text = FERRY * 60

    theirs = json.loads(context_receipts_run([("a", text)], "渡し船", 50, 10_000, 0))
    ours = assemble("渡し船", [{"text": text, "source": "a"}], budget=60)

    assert theirs["compression_ratio"]["source_tokens"] == 1
    assert COUNT(text) > 1_000
    assert COUNT(ours.text) == ours.token_count <= 60


def test_ten_times_one_document():
    """S3, R1: llmslim sends all ten copies, and none in its messages; here one stands for all."""
    found = [{"id": f"d{n}", "content": WELL, "source": f"{n}.md"} for n in range(10)]
    budget = ContextBudget(max_input_tokens=2_000, reserve_output_tokens=0, safety_margin_tokens=0)

    plan = plan_context(documents=found, query="How deep is the well?", budget=budget)
    given = [{"text": WELL, "source": f"{n}.md"} for n in range(10)]
    ours = assemble("How deep is the well?", given, budget=2_000)

    assert plan.final_context.count("nine metres") == 10
    assert not any("nine metres" in one["content"] for one in plan.final_messages)
    assert ours.text.count("nine metres") == 1
    assert len(ours.citations[0].corroborating) == 9
    assert messages(ours)[-1]["content"].count("nine metres") == 1
