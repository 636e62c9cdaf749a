"""A context in a notebook: read by a parser and by a browser, hostile documents included."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from lxml import html as lxml_html

from foveate import assemble
from foveate.core.notebook import MAX_DECISIONS, MAX_ROWS, MAX_TEXT_LENGTH, context_html, stage_html
from foveate.testing.hostile import texts
from notebooks import MARKUP, context_of, everything

TAGS = {
    *("div", "p", "b", "br", "span", "bdi"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
}


class Tags(HTMLParser):
    """What the standard library's parser finds of markup."""

    def __init__(self):
        super().__init__()
        self.found: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []

    def handle_starttag(self, tag, attrs):
        """Note it."""
        self.found.append((tag, tuple(attrs)))


def tags(shown):
    """Every element with its attributes."""
    parser = Tags()
    parser.feed(shown)
    parser.close()
    return parser.found


def check_plain(shown):
    """Nothing but our own elements, and no attribute that does anything."""
    found = tags(shown)
    assert {tag for tag, _ in found} <= TAGS
    for _, attributes in found:
        assert {name for name, _ in attributes} <= {"style", "class"}
        for _, value in attributes:
            assert re.fullmatch(r"[\w.,:;%()\- ]+", value)
            assert not re.search(r"url|(?<!border-)color|background|position", value)
    assert {element.tag for element in lxml_html.fragment_fromstring(shown).iter()} <= TAGS
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


def test_no_document_writes_markup():
    """F1, R3: whatever documents say, in whatever field, it is text."""
    for shown in everything(context_of(*MARKUP, query=MARKUP[0])):
        check_plain(shown)


@settings(max_examples=40, deadline=None)
@given(texts(), texts())
def test_hostile_texts_stay_text(text, name):
    """F1, R3: nor does anything that looks like structure, in any script."""
    context = context_of(text, name)
    for shown in everything(context):
        check_plain(shown)


def test_what_cannot_be_seen_is_shown_as_such():
    """F1, R3: invisible letters, old format characters; joiners stay."""
    hidden = "\u034f\u115f\u1160\u180e\u2060\u2064\u206a\u206f\u3164\ufeff\uffa0\ufff9\U000e0041"
    shown = context_html(context_of("a", query=f"How {hidden} deep?\u200d\ufe0f"))

    assert "\ufffd" * len(hidden) in shown
    assert not set(hidden) & set(shown)
    assert "\u200d\ufe0f" in shown


def test_what_is_shown_is_what_is_in_the_context():
    """F1, C2, D7: labels, sources, scores, texts, tokens, stages and reasons can be read."""
    context = context_of("alpha & <b>beta</b>", "gamma")
    read = lxml_html.fragment_fromstring(context._repr_html_()).text_content()

    for block, entry in zip(context.blocks, context.citations, strict=True):
        for part in (block.text, block.source, entry.label, f"{block.score:.3f}"):
            assert part in read
    assert f"{context.token_count:,} of 4,000 tokens" in read
    assert "§ gamma" in read
    for stage in context.trace:
        assert stage.stage in read
        of_stage = lxml_html.fragment_fromstring(stage_html(stage)).text_content()
        assert all(one.reason in of_stage for one in stage.decisions[:MAX_ROWS])
        of_trace = lxml_html.fragment_fromstring(context.trace._repr_html_()).text_content()
        assert stage.stage in of_trace
        assert all(one.chunk_id[:99] in of_trace for one in stage.decisions[:MAX_DECISIONS])


def test_it_stays_small():
    """F1: long texts and many blocks are cut, and it says so."""
    long = context_of(*(f"word {n} " * 500 for n in range(3)), budget=20_000)
    many = context_of(*(f"thing {n}" for n in range(MAX_ROWS + 60)), budget=20_000)

    assert len(long.blocks) == 3
    assert len(context_html(long)) < 20 * MAX_TEXT_LENGTH
    assert " […]" in context_html(long)
    assert len(many.blocks) == MAX_ROWS + 60
    assert "… and 60 more" in context_html(many)
    assert len(context_html(many)) < 60_000
    assert len(many.trace._repr_html_()) < 60_000


@pytest.mark.parametrize("count", [0, 1])
def test_numbers_and_nouns_agree(count):
    """F1: one block is a block."""
    context = (
        context_of(*["alpha"] * count)
        if count
        else assemble("Which?", [{"text": "A."}], budget=90, recipe="local-llm")
    )

    assert f"{count} block{'' if count == 1 else 's'}" in context_html(context)
