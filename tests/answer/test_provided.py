"""Providers' own citations held against what was sent: confirmed to the character, or refused."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveate import BadInput, assemble, check_answer, messages
from foveate.answer.messages import format_for_anthropic
from foveate.answer.places import citable_blocks, map_offsets
from foveate.answer.provider_citations import resolve_provider_citations
from foveate.core.formats.anthropic import AnthropicSearchResult
from foveate.core.text.sanitise import is_invisible, sanitise
from foveate.core.text.shapes.gaps import ELISION
from foveate.plugins import recipe
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


def anthropic(*blocks):
    """Anthropic's message, of its own type; blocks are (text, citations)."""
    from anthropic.types import Message  # the clients take long to import

    content = [{"type": "text", "text": text, "citations": list(said)} for text, *said in blocks]
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return Message.model_validate({**message, "stop_reason": "end_turn", "usage": usage})


def test_characters_of_a_document():
    """R1, C1, C2: a range of characters is found in the context and in the document."""
    context = context_of()
    quoted = "It was dug in 1880."
    start = WELL.index(quoted)
    reply = anthropic(("Since ",), ("1880", chars(start, start + len(quoted), quoted)), (".",))

    found = resolve_provider_citations(reply, context)

    (one,) = found.confirmed_citations
    assert (found.text, found.marked_text, found.refused_citations) == (
        "Since 1880.",
        "Since 1880 [1].",
        (),
    )
    assert (one.markers, found.text[slice(*one.span)]) == ((1,), "1880")
    assert [context.text[slice(*span)] for span in one.context_spans] == [quoted]
    assert [(LEAD + WELL)[slice(*span)] for span in one.document_spans] == [quoted]
    assert found.citations == context.citations[:1]
    assert check_answer(found.marked_text, context).cited == (1,)


def test_the_model_saw_the_neutralised_text():
    """R3, C2: offsets count what was sent; the document's own places have no backslash in them."""
    context = context_of()
    (sent, other) = citable_blocks(context)
    quoted = r"Its water is <\s>cold<\/s>."
    start = sent.text.index(quoted)

    (one,) = resolve_provider_citations(
        anthropic(("Cold.", chars(start, len(sent.text), quoted))), context
    ).confirmed_citations

    (span,) = one.document_spans
    assert (LEAD + WELL)[slice(*span)] == "Its water is <s>cold</s>."
    assert json.loads(f'"{context.text[slice(*one.context_spans[0])]}"') == quoted
    assert other.text == MILL.replace("<s", r"<\s").replace("</s", r"<\/s")


@pytest.mark.parametrize(("name", "count"), [("search result", 1), ("sentences", 3)])
def test_texts_of_a_search_result(name, count):
    """R1, C2: a range of texts is found, whole or a sentence of it, escapes and seams included."""
    context = context_of(name)
    sent = citable_blocks(context)[0]
    assert len(sent.texts) == count

    for first in range(count):
        for behind in range(first + 1, count + 1):
            quoted = "".join(sent.texts[first:behind])
            found = resolve_provider_citations(
                anthropic(("Deep.", texts_from(first, behind, quoted))), context
            )
            (one,) = found.confirmed_citations
            (span,) = one.context_spans
            stood = json.loads(f'[{{"text":"{context.text[slice(*span)]}"}}]')
            assert "".join(part["text"] for part in stood) == quoted
            (place,) = one.document_spans
            assert (LEAD + WELL)[slice(*place)] == quoted.replace("\\", "")


