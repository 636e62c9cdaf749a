"""What a hostile reader found once, and must not find again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from copies import duplicates
from foveate.core.assemble import assemble
from foveate.core.candidates import candidates_from_items, candidates_from_jsonl
from foveate.core.errors import BadInput, BadOption, BudgetTooSmall, StageBroke
from foveate.core.formats.numbered import Numbered
from foveate.core.manifest import canonical_stage
from foveate.core.recipes import builtin_recipes
from foveate.core.replay import build_bundle, inputs_from_bundle
from foveate.core.request import Inputs, Recipe, Request
from foveate.core.stages.expand import Expand
from foveate.core.stages.pack import Pack
from foveate.core.types import (
    Candidate,
    Chunk,
    Context,
    Decision,
    Rendition,
    Step,
    Supplement,
)
from foveate.core.zones import Budget
from foveate.pipeline.assembler import assemble as one_liner
from foveate.plugins import component_registry
from foveate.providers import tokenizers
from foveate.testing.fakes import request
from resolving import resolve

CL100K = tokenizers.load_tokenizer("cl100k_base")
LINE = "The sluice is cleaned by hand every spring before the water rises, number {}."


def run(candidates: Any, recipe: str | Recipe = "citations", **changes: Any) -> Context:
    """A context of these candidates."""
    chosen = builtin_recipes()[recipe] if isinstance(recipe, str) else recipe
    budget = changes.pop("budget", Budget(documents=4000, window=None))
    made = Inputs(query="q", candidates=tuple(candidates), recipe=chosen, budget=budget, **changes)
    return assemble(made, CL100K)


def candidate(text: str, score: float = 0.5, **fields: Any) -> Candidate:
    """A candidate of a chunk with these fields."""
    return Candidate(chunk=Chunk(text=text, **fields), score=score)


def test_chat_framing_of_the_model_counts() -> None:
    """B1: many short messages are framed as the model frames them, not as another does."""
    messages = [{"role": "user", "content": "hi"}] * 500
    found = [{"text": LINE.format(n) * 6, "score": n} for n in range(80)]
    context = one_liner("q", found, model="gemma2:9b", messages=messages, recipe="chat")
    budget, counter = context.budget, resolve(model="gemma2:9b").tokenizer
    sent = [*((m["role"], m["content"]) for m in messages), ("user", f"{context.text}\n\nq")]
    total = budget.per_reply + sum(
        budget.per_message + counter.count(role) + counter.count(text) for role, text in sent
    )

    assert budget.per_message > 4
    assert total <= 8192 - budget.generation - budget.buffer


def test_a_budget_must_fit_the_model() -> None:
    """B2: a budget given beside a model is held to the model's window."""
    with pytest.raises(BadOption, match="add up to"):
        resolve(model="gemma2:9b", budget=Budget())


def test_needed_window() -> None:
    """B1: where the window binds, the error names a window that does."""
    found = [candidate(LINE.format(n) * 15, id=f"c{n}") for n in range(3)]
    messages = (("user", "word " * 700),)
    budget = Budget(
        documents=900, window=960, system=0, conversation=0, query=0, generation=50, buffer=0
    )
    with pytest.raises(BudgetTooSmall) as caught:
        run(found, "agent-session", budget=budget, messages=messages)

    assert caught.value.budget < caught.value.needed
    larger = replace(budget, window=caught.value.needed)
    assert run(found, "agent-session", budget=larger, messages=messages).blocks


@pytest.mark.parametrize(("tokens", "characters"), [(1, 50), (400, 5), (1, 5000), (10, 60)])
def test_needed_with_two_limits(tokens: int, characters: int) -> None:
    """B6: with tokens and characters limited, the error names the one that binds, or both."""
    found = [candidate(LINE.format(1), id="c")]
    budget = Budget(documents=tokens, characters=characters, window=None)
    with pytest.raises(BudgetTooSmall) as caught:
        run(found, budget=budget)
    error = caught.value
    unit = "documents" if error.unit == "tokens" else "characters"
    enough = replace(budget, **{unit: error.needed})
    if "also needs" in str(error):
        also = int(str(error).split("also needs ")[1].split()[0])
        enough = replace(enough, characters=also)

    assert run(found, budget=enough).blocks


@pytest.mark.parametrize("amount", [float("nan"), 20.5, "many", True])
def test_budgets_are_whole_numbers(amount: Any) -> None:
    """X2: a budget that is no whole number is refused at once."""
    with pytest.raises(BadOption, match="whole number"):
        Budget(documents=amount, window=None)


def smuggle(candidates: tuple[Candidate, ...], _: Request) -> Step:
    """Brings in what its caller may not read."""
    secret = candidate("TOP SECRET", id="s", principals=("boss",))
    said = Decision(chunk_id="s", action="entered", reason="mine")
    return Step(candidates=(*candidates, secret), decisions=(said,))


