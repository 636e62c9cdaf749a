"""Citations by name, responses of odd shapes, and markers at a line's end."""

from __future__ import annotations

import pytest

from foveate import BadInput, BadOption, assemble, check_answer
from foveate.answer.provider_citations import resolve_provider_citations

FOUND = [
    {"text": "The well is nine metres deep.", "source": "yard/readme.md", "score": 0.9},
    {"text": "The mill was built of oak.", "source": "mill/readme.md", "score": 0.4},
]
WELL = {
    "type": "char_location",
    "document_index": 0,
    "document_title": "yard/readme.md",
    "start_char_index": 0,
    "end_char_index": 29,
    "cited_text": "The well is nine metres deep.",
}
MILL = {
    **WELL,
    "document_index": 1,
    "document_title": "mill/readme.md",
    "end_char_index": 26,
    "cited_text": "The mill was built of oak.",
}


def context_of(form="anthropic-document", found=FOUND):
    """Two chunks in files of one name."""
    return assemble("How deep?", found, budget=2_000, recipe="citations", format=form)


def said(*parts):
    """A message of Anthropic's; parts are (text, citations)."""
    blocks = [{"type": "text", "text": text, "citations": list(cited)} for text, *cited in parts]
    return {"type": "message", "content": blocks}


def test_markers_stand_before_the_end_of_the_line():
    """C1, C3: on the next line they would stand for what is said there."""
    context = context_of()
    lines = [("The well is nine metres deep.\n\n", WELL), ("The mill was built of oak.\n", MILL)]

    answer = resolve_provider_citations(said(*lines, ("It is windy out here, too.",)), context)
    checked = check_answer(answer.marked_text, context)

    assert answer.marked_text == (
        "The well is nine metres deep. [1]\n\nThe mill was built of oak. [2]\n"
        "It is windy out here, too."
    )
    assert [claim.markers for claim in checked.claims] == [(1,), (2,)]
    assert (
        resolve_provider_citations(said((" \n", WELL), ("Deep.",)), context).marked_text
        == " [1] \nDeep."
    )


@pytest.mark.parametrize(
    "reply",
    [
        {"content": ["The well is deep."]},
        {"content": [{"type": "text", "text": "Deep."}, 7]},
        {"content": [{"type": "text", "text": 7}]},
        {"choices": [{"message": {"content": "Deep."}}]},
    ],
)
def test_no_part_of_an_answer_is_passed_over(reply):
    """X1, R1: what cannot be read is refused; an answer with a hole in it is no answer."""
    with pytest.raises(BadInput, match="field 'response'"):
        resolve_provider_citations(reply, context_of())


def test_objects_within_plain_values_are_read():
    """R1: the client's own blocks and citations in lists of plain values."""
    from anthropic.types import TextBlock  # here, for it takes a second of each process

    context = context_of()
    block = TextBlock.model_validate({"type": "text", "text": "Deep.", "citations": [WELL]})
    parts = [{"type": "thinking"}, {"type": "text", "text": "De"}, {"type": "text", "text": "ep."}]

    assert resolve_provider_citations({"content": parts}, context).text == "Deep."

    assert resolve_provider_citations({"content": [block]}, context).marked_text == "Deep. [1]"
    cited = {"type": "text", "text": "Deep.", "citations": block.citations}
    assert resolve_provider_citations({"content": [cited]}, context).marked_text == "Deep. [1]"


@pytest.mark.parametrize("before", [-1, True, 1.0, None])
def test_before_is_a_count(before):
    """X1: a number that counts nothing would name another block."""
    with pytest.raises(BadOption, match="give how many blocks stood before"):
        resolve_provider_citations(said(("Deep.", WELL)), context_of(), before=before)


def test_a_number_from_a_document_is_no_citation_of_ours():
    """C1, C3, R3: who cites by itself writes no markers; what looks like one was copied."""
    reply = said(("The well is deep [2], says 【2】 and ", WELL), ("`a[2]`, [docs](x).",))
    context = context_of()

    answer = resolve_provider_citations(reply, context)

    assert answer.marked_text == "The well is deep [\\2], says 【\\2】 and [1] `a[2]`, [docs](x)."
    assert check_answer(answer.marked_text, context).cited == (1,)
    spoken = said(("It is deep [2].",))
    assert (
        resolve_provider_citations(spoken, context_of("openai-parts")).marked_text
        == "It is deep [2]."
    )
    assert answer.text == "The well is deep [2], says 【2】 and `a[2]`, [docs](x)."
