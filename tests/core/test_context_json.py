"""A context as text, as one line, and as JSON and back."""

from __future__ import annotations

import json

import pytest

from command_line import CHUNKS, QUERY
from foveate import BadInput, Context, assemble, check_answer


def test_a_context_is_its_text():
    """F1: `str` and f-strings give what is sent; `repr` is one line."""
    context = assemble(QUERY, CHUNKS, budget=60)

    assert str(context) == f"{context}" == context.text
    assert "\n" not in repr(context)
    assert repr(context).endswith("of 60 tokens, recipe 'default'>")


@pytest.mark.parametrize("recipe", ["default", "citations", "document-first", "four-stage"])
def test_a_context_comes_back_from_its_json(recipe):
    """F1, F2: through JSON text and back, the same JSON; what is checked is checked alike."""
    context = assemble(QUERY, CHUNKS, budget=2_000, recipe=recipe)
    record = json.loads(json.dumps(context.to_dict()))

    back = Context.from_dict(record, query=QUERY)

    assert back.to_dict() == record == context.to_dict()
    assert (back.text, back.query, back.budget) == (context.text, QUERY, context.budget)
    assert (back.citations, back.trace) == (context.citations, context.trace)
    assert back.manifest == context.manifest
    answer = "Keep it at one bar [1]."
    assert check_answer(answer, back) == check_answer(answer, context)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "another"}, "field 'text': is not the text that its manifest seals"),
        ({"blocks": None}, "field 'blocks': must be a list, not null"),
        ({"token_count": "7"}, "field 'token_count': must be a whole number, not str"),
        ({"trace": [{"stage": "x"}]}, r"field 'trace\[0\].options': is missing"),
    ],
)
def test_json_that_was_changed_is_refused(change, words):
    """X2: what is missing, wrong or changed is named by its place."""
    record = assemble(QUERY, CHUNKS).to_dict() | change

    with pytest.raises(BadInput, match=words):
        Context.from_dict(record)


def test_json_without_a_part_is_refused():
    """X2: a part that is missing is named."""
    record = assemble(QUERY, CHUNKS).to_dict()
    del record["manifest"]

    with pytest.raises(BadInput, match="field 'manifest': is missing"):
        Context.from_dict(record)
    with pytest.raises(BadInput, match="give the context as an object, not str"):
        Context.from_dict("text")  # type: ignore[arg-type]