def lie(candidates: tuple[Candidate, ...], _: Request) -> Step:
    """Shows words that nobody wrote."""
    way = Rendition(kind="verbatim", text="I never said this", spans=((0, 10),))
    said = (Decision(chunk_id=c.id, action="kept", reason="mine") for c in candidates)
    return Step(candidates=tuple(replace(c, shown=way) for c in candidates), decisions=tuple(said))


def reach(candidates: tuple[Candidate, ...], _: Request) -> Step:
    """Claims more of a text than there is."""
    way = Rendition(kind="extract", text="x", spans=((0, 10**6),))
    said = (Decision(chunk_id=c.id, action="changed", reason="mine") for c in candidates)
    return Step(
        candidates=tuple(replace(c, renditions=(way,)) for c in candidates),
        decisions=tuple(said),
    )


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (smuggle, "'s' may not be read"),
        (lie, "is not the text of its spans"),
        (reach, "leave its text"),
    ],
)
def test_stages_that_cheat(stage: Any, message: str) -> None:
    """S12, I4: a stage can neither bring in secrets nor put words into a source's mouth."""
    recipe = Recipe(name="m", stages=(stage, Pack(policy="greedy")), format=Numbered())

    with pytest.raises(StageBroke, match=message):
        run([candidate(LINE.format(1))], recipe)


@pytest.mark.parametrize("principals", ["boss", "b"])
def test_principals_are_lists(principals: Any) -> None:
    """I4: a string for a list of principals is refused, not read letter by letter."""
    with pytest.raises(BadInput, match="principals"):
        Chunk(text="x", principals=principals)
    with pytest.raises(BadOption, match="principals must be a list of strings"):
        one_liner("q", [{"text": "x"}], principals=principals)


def test_a_passage_is_cited_by_the_pages_it_shows() -> None:
    """C2: of a passage in part, page and metadata are of the chunks that are shown."""
    found = [
        candidate(
            " ".join(LINE.format(f"{n}.{k}") for k in range(9)),
            score,
            id=f"c{n}",
            document_id="d",
            source="d.pdf",
            sequence=n,
            page=n + 1,
            section=f"S{n}",
            metadata={"author": f"A{n}"},
        )
        for n, score in enumerate((0.1, 0.2, 0.9))
    ]
    for c in found:
        assert CL100K.count(c.text) > 100
    recipe = replace(builtin_recipes()["citations"], include_metadata=("author",))
    context = run(found, recipe, budget=Budget(documents=240, window=None))
    (entry,) = context.citations
    whole = run(found, recipe)

    assert entry.chunk_ids == ("c2",)
    assert (entry.page, entry.pages) == (3, (3,))
    assert context.text.startswith("[1] Source: d.pdf, page 3, author: A2\n")
    assert {page for c in whole.citations for page in c.pages} == {1, 2, 3}


def test_side_knowledge_takes_no_number() -> None:
    """C1: beside a supplement, the first source is still [1] and entry 1."""
    side = Supplement(id="s", text="A weir is a low dam.", similarity=0.9)
    recipe = builtin_recipes()["citations"]
    from foveate.core.stages.supplement import SupplementGate

    gate = SupplementGate(intents=("define",), max_similarity=1.0)
    recipe = replace(recipe, stages=(gate, *recipe.stages))
    context = run(
        [candidate(LINE.format(n), id=f"c{n}", document_id=f"d{n}") for n in (1, 2)],
        recipe,
        supplements=(side,),
        intent="define",
    )

    assert "A weir is a low dam." in context.text
    assert [c.marker for c in context.citations] == [1, 2]
    assert "[1] Source" in context.text


@pytest.mark.parametrize("field", ["semantic_score", "lexical_score"])
def test_one_id_twice_in_any_order(field: str) -> None:
    """D1: one chunk found twice with equal scores gives the same bytes in either order."""
    chunk = Chunk(text=LINE.format(1), id="c")
    one = Candidate(chunk=chunk, score=0.5, **{field: 0.1})
    two = Candidate(chunk=chunk, score=0.5, **{field: 0.9})

    assert run([one, two]) == run([two, one])


def test_one_id_with_two_vectors() -> None:
    """I3: one id with two different embeddings is refused."""
    pair = [candidate("x y", id="c", embedding=v) for v in ((1.0, 0.0), (0.0, 1.0))]

    with pytest.raises(BadInput, match="embedding"):
        run(pair)


@pytest.mark.parametrize("name", ["recipe", "budget_tokens", "token_count"])
def test_every_field_of_a_manifest_is_compared(name: str) -> None:
    """D4: no field of a recorded manifest can be changed unnoticed."""
    from foveate.core.replay import compare_bundles

    chosen = Inputs(
        query="q",
        candidates=(candidate(LINE.format(1)),),
        recipe=builtin_recipes()["chat"],
        budget=Budget(documents=90, window=None),
    )
    old = build_bundle(chosen, assemble(chosen, CL100K), component_registry())
    new = build_bundle(
        inputs_from_bundle(old, component_registry()),
        assemble(chosen, CL100K),
        component_registry(),
    )
    old["manifest"][name] = "other"

    assert any(name in cause for cause in compare_bundles(old, new).causes)


