"""What a trace says of why something is shown, and why it stands where it stands."""

from __future__ import annotations

from foveate.core.types import Context
from foveate.pipeline.assembler import assemble
from foveate.pipeline.reason_messages import format_decision

FILLER = " ".join(f"The gardener of house {n} waters roses in the evening." for n in range(30))


def decided(context: Context, stage: str) -> dict[str, str]:
    """Each decision of the stage in words, by chunk."""
    return {
        decision.chunk_id: format_decision(decision)
        for entry in context.trace
        if entry.stage == stage
        for decision in entry.decisions
    }


def pool(*scores: float) -> list[dict[str, object]]:
    """A text that answers, one under a title that is asked for, and others."""
    texts = [
        f"The pump stands in the cellar behind the boiler. {FILLER}",
        f"It was bought in 1990. {FILLER.replace('roses', 'tulips')}",
        *(FILLER.replace("roses", name) for name in ("lilies", "herbs", "ferns", "beans")),
    ]
    titles = ["House", "The pump", *["Garden"] * 4]
    return [
        {"id": f"c{n}", "text": text, "title": title, "source": f"{n}.md", "score": score}
        for n, (text, title, score) in enumerate(zip(texts, titles, scores, strict=True))
    ]


def test_a_decision_names_the_words_that_carried_it() -> None:
    """J4: what is shown for its words says which; for its title, that."""
    context = assemble("Where is the pump?", pool(0.5, 0.45, 0.4, 0.35, 0.3, 0.25), budget=120)
    told = decided(context, "pack")

    assert told["c0"].endswith("chosen for the word “pump”")
    assert all("chosen for" in told[block.chunk_ids[0]] for block in context.blocks)


def test_a_decision_names_the_score_that_carried_it() -> None:
    """J1, J4: a chunk that the retriever set apart says that its score decided."""
    context = assemble("Where is it?", pool(0.2, 0.2, 0.99, 0.2, 0.2, 0.2), budget=120)

    assert "chosen for its score" in decided(context, "pack")["c2"]


def test_a_copy_names_the_one_it_lost_to() -> None:
    """J4: the copy with the best score is shown, and names the sources of the others."""
    copies = [{**pool(*[0.5] * 6)[0], "id": f"k{n}", "source": f"{n}.md"} for n in range(3)]
    for copy, score in zip(copies, (0.3, 0.9, 0.6), strict=True):
        copy["score"] = score
    context = assemble("Where is the pump?", copies, budget=400)
    (citation,) = context.citations

    assert decided(context, "dedup_exact")["k0"] == "the same text as k1"
    assert citation.source == "1.md"
    assert {source.source for source in citation.corroborating} == {"0.md", "2.md"}


def test_order_says_which_block_stands_where() -> None:
    """J4: the notes name the rule, and the rank of the block at each place."""
    context = assemble("Where is the pump?", pool(0.5, 0.45, 0.4, 0.35, 0.3, 0.25), budget=2_000)
    (entry,) = [entry for entry in context.trace if entry.stage == "order"]
    ranks = [int(rank) for rank in str(entry.notes["ranks"]).split()]

    assert entry.notes["by"] == "attention"
    assert sorted(ranks) == [n + 1 for n in range(len(context.blocks))]
    assert ranks[0] == 1