HOSTILE = st.lists(
    texts().filter(lambda t: sanitise(t)[0].strip() and not is_invisible(t)),
    min_size=1,
    max_size=3,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(st.data(), HOSTILE, st.sampled_from(["", "Lead [1] <s> "]))
def test_any_range_of_any_text_is_found_where_it_stands(data, said, lead):
    """R1, R3, C2: whatever is in a document, its places are true to the character."""
    mine = recipe("citations")
    found = [
        {"text": text, "source": f"{n}.md", "start": len(lead), "row": n}
        for n, text in enumerate(said)
    ]
    context = assemble("Which?", found, budget=9_000, recipe=mine, format="anthropic-document")
    blocks = citable_blocks(context)
    place = data.draw(st.integers(0, len(blocks) - 1))  # texts that differ by white space are one
    sent = blocks[place]
    start = data.draw(st.integers(0, len(sent.text) - 1))
    end = data.draw(st.integers(start + 1, len(sent.text)))
    cited = chars(start, end, sent.text[start:end], place, sent.part["title"])

    (one,) = resolve_provider_citations(anthropic(("So.", cited)), context).confirmed_citations

    document = lead + said[int(sent.block.source.removesuffix(".md"))]
    (span,) = one.context_spans
    assert json.loads(f'"{context.text[slice(*span)]}"') == one.cited_text
    places = map_offsets(sent.text, sent.block.text)
    own = sent.block.text[places[start] : places[end]]
    exact = sanitise(document)[0] == document
    stood = [document[slice(*one)] for one in one.document_spans]
    assert stood == ([own] if own else []) or not exact
    assert all(len(one) == len(own) for one in stood)


def test_places_in_an_extract_are_those_of_its_sentences():
    """C2, S8: a quotation across an elision stands at two places of the document."""
    said = [f"The pump {n} is painted in the colour of the sea." for n in range(30)]
    said[3], said[20] = "The well is nine metres deep.", "The well was dug in 1880."
    text = " ".join(said)
    found = [{"text": text, "source": "a.md", "start": 7, "score": 0.9}]
    context = assemble(
        "How deep is the well, and when was it dug?", found, budget=130, format="anthropic-document"
    )
    (sent,) = citable_blocks(context)
    assert ELISION in sent.text

    whole = chars(0, len(sent.text), sent.text, title="a.md")
    (one,) = resolve_provider_citations(anthropic(("Deep.", whole)), context).confirmed_citations

    shown = ELISION.join((" " * 7 + text)[slice(*s)] for s in one.document_spans)
    assert f"… {shown} …" == sent.text
    assert len(one.document_spans) == sent.text.count(ELISION) + 1


def test_where_offsets_are_not_known_no_place_is_made_up():
    """C2: without offsets, or with a hidden character gone, there is no place in the document."""
    for extra in ({}, {"start": 0, "text": "The well\u200b is deep."}):
        found = [{"text": "The well is deep.", "source": "a.md", **extra}]
        context = assemble("How deep?", found, budget=200, format="anthropic-document")
        (one,) = resolve_provider_citations(
            anthropic(("Deep.", chars(0, 8, "The well", title="a.md"))), context
        ).confirmed_citations

        assert one.document_spans == ()
        assert context.text[slice(*one.context_spans[0])] == "The well"


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
        "x",
        None,
    ],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_hold_is_refused_with_its_reason(reason):
    """R1, C3: nothing is mended or made up; the answer itself stays as it was."""
    context = context_of()
    for cited in REFUSED[reason]:
        part = {"type": "text", "text": "Deep.", "citations": [cited]}

        found = resolve_provider_citations({"type": "message", "content": [part]}, context)

        assert [one.reason for one in found.refused_citations] == [reason], cited
        assert (found.confirmed_citations, found.citations, found.marked_text) == ((), (), "Deep.")


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
        found = resolve_provider_citations(anthropic(("Deep.", *said)), context)
        assert [one.reason for one in found.refused_citations] == [reason] * len(said)
    assert resolve_provider_citations(
        anthropic(("Deep.", texts_from(0, 1, whole, title=None))), context
    ).confirmed_citations


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
@given(st.lists(st.tuples(KINDS, SAID), max_size=4), st.sampled_from([0, 1]))
def test_whatever_a_provider_says_nothing_is_invented(said, before):
    """R1, C1: what is confirmed stands in the context; all else is refused, and nothing raises."""
    context = context_of()
    cited = [{**one, "type": kind} for kind, one in said]
    part = {"type": "text", "text": "Deep.", "citations": cited}

    found = resolve_provider_citations({"content": [part]}, context, before=before)

    assert len(found.confirmed_citations) + len(found.refused_citations) == len(cited)
    known = {entry.marker for entry in context.citations}
    for one in found.confirmed_citations:
        assert set(one.markers) <= known
        assert all(context.text[slice(*s)] == one.cited_text for s in one.context_spans)
        assert 0 <= one.span[0] <= one.span[1] <= len(found.text)


def test_blocks_of_earlier_turns_are_counted_too():
    """R1: a provider counts all of a request; what stood before is said with `before`."""
    context = context_of()

    later = anthropic(("Deep.", chars(0, 8, "The well", index=3)))

    assert [
        one.markers
        for one in resolve_provider_citations(later, context, before=3).confirmed_citations
    ] == [(1,)]
    assert [one.reason for one in resolve_provider_citations(later, context).refused_citations] == [
        "no_such_block"
    ]


def test_several_citations_of_one_stretch():
    """C1: each marker stands once behind the stretch that it is given for, in their order."""
    said = chars(0, 8, "The mill", index=1, title="Mill.Md")
    reply = anthropic(
        ("Both are old", said, chars(0, 8, "The well"), said), (", and ",), ("wet.", said)
    )

    found = resolve_provider_citations(reply, context_of())

    assert found.marked_text == "Both are old [2][1], and wet. [2]"
    assert [one.marker for one in found.citations] == [1, 2]
    assert len(found.confirmed_citations) == 4


@pytest.mark.parametrize("reply", [None, 7, "text", {}, {"content": "text"}, []])
def test_what_is_no_response_is_refused(reply):
    """X1: the error names what to give."""
    with pytest.raises(BadInput, match="field 'response'"):
        resolve_provider_citations(reply, context_of())


def test_a_response_without_citations_is_an_answer():
    """R1: no citations, none refused; nothing at all is an empty answer."""
    context = context_of()
    found = resolve_provider_citations(anthropic(("Deep.",)), context)

    assert (found.text, found.marked_text, found.confirmed_citations) == ("Deep.", "Deep.", ())
    assert resolve_provider_citations({"content": []}, context).text == ""


def test_the_client_streams_citations_that_hold():
    """R1, F8: what the provider's own client puts together from a stream is read as it is."""
    from anthropic import Anthropic

    context = context_of("sentences")
    first = citable_blocks(context)[0].texts[0]
    told = ((texts_from(0, 1, first),), (texts_from(0, 1, "Nine.", index=7),))
    with serving("anthropic", "cites", pieces=("Nine metres.", " So."), places=told) as server:
        client = Anthropic(api_key="none", base_url=f"http://127.0.0.1:{server.port}")
        sent = format_for_anthropic(messages(context), cache="5m")
        with client, client.messages.stream(model="m", max_tokens=9, **sent) as stream:
            reply = stream.get_final_message()

    found = resolve_provider_citations(reply, context)

    assert found.marked_text == "Nine metres. [1] So."
    assert [one.cited_text for one in found.confirmed_citations] == [first]
    assert [one.reason for one in found.refused_citations] == ["no_such_block"]
    assert server.requests[0]["messages"] == sent["messages"]