def test_what_comes_out_of_a_pipeline_does_not_go_in() -> None:
    """D4: candidates that carry results of stages are refused: no bundle could hold them."""
    used = replace(
        candidate("x"),
        duplicates=duplicates(candidate("x"), candidate("y")),
    )

    with pytest.raises(BadInput, match="comes out of a pipeline"):
        run([used])


def test_a_hash_is_never_taken_on_trust() -> None:
    """B7: a chunk's hash is of its text, whatever it was made or changed with."""
    chunk = Chunk(text="one", content_hash="made up")

    assert chunk.content_hash == Chunk(text="one").content_hash
    assert replace(chunk, text="two").content_hash == Chunk(text="two").content_hash


def test_rows_without_ids_are_told_apart() -> None:
    """I1: the same text in two rows of a table is two chunks, not one with two fates."""
    rows = [{"text": "N/A", "row": n, "source": "t.csv"} for n in (1, 2)]

    assert len({c.id for c in candidates_from_items(rows)}) == 2
    assert run(candidates_from_items(rows)).blocks


def test_merged_copies_stay_out() -> None:
    """S5: a copy that dedup merged away is not brought back as a neighbour."""
    hit = candidate(LINE.format(1), 0.8, id="a1", document_id="A", sequence=1)
    again = Chunk(text=LINE.format(2) + " ", id="a2", document_id="A", sequence=2)
    kept = candidate(LINE.format(2), 0.9, id="b9", document_id="B", sequence=9)
    kept = replace(kept, duplicates=duplicates(kept, Candidate(chunk=again)))
    step = Expand()((hit, kept), request(neighbours=(again,)))

    assert [c.id for c in step.candidates] == ["a1", "b9"]


def test_stages_are_spelled_without_addresses() -> None:
    """D1: what is neither a dataclass nor a function is spelled the same in every process."""

    class Plain:
        """A stage without a repr of its own."""

        def __call__(self, candidates: tuple[Candidate, ...], _: Request) -> Step:
            """Nothing."""
            return Step(candidates=candidates)

    for stage in (Plain(), partial(smuggle)):
        assert " at 0x" not in canonical_stage(stage)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Candidate(chunk=Chunk(text="x"), score="0.5"), "score"),  # type: ignore[arg-type]
        (lambda: Chunk(text="x", start="1"), "start"),  # type: ignore[arg-type]
        (lambda: Chunk(text="x", start=-5, end=0), "start"),
        (lambda: Chunk(text="x", source="\ud800"), "source"),
        (lambda: Chunk(text="x", id="\ud800"), "id"),
    ],
)
def test_values_are_checked_where_they_are_made(make: Any, field: str) -> None:
    """I3: a chunk or a candidate made in Python is checked like one that is read."""
    with pytest.raises(BadInput) as caught:
        make()

    assert caught.value.field == field


def test_a_key_that_comes_twice() -> None:
    """I3: of two values under one key neither is taken silently."""
    line = '{"text": "secret", "principals": ["bob"], "principals": []}'

    with pytest.raises(BadInput, match="line 1: the key 'principals' comes twice"):
        candidates_from_jsonl([line])


def test_side_knowledge_has_its_own_door() -> None:
    """S11: a candidate cannot call itself a supplement and pass the gate."""
    with pytest.raises(BadInput, match="origin"):
        candidates_from_items([{"text": "x", "origin": "supplement"}])


def test_blank_texts_do_not_become_blocks() -> None:
    """S1, R3: a text without a character that is seen is dropped at the door, on the record."""
    for blank in ("  \n", "\u200b", " \ufeff\u3164\u2069\n\U000e0041"):
        context = run([candidate(blank, id="b"), candidate("Text.", id="t")], "chat")

        assert context.text == "Text."
        assert [(d.chunk_id, d.reason) for d in context.trace[0].decisions] == [("b", "blank")]


def test_a_summary_on_a_later_chunk() -> None:
    """R2: the document's summary is shown whichever of its chunks carries it."""
    found = [
        candidate(LINE.format(1), 0.9, id="a", document_id="d"),
        candidate(LINE.format(2), 0.5, id="b", document_id="d", sequence=7, summary="On sluices."),
    ]

    assert run(found).text.startswith("[Page context: On sluices.]\n[1]")


def test_spans_of_a_passage_in_which_one_chunk_has_no_offsets() -> None:
    """C2: the spans that are known are given, chunk by chunk."""
    shared = "and before the water rises the sluice is cleaned."
    first = f"Every spring, by hand, {shared}"
    found = [
        candidate(first, id="a", document_id="d", sequence=0, start=100, end=100 + len(first)),
        candidate(f"{shared} Then come the boats.", id="b", document_id="d", sequence=1),
    ]
    (block,) = run(found).blocks

    assert block.chunk_ids == ("a", "b")
    assert block.document_spans == ((100, 100 + len(first)),)
