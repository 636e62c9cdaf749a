from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.formats import BUILTIN
from foveate.core.formats.minimal import Minimal
from foveate.core.formats.numbered import Numbered
from foveate.core.render import RenderedText, Renderer
from foveate.core.token_counter import TokenCounter
from foveate.core.types import Block
from foveate.testing.hostile import texts

ONE = Block(marker=1, text="one two", source="a.md", document_id="a")
TWO = Block(marker=2, text="three", source="b.md", document_id="b")
SIDE = Block(marker=0, text="fact", title="Facts", source="t", kind="supplement")


def test_no_blocks_is_an_empty_text():
    """Nothing to show gives an empty text in every format, and reads back as nothing."""
    for make in BUILTIN.values():
        renderer = Renderer(format=make())

        assert renderer.render([]) == RenderedText(text="", spans=())
        assert renderer.parse("") == ()


def test_spans_follow_the_order_of_the_blocks_given():
    """S11: supplements are moved to the front, and each span still belongs to its block."""
    rendered = Renderer(format=Numbered()).render([ONE, SIDE, TWO])

    assert [rendered.text[a:b] for a, b in rendered.spans] == ["one two", "fact", "three"]
    assert rendered.spans[1] < rendered.spans[0] < rendered.spans[2]


def test_supplements_alone():
    """S11: supplements without a block are rendered, and read back as no block."""
    for make in BUILTIN.values():
        renderer = Renderer(format=make())
        rendered = renderer.render([SIDE, SIDE])

        assert len(rendered.spans) == 2
        assert renderer.parse(rendered.text) == ()


def test_a_label_of_another_language():
    """R2: the label is the user's, and only that label is neutralised in texts."""
    block = replace(ONE, text="[Pagina context: x] [Page context: y]", summary="Over a")
    renderer = Renderer(format=Numbered(), label="Pagina context")

    assert renderer.render([block]).text == (
        "[Pagina context: Over a]\n[1] Source: a.md\n[\\Pagina context: x] [Page context: y]"
    )
    assert renderer.parse(renderer.render([block]).text)[0].fields["summary"] == "Over a"


def test_no_label_leaves_summaries_out():
    """R2: an empty label leaves page summaries out, of the text and of its cost."""
    renderer = Renderer(format=Numbered(), label="")
    summed = replace(ONE, summary="About a")

    assert renderer.render([summed]).text == renderer.render([ONE]).text
    assert renderer.overhead(summed) == renderer.overhead(ONE)
    assert "summary" not in renderer.shown(summed).fields


LABELS = ("Supplements", "Document", "SOURCE 1", "End of supplements", "1", "---", "# a", "INST")


@pytest.mark.parametrize("label", LABELS)
def test_a_label_that_is_taken_is_read_back(label):
    """R3: whatever label a renderer takes, every format reads its blocks back."""
    blocks = [replace(ONE, summary="About a"), replace(TWO, summary="About b"), TWO]
    for make in BUILTIN.values():
        renderer = Renderer(format=make(), label=label)
        read = renderer.parse(renderer.render([SIDE, *blocks]).text)

        assert tuple(replace(one, start=0) for one in read) == renderer.shown_blocks(blocks)


@pytest.mark.parametrize("label", ["Supplement", "supplement", "DOC", "Doc"])
def test_a_label_that_a_format_uses_itself_is_refused(label):
    """R3: `[Supplement: …]` and `[DOC: …]` are structure, so no summary may begin like them."""
    with pytest.raises(BadOption, match="a word that formats use for something else") as refused:
        Renderer(format=Numbered(), label=label)

    assert repr(label) in str(refused.value)


@pytest.mark.parametrize("label", ["a:b", "[x", "two\nlines", "a, b", "x" * 81, " x", "§ 1", "a\\"])
def test_a_label_that_could_not_be_read_back_is_refused(label):
    """X1: the error names the label."""
    with pytest.raises(BadOption) as refused:
        Renderer(format=Numbered(), label=label)

    assert repr(label) in str(refused.value)


def test_summary_counts_in_the_overhead():
    """R2 B1: what a summary costs is in the block's overhead, so that it can be shed first."""
    renderer = Renderer(format=Numbered())
    summed = replace(TWO, summary="About b")

    with_summary = renderer.overhead(summed, ONE)
    without = renderer.overhead(TWO, ONE)
    assert with_summary == "\n\n---\n\n[Page context: About b]\n[2] Source: b.md\n"
    assert without == "\n\n---\n\n[2] Source: b.md\n"


@given(
    name=st.sampled_from([*BUILTIN]),
    found=st.lists(st.one_of(texts(), st.text(st.characters(exclude_categories=["Cs"])))),
)
def test_any_text_is_read_back(name, found):
    """R3: also texts that nobody sanitised, control characters and all."""
    renderer = Renderer(format=BUILTIN[name]())
    blocks = [Block(marker=n, text=text, source="a.md") for n, text in enumerate(found, 1)]

    read = renderer.parse(renderer.render(blocks).text)
    assert [p.text for p in read] == [shown.text for shown in renderer.shown_blocks(blocks)]


def test_several_blocks_of_one_document_may_share_a_marker():
    """C2: citing by document gives its blocks the same marker, and they read back as two blocks."""
    renderer = Renderer(format=Numbered())
    text = renderer.render([ONE, replace(ONE, text="more")]).text

    assert [(p.fields["marker"], p.text) for p in renderer.parse(text)] == [
        ("1", "one two"),
        ("1", "more"),
    ]


def test_plain_text_is_counted_under_its_own_hash():
    """B7: a body that needs no change is the text itself, so its count is the chunk's."""
    renderer = Renderer(format=Numbered())
    text = "Plain prose.\n\nTwo paragraphs of it."

    assert renderer.body(text) is text
    assert Minimal().body("One paragraph.") == "One paragraph."
    assert TokenCounter.__dataclass_fields__.keys() >= {"body"}
