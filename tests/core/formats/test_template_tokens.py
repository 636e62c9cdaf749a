"""Every special and chat-template token that is listed, in every format and in what is sent."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from foveate import assemble
from foveate.answer.messages import (
    format_for_anthropic,
    format_for_openai,
    format_for_responses,
    messages,
)
from foveate.core.formats import BUILTIN
from foveate.core.formats.grouped import Grouped
from foveate.core.recipes import builtin_recipes
from foveate.core.render import Renderer
from foveate.core.text.template_tokens import FAMILIES, TOKENS
from foveate.core.types import Block

EVERY = [*(make() for make in BUILTIN.values()), Grouped(markers=True)]


def blocks_of(token):
    """A block that holds the token everywhere, and one whose fields begin with it."""
    for around in (f"a {token} b\n{token}", token):
        yield Block(
            marker=1, text=around, source=around, title=around, section=around, summary=around,
            document_id=token, page=1, metadata=(("author", around),),
        )  # fmt: skip


def raw(text):
    """The tokens that stand in the text, or in it as JSON would hold it."""
    return [t for t in TOKENS if t in text or json.dumps(t, ensure_ascii=False)[1:-1] in text]


@pytest.mark.parametrize("format", EVERY, ids=repr)
def test_no_listed_token_stands_in_a_context(format):
    """R3: in text, title, source, section, metadata and summary; each comes back as it was."""
    renderer = Renderer(format=format)
    blocks = [block for token in TOKENS for block in blocks_of(token)]
    blocks += [replace(block, kind="supplement") for block in blocks]

    text = renderer.render(blocks).text
    found = [parsed.text for parsed in renderer.parse(text)]

    assert raw(text) == []
    assert found == [block.text for block in blocks if block.kind == "chunk"]


@pytest.mark.parametrize("format", EVERY, ids=repr)
def test_no_listed_token_stands_in_messages(format):
    """R3: what is sent holds none either, as text, as parts, and for each provider."""
    found = [
        {"text": f"{n} {t} b", "source": f"{t} {n}", "title": t, "section": t, "summary": f"{t} s"}
        for n, t in enumerate(TOKENS)
    ]
    recipe = replace(builtin_recipes()["naive"], format=format)
    context = assemble("What is said?", found, budget=10**6, recipe=recipe)
    asked = messages(context, system="Answer.")

    kinds = (
        [format_for_anthropic]
        if "anthropic" in format.name
        else [format_for_openai, format_for_responses]
    )

    assert len(context.blocks) > len(TOKENS) / 2
    for sent in (asked, *(kind(asked) for kind in kinds)):
        assert raw(json.dumps(sent, ensure_ascii=False)) == []


def test_every_family_says_where_its_tokens_are_from():
    """R3: the list is data with its sources: a public model, and where it is documented."""
    named = [family.name for family in FAMILIES]

    assert len(set(named)) == len(named)
    assert [family for family in FAMILIES if not all(family)] == []
    assert [f.name for f in FAMILIES if len(set(f.tokens)) != len(f.tokens)] == []
    assert len(TOKENS) > 400
