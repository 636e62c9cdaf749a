"""Providers' own citations held against what was sent: confirmed to the character, or refused."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import assemble, messages
from foveate.answer.messages import format_for_anthropic
from foveate.answer.places import citable_blocks
from foveate.answer.provider_citations import check_provider_citations
from foveate.core.formats.anthropic import AnthropicSearchResult
from foveate.core.text.sanitise import is_invisible, sanitise
from foveate.plugins import recipe
from foveate.ports import ProviderCitation
from foveate.testing.hostile import texts
from model_servers import serving

WELL = "The well is nine metres deep. It was dug in 1880. Its water is <s>cold</s>."
MILL = "The mill was built of oak. Its wheel turns at <s>night</s>."
LEAD = "Above the text. "
FORMATS = {
    "document": "anthropic-document",
    "search result": "anthropic-search-result",
    "sentences": AnthropicSearchResult(sentences=True),
}


@cache
def context_of(name="document", budget=2_000):
    """Two chunks, each with its place in its document."""
    found = [
        {
            "text": text,
            "source": f"docs/{source}",
            "title": source.title(),
            "document_id": f"id-{source}",
            "score": score,
            "start": len(LEAD),
            "page": page,
        }
        for text, source, score, page in ((WELL, "well.md", 0.9, 4), (MILL, "mill.md", 0.5, None))
    ]
    form = FORMATS.get(name, name)
    return assemble("How deep?", found, budget=budget, recipe="citations", format=form)


def chars(start, end, text, index=0, title="Well.Md", **more):
    """A range of characters of a document."""
    said = {"type": "char_location", "document_index": index, "document_title": title}
    said |= {"start_char_index": start, "end_char_index": end, "cited_text": text}
    return {**said, **more}


def texts_from(first, behind, text, index=0, **more):
    """A range of the texts of a search result."""
    said = {"type": "search_result_location", "search_result_index": index}
    said |= {"source": "docs/well.md", "title": "Well.Md, page 4", "cited_text": text}
    return {**said, "start_block_index": first, "end_block_index": behind, **more}


def confirmed(context, *cited):
    """What is confirmed of citations of the answer `So.`; all of them must be."""
    given, refused = check(context, *cited)
    assert refused == ()
    return given


def check(context, *cited):
    """Confirmed and refused citations of the answer `So.`."""
    said = [ProviderCitation(span=(0, 2), citation=one) for one in cited]
    return check_provider_citations("So.", said, context)


def test_characters_of_a_document():
    """R1, C1, C2: a range of characters is found in the context."""
    context = context_of()
    quoted = "It was dug in 1880."
    start = WELL.index(quoted)

    (one,) = confirmed(context, chars(start, start + len(quoted), quoted))

    assert (one.markers, one.span, one.cited_text) == ((1,), (0, 2), quoted)
    assert [context.text[slice(*span)] for span in one.context_spans] == [quoted]


@pytest.mark.parametrize(("name", "count"), [("search result", 1), ("sentences", 3)])
def test_texts_of_a_search_result(name, count):
    """R1, C2: a range of texts is found, whole or a sentence of it, escapes and seams included."""
    context = context_of(name)
    sent = citable_blocks(context)[0]
    assert len(sent.texts) == count

    for first in range(count):
        for behind in range(first + 1, count + 1):
            quoted = "".join(sent.texts[first:behind])
            (one,) = confirmed(context, texts_from(first, behind, quoted))
            (span,) = one.context_spans
            stood = json.loads(f'[{{"text":"{context.text[slice(*span)]}"}}]')
            assert "".join(part["text"] for part in stood) == quoted


HOSTILE = st.lists(
    texts().filter(lambda t: sanitise(t)[0].strip() and not is_invisible(t)),
    min_size=1,
    max_size=3,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(st.data(), HOSTILE)
def test_any_range_of_any_text_is_found_where_it_stands(data, said):
    """R1, R3, C2: whatever is in a document, its places are true to the character."""
    found = [{"text": text, "source": f"{n}.md", "row": n} for n, text in enumerate(said)]
    mine = recipe("citations")
    context = assemble("Which?", found, budget=9_000, recipe=mine, format="anthropic-document")
    blocks = citable_blocks(context)
    place = data.draw(st.integers(0, len(blocks) - 1))  # texts that differ by white space are one
    sent = blocks[place]
    start = data.draw(st.integers(0, len(sent.text) - 1))
    end = data.draw(st.integers(start + 1, len(sent.text)))

    quoted = sent.text[start:end]
    (one,) = confirmed(context, chars(start, end, quoted, place, sent.part["title"]))

    (span,) = one.context_spans
    assert json.loads(f'"{context.text[slice(*span)]}"') == one.cited_text == quoted


REFUSED = {
    "no_such_block": [chars(0, 8, "The well", index=2), chars(0, 8, "The well", index=-1)],
    "no_such_place": [
        chars(0, 9_999, "The well"),
        chars(-1, 8, "The well"),
        chars(8, 8, ""),
        chars(8, 0, "The well"),
    ],
    "other_text": [chars(0, 8, "The mill"), chars(0, 8, "THE WELL"), chars(0, 9, "")],
    "misplaced": [chars(1, 9, "The well"), chars(0, 7, "The well")],
    "other_source": [chars(0, 8, "The well", title="Mill.Md")],
    "broken": [
        {"type": "char_location", "document_index": 0},
        chars(True, 8, "The well"),
        chars("0", 8, "The well"),
        chars(0, 8, None),
        chars(0, 8, "The well", index="0"),
    ],
    "unknown_kind": [
        {**chars(0, 8, "The well"), "type": "page_location"},
        {"type": "web_search_result_location", "url": "docs/well.md", "cited_text": "The well"},
        {"type": None},
        {},
        {"type": ["char_location"]},
    ],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_hold_is_refused_with_its_reason(reason):
    """R1, C3: nothing is mended or made up."""
    for cited in REFUSED[reason]:
        given, refused = check(context_of(), cited)

        assert given == ()
        assert [one.reason for one in refused] == [reason], cited


def test_a_range_outside_of_the_answer_is_refused():
    """C3: what supports nothing of the answer supports nothing."""
    cited = chars(0, 8, "The well")
    said = [ProviderCitation(span=span, citation=cited) for span in ((0, 4), (-1, 2), (2, 1))]

    given, refused = check_provider_citations("So.", said, context_of())

    assert (given, [one.reason for one in refused]) == ((), ["outside_answer"] * 3)


def test_a_search_result_must_be_named_as_it_was_sent():
    """R1: source and title come back with each citation, and must be those of that result."""
    context = context_of("search result")
    whole = citable_blocks(context)[0].text
    wrong = {
        "other_source": [
            texts_from(0, 1, whole, source="docs/mill.md"),
            texts_from(0, 1, whole, title="Mill"),
            texts_from(0, 1, whole, index=1),
        ],
        "no_such_block": [texts_from(0, 1, whole, index=2), chars(0, 8, "The well")],
        "no_such_place": [texts_from(0, 2, whole), texts_from(0, 0, "")],
        "misplaced": [texts_from(0, 1, "The well")],
    }
    for reason, said in wrong.items():
        given, refused = check(context, *said)
        assert (given, [one.reason for one in refused]) == ((), [reason] * len(said))
    assert confirmed(context, texts_from(0, 1, whole, title=None))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 80) | st.text(max_size=5) | st.just("The well"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
SAID = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        (
            *("document_index", "start_char_index", "end_char_index", "cited_text", "title"),
            *("search_result_index", "start_block_index", "end_block_index", "source"),
            "document_title",
        ),
        ANY,
    ),
)
KINDS = st.sampled_from(["char_location", "page_location", "search_result_location", 7])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(KINDS, SAID), max_size=4))
def test_whatever_a_provider_says_nothing_is_invented(said):
    """R1, C1: what is confirmed stands in the context; all else is refused, and nothing raises."""
    context = context_of()
    cited = [{**one, "type": kind} for kind, one in said]

    given, refused = check(context, *cited)

    assert len(given) + len(refused) == len(cited)
    known = {entry.marker for entry in context.citations}
    for one in given:
        assert set(one.markers) <= known
        assert all(context.text[slice(*s)] == one.cited_text for s in one.context_spans)


def test_a_long_title_is_cited_by_its_beginning():
    """R1, C2: what a provider gives back of it is the title that it was sent."""
    long = "A history of wells, volume 1: " * 30
    found = [
        {"text": "The well is deep.", "source": "yard.md", "title": long, "score": 0.9},
        {"text": "The mill is old.", "source": " ", "score": 0.4},
    ]
    context = assemble("How deep?", found, budget=2_000, format="anthropic-document")
    first, second = json.loads(context.text)

    given = confirmed(
        context,
        chars(0, 8, "The well", title=first["title"]),
        chars(0, 8, "The mill", index=1, title=None),
    )

    assert first["title"].endswith("…")
    assert long.strip() in first["context"]
    assert "title" not in second
    assert [one.markers for one in given] == [(1,), (2,)]
    assert context.citations[0].label == first["title"]


def test_blocks_of_an_answer_of_the_provider_s_own_client():
    """R1, F8: its text and citations, put together as docs/provider-blocks.md shows."""
    from anthropic import Anthropic  # the clients take long to import

    context = context_of("sentences")
    first = citable_blocks(context)[0].texts[0]
    told = ((texts_from(0, 1, first),), (texts_from(0, 1, "Nine.", index=7),))
    with serving("anthropic", "cites", pieces=("Nine metres.", " So."), places=told) as server:
        client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.port}")
        sent = format_for_anthropic(messages(context), cache="5m")
        with client, client.messages.stream(model="m", max_tokens=9, **sent) as stream:
            reply = stream.get_final_message()

    text, said = "", []
    for block in reply.content:
        span = (len(text), len(text) + len(block.text))
        text += block.text
        said += [
            ProviderCitation(span=span, citation=one.model_dump()) for one in block.citations or ()
        ]
    given, refused = check_provider_citations(text, said, context)

    assert [(text[slice(*one.span)], one.cited_text) for one in given] == [("Nine metres.", first)]
    assert [one.reason for one in refused] == ["no_such_block"]
    assert server.requests[0]["messages"] == sent["messages"]
