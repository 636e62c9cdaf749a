"""Compress: shorter renditions on offer, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.balance import balance
from foveate.core.compressed_rendition import ABRIDGED_MARK, rendition_from_compressed_text
from foveate.core.errors import BadOption
from foveate.core.renditions import join_chunk_spans
from foveate.core.request import CompressionMethod, Offer
from foveate.core.stages.compress import Compress
from foveate.core.text.sentences import sentence_spans
from foveate.core.text.shapes.gaps import join_spans
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Rendition, Span
from foveate.plugins import tokenizer
from foveate.testing.fakes import candidate, identity_body, no_header, request
from foveate.testing.strategies import texts

TEXT = (
    "The river rises in the hills above the town. It has flooded the mill four times. "
    "Lanterns are lit along the quay every autumn. The bridge was built by Ada Weir in 1871. "
    "Fishing is allowed from March. Boats are hired out by the hour."
)


@given(
    texts(),
    st.lists(st.tuples(st.integers(-2, 99), st.integers(-2, 99)), max_size=3),
    st.text(),
    st.booleans(),
    st.sampled_from(["llm_extract", "llm_abstract"]),
)
def test_whatever_an_offer_says_the_books_balance(
    text: str, spans: list[Span], said: str, irrelevant: bool, way: CompressionMethod
) -> None:
    """S8, S12: an offer is a claim: what it gives is verbatim, or marked; or nothing."""
    one = candidate(text, id="a")
    offer = Offer(
        key=one.chunk.content_hash, way=way, spans=tuple(spans), text=said, irrelevant=irrelevant
    )
    stage = Compress(offer=way, when="always", min_tokens=1)

    step = stage((one,), replace(request(budget=20), offers=(offer,)))
    balance((one,), step)

    assert [d.reason for d in step.decisions if d.action == "dropped"] == [
        "irrelevant"
    ] * irrelevant
    for rendition in [r for c in step.candidates for r in c.renditions]:
        assert len(rendition.text) < len(text)
        if rendition.kind == "abstract":
            assert rendition.text.startswith(ABRIDGED_MARK)
            assert not rendition.verbatim
        else:
            assert rendition.text == join_spans(text, rendition.spans)[0]


def test_all_of_a_text_is_no_shorter_version() -> None:
    """S8: an extract of every sentence is refused, white space around the text or not."""
    one = candidate(f"  {TEXT}\n\n ", id="a")
    key, spans = one.chunk.content_hash, tuple(sentence_spans(one.text))
    offer = Offer(key=key, way="llm_extract", spans=spans)
    gauge = TokenCounter(tokenizer=tokenizer("cl100k_base"), body=identity_body, header=no_header)

    made = rendition_from_compressed_text(offer, one, counter=gauge, least=1)
    fewer = rendition_from_compressed_text(
        replace(offer, spans=spans[1:3]), one, counter=gauge, least=1
    )

    assert isinstance(made, str)
    assert made.startswith("what the model wrote is no shorter")
    assert isinstance(fewer, Rendition)
    assert fewer.text == f"… {one.text[spans[1][0] : spans[2][1]]} …"


def test_offers_and_never_shortens() -> None:
    """S8: the text stays; renditions are offered beside it, none chosen."""
    step = Compress(min_tokens=1)((candidate(TEXT, id="a"),), request(budget=20))
    (one,) = step.candidates

    assert one.text == TEXT
    assert one.shown is None
    assert len(one.renditions) >= 2
    assert [d.reason for d in step.decisions] == ["offered"]


def test_nothing_is_offered_while_there_is_room() -> None:
    """S8: with `over_budget`, a pool that fits is left alone."""
    pool = (candidate(TEXT, id="a"),)
    step = Compress(min_tokens=1)(pool, request(budget=500))

    assert step.candidates == pool
    assert step.notes["tight"] == 0


def test_oversized_whatever_the_budget() -> None:
    """S8: a chunk over `max_chunk_tokens` gets an offer even when there is room."""
    pool = (candidate(TEXT, id="a"), candidate("Short one.", id="b"))
    step = Compress(min_tokens=1, max_chunk_tokens=30)(pool, request(budget=5000))

    assert [bool(c.renditions) for c in step.candidates] == [True, False]


def test_keeps_what_was_asked_for() -> None:
    """S8: the sentence that holds the query's words is in the shortest rendition."""
    asked = request("Who built the bridge?", budget=20)
    (one,) = Compress(min_tokens=1)((candidate(TEXT, id="a"),), asked).candidates

    assert "The bridge was built by Ada Weir in 1871." in one.renditions[-1].text


def test_never_below_the_floor() -> None:
    """S8: nothing under `min_tokens` is offered."""
    (one,) = Compress(min_tokens=20)((candidate(TEXT, id="a"),), request(budget=20)).candidates

    assert all(len(r.text.split()) >= 15 for r in one.renditions)


def test_target() -> None:
    """S8: with a target, one rendition of about that many tokens is offered."""
    without, aimed = (
        Compress(when="oversized", target=target, max_chunk_tokens=30, min_tokens=1)(
            (candidate(f"{TEXT} {TEXT}", id="a"),), request(budget=5000)
        )
        .candidates[0]
        .renditions
        for target in (None, 45)
    )
    (way,) = set(aimed) - set(without)

    assert len(way.text.split()) <= 45


@given(text=texts(40), query=texts(4), budget=st.integers(1, 30))
def test_verbatim_and_shorter(text: str, query: str, budget: int) -> None:
    """S8: every rendition is spans of the source, in order, and shorter than it."""
    step = Compress(min_tokens=1, when="always")(
        (candidate(text, id="a"),), request(query, budget=budget)
    )
    for way in step.candidates[0].renditions:
        assert way.text == join_chunk_spans(step.candidates[0].chunk, way.spans)[0]
        at = 0
        for a, b in way.spans:
            at = way.text.index(text[a:b], at) + b - a
        assert len(way.text) < len(text)
        assert 0 < way.value <= 1
        assert way.verbatim


@pytest.mark.parametrize(
    "options",
    [{"when": "never"}, {"target": 0}, {"min_tokens": -1}],
    ids=str,
)
def test_refuses(options: dict[str, object]) -> None:
    """X1: an option without a meaning is refused."""
    with pytest.raises(BadOption, match="compress"):
        Compress(**options)  # type: ignore[arg-type]
