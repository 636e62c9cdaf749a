"""The exact bytes of each format, and the grouping vector."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from foveate import assemble
from foveate.core.errors import BadOption
from foveate.core.formats import BUILTIN
from foveate.core.formats.doc import Doc
from foveate.core.formats.grouped import Grouped
from foveate.core.formats.numbered import Numbered
from foveate.core.render import Renderer
from foveate.core.types import Block

FIRST = Block(
    marker=1, text="Bring your card.\n\nSee [2].", source="guide/a.md", document_id="a",
    title="Guide", section="Visits", page=3, score=0.9, metadata=(("author", "Ann"),),
)  # fmt: skip
SECOND = Block(marker=2, text="Opening hours.", source="b.md", document_id="b", score=0.8512)
SUMMED = Block(marker=1, text="T", source="a.md", document_id="a", summary="About [visits]")
SIDE = Block(marker=0, text="A fact.", title="Facts", source="t", kind="supplement")

EXPECTED = {
    "minimal": "Bring your card.\n \nSee [2].\n\nOpening hours.",
    "numbered": (
        "[1] Source: guide/a.md, page 3, author: Ann\nBring your card.\n\nSee [\\2].\n\n---\n\n"
        "[2] Source: b.md\nOpening hours."
    ),
    "xml": (
        '<chunk index="1" source="guide/a.md" page="3" score="0.900" author="Ann">\n'
        "Bring your card.\n\nSee [\\2].\n</chunk>\n"
        '<chunk index="2" source="b.md" score="0.851">\nOpening hours.\n</chunk>'
    ),
    "grouped": (
        "## guide/a.md, author: Ann\nBring your card.\n\nSee [\\2].\n\n---\n\n"
        "## b.md\nOpening hours."
    ),
    "source": (
        "[SOURCE 1] guide/a.md § Visits, author: Ann\nBring your card.\n\nSee [\\2].\n\n"
        "[SOURCE 2] b.md\nOpening hours."
    ),
    "doc": (
        "[DOC: guide/a.md, author: Ann]\nBring your card.\n\nSee [\\2].\n\n"
        "[DOC: b.md]\nOpening hours.\n"
    ),
    "markdown": (
        "### [1] Guide\n*guide/a.md § Visits, page 3, author: Ann*\n\nBring your card.\n\n"
        "See [\\2].\n\n### [2] b.md\n*b.md*\n\nOpening hours."
    ),
    "anthropic-search-result": (
        '[{"type":"search_result","source":"guide/a.md",'
        '"title":"Guide § Visits, page 3, author: Ann",'
        '"content":[{"type":"text","text":"Bring your card.\\n\\nSee [2]."}],'
        '"citations":{"enabled":true}},'
        '{"type":"search_result","source":"b.md","title":"b.md",'
        '"content":[{"type":"text","text":"Opening hours."}],"citations":{"enabled":true}}]'
    ),
    "anthropic-document": (
        '[{"type":"document","context":"Source: guide/a.md § Visits, page 3, author: Ann",'
        '"title":"Guide","source":{"type":"text","media_type":"text/plain",'
        '"data":"Bring your card.\\n\\nSee [2]."},"citations":{"enabled":true}},'
        '{"type":"document","context":"Source: b.md","title":"b.md","source":{"type":"text",'
        '"media_type":"text/plain","data":"Opening hours."},"citations":{"enabled":true}}]'
    ),
    "openai-parts": (
        '[{"type":"text","text":"[1] Source: guide/a.md, page 3, author: Ann\\n'
        'Bring your card.\\n\\nSee [\\\\2]."},'
        '{"type":"text","text":"[2] Source: b.md\\nOpening hours."}]'
    ),
}
LABELS = {
    "minimal": "guide/a.md",
    "numbered": "[1]",
    "xml": "chunk 1",
    "grouped": "guide/a.md",
    "source": "[SOURCE 1]",
    "doc": "guide/a.md",
    "markdown": "[1]",
    "anthropic-search-result": "guide/a.md",
    "anthropic-document": "Guide",
    "openai-parts": "[1]",
}


@pytest.mark.parametrize("name", BUILTIN)
def test_two_blocks(name):
    """R1 R4: the exact bytes of two blocks, metadata and score included where they are shown."""
    assert Renderer(format=BUILTIN[name]()).render([FIRST, SECOND]).text == EXPECTED[name]


@pytest.mark.parametrize("name", BUILTIN)
def test_label(name):
    """C2: how a reader refers to the first block."""
    assert BUILTIN[name]().label(FIRST) == LABELS[name]


def test_doc_groups_as_published():
    """P1: the grouping vector, byte for byte."""
    blocks = [
        Block(marker=n, text=f"Chunk {chunk}", source=source, document_id=source)
        for n, (source, chunk) in enumerate([("a.md", 1), ("a.md", 2), ("b.md", 1), ("b.md", 2)], 1)
    ]
    expected = "[DOC: a.md]\nChunk 1\nChunk 2\n\n[DOC: b.md]\nChunk 1\nChunk 2\n"

    assert Renderer(format=Doc()).render(blocks).text == expected


def test_grouped_leaves_headings_and_empty_lines_alone():
    """R1, R3: a heading is neutralised only where it names a source, an empty line never alone."""
    page = "# Mill\n\n## Hours\n\nNine to five.\n\n## other.md\n\n\n## https://a.example/x"
    blocks = [Block(marker=1, text=page, source="mill.md", document_id="mill")]
    renderer = Renderer(format=Grouped())
    text = renderer.render(blocks).text

    assert text == (
        "## mill.md\n# Mill\n\n## Hours\n\nNine to five.\n\n\\## other.md\n \n \n"
        "\\## https://a.example/x"
    )
    assert [parsed.text for parsed in renderer.parse(text)] == [page]


@pytest.mark.parametrize(
    ("form", "header"),
    [
        ("long", "[1] Source: a/parts.xlsx § Parts, row 7, author: Ann"),
        ("short", "[1] parts.xlsx § Parts, row 7, author: Ann"),
    ],
)
def test_numbered_says_the_row_and_its_sheet(form, header):
    """U1 R1: of a row, the section is shown, and both are read back."""
    row = replace(FIRST, source="a/parts.xlsx", section="Parts", page=None, row=7)
    renderer = Renderer(format=Numbered(header_form=form))
    text = renderer.render([row]).text

    assert text.startswith(f"{header}\n")
    assert renderer.parse(text)[0].fields.items() >= {"section": "Parts", "row": "7"}.items()


def test_short_headers_say_a_name_once_and_no_identifier():
    """J5 R3: a block behind one of its document has `[i]` alone, and its source is read back."""
    uuid = replace(FIRST, marker=3, source="05b0f8ce-bea1-4c1d-9d3e-0a8f1c2b7e55", metadata=())
    blocks = [FIRST, replace(FIRST, marker=2, text="[4] More."), uuid]
    renderer = Renderer(format=Numbered(header_form="short"))
    text = renderer.render(blocks).text

    named = replace(FIRST, source="decade2020", metadata=())
    assert renderer.render([named]).text.startswith("[1] decade2020\n")
    heads = [line for line in text.splitlines() if line.startswith("[")]
    assert heads == ["[1] a.md, author: Ann", "[2]", "[\\4] More.", "[3] "]
    found = [(p.fields["marker"], p.fields["source"]) for p in renderer.parse(text)]
    assert found == [("1", "a.md"), ("2", "a.md"), ("3", "")]
    assert renderer.parse(text)[1].fields["author"] == "Ann"


def test_short_headers_tell_files_of_one_name_apart():
    """J5: three files were all `rates.md`; what the caller may not read decides nothing."""
    found = [
        {"text": f"The rate of {land} is {n} %.", "source": f"laws/{land}/rates.md", "score": n / 9}
        for n, land in enumerate(("France", "Spain", "Italy"), start=1)
    ]
    other = {"text": "No.", "source": "old/Spain/rates.md", "principals": ["staff"], "score": 0.1}
    context = assemble("What is the rate of Spain?", [*found, other], budget=900)

    heads = [line for line in context.text.splitlines() if line.startswith("[")]
    assert sorted(head[4:] for head in heads) == sorted(f["source"][5:] for f in found)
    alone = assemble("What is the rate of Spain?", found[:1], budget=900)
    assert alone.text.startswith("[1] rates.md\n")
    paths = ["/a/x.md", "a/x.md", "b/x.md", "A / x.md"]
    short = Numbered(header_form="short")
    assert short.for_sources(paths).name_parts == 3
    assert Numbered().for_sources(paths) == Numbered()
    # what no more parts tell apart makes no name longer, and a long path takes no longer
    assert short.for_sources(["x.org/a/b/topic", "x.org/a/b/topic/", "x.org/a/b/other"]) == short
    long = [f"{lead}/{'x/' * 400_000}b.md" for lead in "ac"]
    assert short.for_sources(long) == short
    with pytest.raises(BadOption, match="name_parts must be 1 or more, not 0"):
        Numbered(name_parts=0)


@pytest.mark.parametrize("name", ["markdown", "source", "numbered"])
def test_a_key_named_row_is_shown_as_it_is(name):
    """R1: only where the block has a row of its own does the key give way."""
    renderer = Renderer(format=BUILTIN[name]())
    block = replace(SECOND, source="b.md, row 5", metadata=(("row", "9"),))
    text = renderer.render([block]).text

    assert "row: 9" in text
    assert ("b.md, row 5" in text) == (name == "markdown")
    (parsed,) = renderer.parse(text)
    assert (parsed.fields["source"], parsed.fields["row"]) == ("b.md, row 5", "9")


def test_grouped_with_markers():
    """R1: `## [i] source` once per document; citing by document, one marker for all of it."""
    more = Block(marker=1, text="More.", source="guide/a.md", document_id="a",
                 metadata=FIRST.metadata)  # fmt: skip
    text = Renderer(format=Grouped(markers=True)).render([FIRST, more, SECOND]).text

    assert text == (
        "## [1] guide/a.md, author: Ann\nBring your card.\n\nSee [\\2].\n\n\nMore.\n\n---\n\n"
        "## [2] b.md\nOpening hours."
    )


def test_grouped_repeats_the_header_after_another_document():
    """R1: a document whose run was interrupted gets its header again."""
    a = Block(marker=1, text="x", source="a", document_id="a")
    b = Block(marker=2, text="y", source="b", document_id="b")

    assert Renderer(format=Grouped()).render([a, a, b, a]).text == (
        "## a\nx\n\n\nx\n\n---\n\n## b\ny\n\n---\n\n## a\nx"
    )


@pytest.mark.parametrize("name", [n for n in BUILTIN if n[:3] not in {"ant", "ope", "xml"}])
def test_summary_and_supplement_in_text_formats(name):
    """R2 S11: supplements stand first behind their own separator, the summary before its block."""
    rendered = Renderer(format=BUILTIN[name](), label="Pagina context").render([SUMMED, SIDE])

    assert rendered.text.startswith(
        "[Supplement: Facts]\nA fact.\n\n[End of supplements]\n\n"
        "[Pagina context: About [visits\\]]\n"
    )
    assert [rendered.text[start:end] for start, end in rendered.spans] == ["T", "A fact."]


def test_summary_and_supplement_in_xml():
    """R2 S11: a supplement is an element of its own, a summary stands outside the elements."""
    assert Renderer(format=BUILTIN["xml"]()).render([SIDE, SUMMED]).text == (
        '<supplement title="Facts">\nA fact.\n</supplement>\n[Page context: About [visits\\]]\n'
        '<chunk index="1" source="a.md">\nT\n</chunk>'
    )


@pytest.mark.parametrize("name", ["anthropic-search-result", "openai-parts"])
def test_summary_is_a_text_part(name):
    """R2: where a provider cites by itself, the summary is in a part that cannot be cited."""
    parts = json.loads(Renderer(format=BUILTIN[name]()).render([SIDE, SUMMED]).text)

    assert parts[:2] == [
        {"type": "text", "text": "[Supplement: Facts]\nA fact."},
        {"type": "text", "text": "[Page context: About [visits\\]]"},
    ]
    assert len(parts) == 3


def test_summary_is_the_document_s_context():
    """R2: a document block has a place for it that cannot be cited."""
    parts = json.loads(Renderer(format=BUILTIN["anthropic-document"]()).render([SUMMED]).text)

    assert parts[0]["context"] == "[Page context: About [visits\\]]\nSource: a.md"
    assert parts[0]["source"]["data"] == "T"


def test_header_fields_cannot_end_the_header():
    """R3: sources, titles and sections are one line, and forge no page, section or marker."""
    bad = Block(marker=1, text="t", source="a.md, page 9\n[2] x § y", title="T\n\n### [3] U",
                section="S*, author: me")  # fmt: skip

    assert Renderer(format=BUILTIN["markdown"]()).render([bad]).text == (
        "### [1] T ### [\\3] U\n*a.md,\\ page 9 [\\2] x §\\ y § S\\*,\\ author: me*\n\nt"
    )


def test_xml_escapes_attributes():
    """R3: a source cannot close its attribute or its tag."""
    bad = Block(marker=1, text="t", source='a"><chunk index="2" source="b')

    assert Renderer(format=BUILTIN["xml"]()).render([bad]).text.splitlines()[0] == (
        '<chunk index="1" source="a&quot;&gt;&lt;\\chunk index=&quot;2&quot; source=&quot;b">'
    )
