"""The loop: budgets on the real count, balanced books, counts of work."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

import pytest

from foveate.core.assemble import assemble
from foveate.core.errors import BadInput, BudgetTooSmall, StageBroke
from foveate.core.formats.numbered import Numbered
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs, Recipe, Request
from foveate.core.stages.floor import Floor
from foveate.core.stages.pack import Pack
from foveate.core.types import Candidate, Chunk, Decision, Step
from foveate.core.zones import Budget
from foveate.providers import tokenizers
from foveate.testing.fakes import candidate

RECIPES = sorted(builtin_recipes())
SENTENCES = (
    "The mill was rebuilt in 1871 by Ada Weir.",
    "It grinds barley for the three villages downstream.",
    "Every spring the sluice is cleaned by hand.",
    "The wheel turns eleven times a minute at high water.",
    "A storm took the roof in the winter of the long frost.",
    "Nobody has lived in the upper rooms since the railway came.",
)


@dataclass(slots=True)
class Counting:
    """A real tokenizer that keeps a list of what it was asked to count."""

    name: str = "cl100k_base"
    fingerprint: str = "counting"
    asked: list[str] = field(default_factory=list)

    def count(self, text: str) -> int:
        """Count, and remember the text."""
        self.asked.append(text)
        return tokenizers.load_tokenizer(self.name).count(text)

    def truncate(self, text: str, n: int) -> str:
        """As the real one."""
        return tokenizers.load_tokenizer(self.name).truncate(text, n)


def pool(n: int, seed: int = 1) -> tuple[Candidate, ...]:
    """Ordinary candidates: sentences from a few documents, scores descending."""
    dice = Random(seed)
    return tuple(
        Candidate(
            chunk=Chunk(
                id=f"c{i}",
                document_id=f"d{i % 7}",
                source=f"d{i % 7}.md",
                sequence=i * 2,
                text=" ".join(f"{dice.choice(SENTENCES)} ({i}.{k})" for k in range(6)),
            ),
            score=1 - i / n,
        )
        for i in range(n)
    )


def inputs(recipe: str | Recipe = "default", **changes: object) -> Inputs:
    """A plain request for the recipe."""
    chosen = builtin_recipes()[recipe] if isinstance(recipe, str) else recipe
    base = Inputs(
        query="When was the mill rebuilt?",
        candidates=pool(20),
        recipe=chosen,
        budget=Budget(documents=900, window=None),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


CL100K = tokenizers.load_tokenizer("cl100k_base")


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_smallest_budget_beside_one_that_is_too_large(recipe: str) -> None:
    """B1: a best candidate over the budget hides no smaller one, nor what that one needs."""
    said = "The pump starts at one bar, and it stops again at two bar, as the card beside it says."
    large = candidate("The pump runs day and night. " * 400, 0.9, id="large", source="large.md")
    small = candidate(said, 0.8, id="small", source="small.md")

    def request(tokens: int, *found: Candidate) -> Inputs:
        room = Budget(documents=tokens, window=None)
        return inputs(recipe, query="When does the pump start?", candidates=found, budget=room)

    def needed(*found: Candidate) -> int:
        with pytest.raises(BudgetTooSmall) as caught:
            assemble(request(1, *found), CL100K)
        return caught.value.needed

    assert needed(large, small) <= needed(small)
    assert assemble(request(needed(small), large, small), CL100K).blocks


@pytest.mark.parametrize("recipe", RECIPES)
def test_more_room_never_gives_nothing(recipe: str) -> None:
    """B1: every budget from the smallest on has a context, also where an estimate is one off."""
    words = ["pump", "valve", "the", "of", "water,", "heat.", "boiler", "Steam", "42", "pressure"]
    text = " ".join(words[n * n % 97 % len(words)] for n in range(150))
    source = "docs/some/long/path/manual.md"
    chunk = Chunk(id="c", document_id="d", source=source, title="Pumps", sequence=0, text=text)
    one = (Candidate(chunk=chunk, score=0.5),)

    def request(tokens: int) -> Inputs:
        return inputs(recipe, candidates=one, budget=Budget(documents=tokens, window=None))

    with pytest.raises(BudgetTooSmall) as caught:
        assemble(request(1), CL100K)
    for tokens in range(caught.value.needed, caught.value.needed + 130):
        assert assemble(request(tokens), CL100K).blocks


@pytest.mark.parametrize("recipe", ["default", "summarise", "tight"])
def test_nothing_that_was_packed_is_shed(recipe: str) -> None:
    """B1: a candidate that is shown in another way keeps what stands around it in the books."""
    for tokens in range(150, 1_000, 50):
        made = inputs(recipe, budget=Budget(documents=tokens, window=None))
        trace = assemble(made, CL100K).trace
        assert not [d for stage in trace for d in stage.decisions if d.reason == "shed"]


def test_whole_request_fits_the_window() -> None:
    """B1: system prompt, history, query and framing count against the window with the context."""
    history = (("system", "Answer briefly. " * 20), ("user", "Hello."), ("assistant", "Hello!"))
    budget = Budget(
        documents=400, window=640, system=0, conversation=0, query=0, generation=100, buffer=10
    )
    context = assemble(inputs(messages=history, budget=budget), CL100K)
    sent = (*history, ("user", f"{context.text}\n\n[End of context]\n\n{context.query}"))

    assert 3 + sum(4 + CL100K.count(r) + CL100K.count(c) for r, c in sent) <= 640 - 110
    assert context.token_count < 400


def test_no_room_in_the_window() -> None:
    """B1: a history that leaves no room says which window would do."""
    budget = Budget(
        documents=40, window=60, system=0, conversation=0, query=0, generation=10, buffer=0
    )
    with pytest.raises(BudgetTooSmall, match="leave no room for a context"):
        assemble(inputs(messages=(("user", "word " * 80),), budget=budget), CL100K)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_chunk_is_counted_once_ever(recipe: str) -> None:
    """B7: a verbatim chunk goes through the tokenizer at most once, over several requests."""
    tokenizer, known = Counting(), {}
    texts = {c.text for c in pool(20)}
    for budget in (300, 900, 2000):
        assemble(inputs(recipe, budget=Budget(documents=budget, window=None)), tokenizer, known)
    asked = [text for text in tokenizer.asked if text in texts]

    assert len(asked) == len(set(asked))


def test_the_finished_text_is_counted_once() -> None:
    """B1: one attempt is enough in at least 95 of 100 ordinary cases."""
    attempts = []
    for seed in range(100):
        dice = Random(seed)
        recipe = RECIPES[seed % len(RECIPES)]
        budget = Budget(documents=dice.randint(200, 2500), window=None)
        context = assemble(inputs(recipe, candidates=pool(20, seed), budget=budget), CL100K)
        attempts.append(int(context.trace[-1].notes["attempts"]))

    assert sum(n == 1 for n in attempts) >= 95, attempts


def test_trace_counts_the_exclusions() -> None:
    """B8: the metrics say how many chunks and tokens the budget kept out, and their share."""
    context = assemble(inputs("citations"), CL100K)
    metrics = context.metrics

    assert metrics["excluded_chunks"] > 0
    assert metrics["excluded_tokens"] > 0
    assert metrics["exclusion_rate"] == pytest.approx(
        metrics["excluded_chunks"] / (metrics["excluded_chunks"] + len(context.blocks)), abs=1e-6
    )


def test_self_measures() -> None:
    """D6: budget use, uniqueness, redundancy, adjacency, top three first, shares by rendition."""
    metrics = assemble(inputs("document-first"), CL100K).metrics

    assert metrics["budget_use"] == pytest.approx(metrics["tokens"] / 900, abs=1e-6)
    assert metrics["adjacency"] > 0.7
    assert metrics["share_verbatim"] + metrics["share_stripped"] == pytest.approx(1.0)
    assert {"unique_token_share", "redundancy", "top3_in_first5", "share_extract"} <= set(metrics)
    assert assemble(inputs("citations"), CL100K).metrics["top3_in_first5"] >= 2 / 3


def test_only_what_may_not_be_read() -> None:
    """I4: a pool of secrets looks the same as an empty one: no text, and the reason."""
    secret = Candidate(chunk=Chunk(id="s", text="Secret.", principals=("board",)))
    empty, hidden = (
        assemble(inputs(candidates=candidates), CL100K) for candidates in ((), (secret,))
    )

    assert empty == hidden
    assert (empty.text, empty.citations) == ("", ())
    assert empty.trace[0].notes == {"no_candidates": "the retriever found nothing that may be read"}


def test_an_identifier_that_no_text_holds_is_named() -> None:
    """S9, B8: and none that stands in a text, in a source, in a heading or in a secret alone."""
    notes = [Chunk(id="1", text="Order ORD-10049 was shipped.", source="INV-2000.md")]
    notes += [Chunk(id="2", text="Order ORD-999990 is open.", section="Fault E-017")]
    notes += [Chunk(id="3", text="Order ORD-99999 is ours.", principals=("board",))]
    found = tuple(Candidate(chunk=chunk) for chunk in notes)

    def said(query: str) -> object:
        context = assemble(inputs(query=query, candidates=found), CL100K)
        return context.trace[0].notes.get("identifier_missing")

    assert said("Where is ORD-99999?") == "ORD-99999 is in none of the texts"
    assert said("ORD-10049, TX-4711 or ORD-99999?") == "TX-4711, ORD-99999 are in none of the texts"
    assert said("What of ord-10049, inv-2000 and E-017?") is None
    assert said("Who won the F1 race?") is None, "a word of prose as well"


def test_nothing_found_and_everything_dropped_look_alike() -> None:
    """B8: both give an empty context with the reason on the trace, and neither raises."""
    weak = Candidate(chunk=Chunk(id="s", text="The mill."), score=-1.0)
    recipe = replace(builtin_recipes()["naive"], stages=(Floor(min_score=0.0),))
    dropped = assemble(inputs(candidates=(weak,), recipe=recipe), CL100K)
    empty = assemble(inputs(candidates=(), recipe=recipe), CL100K)

    assert dropped.text == empty.text == ""
    assert [d.reason for d in dropped.trace[1].decisions] == ["below_floor"]
    assert "no_candidates" in empty.trace[0].notes


@pytest.mark.parametrize("query", ["", "  \n\t", "\ud800"])
def test_empty_query(query: str) -> None:
    """X2: an empty or broken query is refused before anything runs."""
    with pytest.raises(BadInput, match="query"):
        assemble(inputs(query=query), CL100K)


def lossy(candidates: tuple[Candidate, ...], request: Request) -> Step:
    """A stage that loses a candidate without saying so."""
    return Step(candidates=candidates[1:])


def honest(candidates: tuple[Candidate, ...], request: Request) -> Step:
    """A plain function as a stage."""
    gone = candidates[-1].id
    return Step(
        candidates=candidates[:-1],
        decisions=(Decision(chunk_id=gone, action="dropped", reason="last"),),
    )


def raising(candidates: tuple[Candidate, ...], request: Request) -> Step:
    """A stage with a bug."""
    raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("stage", "message"),
    [(lossy, "stage lossy"), (raising, "stage raising raised ZeroDivisionError: oops")],
)
def test_books_of_third_parties(stage: object, message: str) -> None:
    """S12: the loop balances the books of any stage, and says whose fault it is."""
    recipe = Recipe(name="mine", stages=(stage, Pack()), format=Numbered())  # type: ignore[arg-type]

    with pytest.raises(StageBroke, match=message):
        assemble(inputs(recipe), CL100K)


def test_a_function_is_a_stage() -> None:
    """S12: any callable with the signature takes part, and its decisions are on the trace."""
    recipe = Recipe(name="mine", stages=(honest, Pack(policy="greedy")), format=Numbered())
    context = assemble(inputs(recipe), CL100K)

    assert context.trace[1].stage == "honest"
    assert context.trace[1].options.endswith(":honest")
    assert context.trace[1].decisions[0].reason == "last"


def test_without_a_packer_the_gate_still_holds() -> None:
    """B1: a recipe that never packs is cut down to the budget by shedding the least."""
    recipe = Recipe(name="mine", stages=(), format=Numbered())
    context = assemble(inputs(recipe), CL100K)

    assert 0 < context.token_count <= 900
    assert {d.reason for d in context.trace[-1].decisions} == {"shed"}
    assert [c.id for c in pool(20)][: len(context.blocks)] == [
        i for b in context.blocks for i in b.chunk_ids
    ]


def summarised(n: int) -> tuple[Candidate, ...]:
    """Candidates whose documents have a page summary."""
    return tuple(
        replace(c, chunk=replace(c.chunk, summary=f"About {c.document_id}.")) for c in pool(n)
    )


def test_page_summary_once_per_document() -> None:
    """R2: before the first block of its document, once, counted, under its label."""
    context = assemble(
        inputs("document-first", candidates=summarised(8), budget=Budget(window=None)), CL100K
    )

    assert context.text.count("[Page context: About d0.]") == 1
    assert context.text.index("About d0.") < context.text.index("(0.0)")
    assert context.trace[-1].notes["summaries"] == 7


def test_summaries_are_the_first_to_go() -> None:
    """R2: when the budget is tight, a summary never takes the place of a block."""
    for documents in range(300, 1000, 23):
        budget = Budget(documents=documents, window=None)
        without = assemble(inputs("citations", candidates=pool(8), budget=budget), CL100K)
        beside = assemble(inputs("citations", candidates=summarised(8), budget=budget), CL100K)

        assert [b.text for b in beside.blocks] == [b.text for b in without.blocks]
        assert beside.token_count <= documents


def test_found_twice_enters_once() -> None:
    """S3: the same chunk found by two searches enters once, with its best score, on the record."""
    one = pool(1)[0]
    context = assemble(inputs(candidates=(replace(one, score=0.2), one)), CL100K)

    assert context.blocks[0].score == one.score
    assert [(d.reason, d.numbers["copies"]) for d in context.trace[0].decisions] == [
        ("found_again", 2)
    ]


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "simple"])
def test_what_fits_alone_is_not_refused(recipe: str, tokenizer: str) -> None:
    """B1: a single chunk is refused at no budget that its rendered text fits."""
    counter = tokenizers.load_tokenizer(tokenizer)
    one = inputs(recipe, candidates=pool(1))
    size = assemble(replace(one, budget=Budget(window=None)), counter).token_count
    exact = assemble(replace(one, budget=Budget(documents=size, window=None)), counter)

    assert exact.blocks
    assert exact.token_count <= size
