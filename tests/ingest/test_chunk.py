"""Chunks: exact offsets, never over size, everything covered, headings respected, linear work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption
from foveate.core.text.blocks import block_spans
from foveate.core.text.graphemes import last_grapheme_boundary
from foveate.core.text.sentences import MAX_SENTENCE_LENGTH
from foveate.ingest.chunk import Piece, each_chunk
from foveate.ingest.loaders.blocks import Rows
from foveate.ingest.loaders.text import find_headings, sections_from_headings
from foveate.ingest.units import CountBatch
from foveate.ports import Section
from foveate.providers.tokenizers.openai import Toktok
from foveate.providers.tokenizers.simple import Simple

chunking, counting = sys.modules["foveate.ingest.chunk"], sys.modules["foveate.ingest.units"]
SAMPLES = (
    *("Boil the water first. ", "Then wait, e.g. three minutes. ", "اغلِ الماء أولاً. ", "क्षत्रिय "),
    *("你好。先把水烧开，然后等三分钟。", "👩\u200d👩\u200d👧👍🏽", "e\u0301\u0323", "\u0301" * 90),
    *("word " * 60, "x" * 700, "ไม่มีช่องว่าง" * 9, "<|endoftext|>", " " * 300),
    *("\n", "\n\n", "\r\n", "   ", "\t", "# Top\n\n", "## Sub\n", "### Deep\n\n", "Title\n=====\n"),
    *("- item one\n", "1. first\n", "    indented code\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
    "```py\nfor x in y:\n    pass\n\n```\n",
)
TEXTS = st.lists(st.one_of(st.sampled_from(SAMPLES), st.text(max_size=40)), max_size=40).map(
    "".join
)
TOKENIZERS: list[Tokenizer] = [Toktok(name="cl100k_base"), Toktok(name="o200k_base"), Simple()]


def _chunk(
    text: str,
    tokenizer: Tokenizer,
    size: int,
    overlap: int,
    calls: list[Sequence[str]] | None = None,
) -> list[Piece]:
    def count(texts: Sequence[str]) -> list[int]:
        if calls is not None:
            calls.append(texts)
        return [tokenizer.count(each) for each in texts]

    found = sections_from_headings(text, find_headings(text, markdown=True))
    return list(each_chunk(text, found, count, size=size, overlap=overlap))


def _quarters(texts: Sequence[str]) -> list[int]:
    return [len(text) // 4 for text in texts]


@given(pages=st.lists(TEXTS, min_size=1, max_size=6), size=st.integers(16, 120), rows=st.booleans())
def test_pages_and_rows_stand_apart(pages: list[str], size: int, *, rows: bool) -> None:
    """T2: no chunk holds texts of two pages or two rows, but for a heading that ends a page."""
    texts = [page.encode("utf-8", "replace").decode().strip() for page in pages]
    found, at = [], 0
    for number, page in enumerate(texts, 1):
        place = {"row": number} if rows else {"page": number}
        found.append(Section(start=at, end=at + len(page), path="", **place))
        at += len(page) + 2
    text = "\n\n".join(texts)
    for piece in each_chunk(text, found, _quarters, size=size, overlap=0):
        over = [
            section
            for section in found
            if text[max(section.start, piece.start) : min(section.end, piece.end)].strip()
        ]
        headings = [block for block in block_spans(piece.text) if block[1] == "heading"]
        assert len(over) <= 1 + len(headings)
        assert (piece.row if rows else piece.page) in [s.row or s.page for s in over]


SAYINGS = st.text(st.sampled_from("ab .?é"), max_size=60).map(lambda said: f"A: x{said}".rstrip())


@given(
    texts=st.lists(SAYINGS, min_size=1, max_size=30),
    size=st.sampled_from([100, 200, 400]),
    sheets=st.integers(1, 3),
    overlap=st.integers(0, 40),
)
def test_short_rows_share_a_chunk_and_longer_ones_do_not(
    texts: list[str], size: int, sheets: int, overlap: int
) -> None:
    """T2, X6: in a large table, rows in one chunk are short, whole, of one sheet."""
    found, at = Rows(), 0
    for number, text in enumerate(texts):
        found.add(at, at + len(text), 2 * number + 1, f"sheet {number * sheets // len(texts)}")
        at += len(text) + 2
    whole = "\n\n".join(texts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "MANY_ROWS", 0)
        pieces = list(each_chunk(whole, found, _characters, size=size, overlap=overlap))
    for piece in pieces:
        over = [row for row in found if row.start < piece.end and piece.start < row.end]
        assert piece.text == whole[piece.start : piece.end]
        assert (piece.row, piece.section) == (over[0].row, over[0].path)
        if len(over) > 1:
            assert [row for _, row, _ in piece.places] == [row.row for row in over]
            assert all(row.end - row.start < size // 10 for row in over)
            assert len({row.path for row in over}) == 1
            assert (piece.start, piece.end) == (over[0].start, over[-1].end)
    short = [row for row in found if row.end - row.start + 2 < size // 10]
    if len(short) == len(found):
        assert len(pieces) <= sheets + 2 * len(whole) // (size - size // 10)


@given(text=TEXTS, size=st.integers(16, 120), runs=st.integers(1, 4), some=st.integers(1, 7))
def test_where_a_slice_ends_changes_nothing(text: str, size: int, runs: int, some: int) -> None:
    """X6, D1: units and chunks are made in slices, and come out as they do in one."""
    text = text.encode("utf-8", "replace").decode()
    whole = _chunk(text, TOKENIZERS[0], size, size // 4)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunking, "SLICE", runs)
        patched.setattr(counting, "SLICE", some)
        assert _chunk(text, TOKENIZERS[0], size, size // 4) == whole


@pytest.mark.parametrize("unit", ["Water boils. ", "x y ", "# H\n\ntext\n\n", "a: b\n\n", "- a\n"])
def test_the_first_chunks_come_before_the_text_is_read(unit: str) -> None:
    """X6: of a long text a slice is counted before its first chunk is there."""
    text = unit * (8_000_000 // len(unit))
    counted: list[int] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.extend(map(len, texts))
        return _quarters(texts)

    first = next(each_chunk(text, (), count))
    assert text.startswith(first.text)
    assert max(counted) <= MAX_SENTENCE_LENGTH + 2
    assert len(counted) < 60 * counting.SLICE


@given(
    text=TEXTS,
    tokenizer=st.sampled_from(TOKENIZERS),
    size=st.integers(16, 120),
    part=st.integers(0, 4),
)
def test_laws(text: str, tokenizer: Tokenizer, size: int, part: int) -> None:
    """T2: exact offsets, no chunk over size, all text covered, sequences and places count up."""
    text = text.encode("utf-8", "replace").decode()
    pieces = _chunk(text, tokenizer, size, size * part // 8)
    last = 0
    for sequence, piece in enumerate(pieces):
        assert piece.sequence == sequence
        assert text[piece.start : piece.end] == piece.text
        assert piece.text.strip()
        assert piece.tokens == tokenizer.count(piece.text) <= size
        assert piece.byte_offset == len(text[: piece.start].encode())
        before = text[: piece.start]
        assert piece.line == 1 + before.count("\n") + before.count("\r") - before.count("\r\n")
        assert not text[last : piece.start].strip()
        last = piece.end
    assert not text[last:].strip()
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(pieces))


SENTENCES = [f"Number {i} says that water boils when it is hot enough for tea. " for i in range(60)]


def test_chunks_begin_and_end_at_sentences() -> None:
    """T2: prose is cut at sentence ends, and the default size is nearly filled."""
    pieces = _chunk("".join(SENTENCES), TOKENIZERS[0], 350, 70)
    assert len(pieces) > 1
    for piece in pieces:
        assert piece.text.startswith("Number ")
        assert piece.text.endswith("tea.")
    assert all(piece.tokens > 320 for piece in pieces[:-1])


def test_overlap_is_whole_units_up_to_its_size() -> None:
    """T2: a chunk begins with the last whole sentences of the one before, up to 70 tokens."""
    for before, after in pairwise(_chunk("".join(SENTENCES), TOKENIZERS[0], 350, 70)):
        shared = before.text[after.start - before.start :]
        assert after.text.startswith(shared)
        assert 50 < TOKENIZERS[0].count(shared) <= 70
    without = _chunk("".join(SENTENCES), TOKENIZERS[0], 350, 0)
    assert all(a.end <= b.start for a, b in pairwise(without))


PARAGRAPH = "".join(SENTENCES[:10])


def test_a_heading_opens_a_chunk_and_stays_with_its_text() -> None:
    """T2: chunks do not run over headings; a heading is never the end of a chunk."""
    text = "".join(f"## Part {i}\n\n{PARAGRAPH}\n\n" for i in range(5))
    pieces = _chunk(text, TOKENIZERS[0], 350, 70)
    assert [piece.section for piece in pieces] == [f"Part {i}" for i in range(5)]
    assert all(piece.text.startswith("## Part") and piece.text.count("##") == 1 for piece in pieces)


def test_tiny_sections_share_a_chunk() -> None:
    """V4: a section under a tenth of the size goes with the next; the sections named have text."""
    text = f"# Book\n\n## One\n\nShort.\n\n## Two\n\n{PARAGRAPH}"
    (piece,) = _chunk(text, TOKENIZERS[0], 350, 70)
    assert (piece.section, piece.text) == ("Book > One", text.strip())
    assert [(at, path) for at, _, path in piece.places] == [
        (0, "Book > One"),
        (text.index("## Two"), "Book > Two"),
    ]


def test_lines_with_labels_go_with_the_heading_above_them() -> None:
    """T2: minutes with the same labels each day are no dialogue that runs over the headings."""
    minutes = "Present: Ada, Ben.\n\nDecision: The pump is sold.\n\nAction: Ben asks for offers."
    days = [f"# Day {n}\n\n{minutes}\n\n{PARAGRAPH}".strip() for n in range(4)]
    pieces = _chunk("\n\n".join(days), TOKENIZERS[0], 350, 70)
    assert [piece.text for piece in pieces] == days


def test_a_long_sentence_after_its_heading_is_cut_to_stay() -> None:
    """A sentence that does not fit below its heading is cut rather than parted from it."""
    text = "# Heading\n\n" + "word " * 95 + "end."
    pieces = _chunk(text, TOKENIZERS[0], 98, 0)
    assert pieces[0].text.startswith("# Heading\n\nword word")


def test_code_stays_together_and_keeps_its_indent() -> None:
    """A code block that fits one chunk is not begun in the rest of another; indents are kept."""
    code = "```py\n" + "    value = compute(value)\n" * 12 + "```"
    text = f"{PARAGRAPH}\n\n{code}\n\nDone."
    pieces = _chunk(text, TOKENIZERS[0], 180, 0)
    assert any(piece.text.startswith(code) for piece in pieces)
    long = "```py\n" + "    value = compute(value)\n" * 60 + "```"
    assert _chunk(long, TOKENIZERS[0], 100, 0)[1].text.startswith("    value")


@pytest.mark.parametrize("unit", ["あ", "👩\u200d👩\u200d👧", "e\u0301", "word ", "คำ"])
def test_endless_text_is_cut_between_characters(unit: str) -> None:
    """Text without a sentence end is cut at word or grapheme boundaries."""
    text = unit * 2_000
    for piece in _chunk(text, TOKENIZERS[0], 100, 0):
        assert last_grapheme_boundary(text, piece.start) == piece.start
        assert piece.tokens > 40 or piece.end >= len(text.rstrip())


@pytest.mark.parametrize(
    "unit",
    [
        "Water boils. ",
        "x",
        "\u0301",
        "# H\n\ntext\n\n",
        "- a\n",
        "| a |\n",
        "\n",
        "你好。",
        "«",
        "```\n",
    ],
)
def test_work_is_linear(unit: str) -> None:
    """X2: however long the text, few batches are counted and few characters twice."""
    text = unit * (40_000 // len(unit))
    calls: list[Sequence[str]] = []
    pieces = _chunk(text, Simple(), 350, 70, calls)
    assert "".join(unit.split()) == "" or pieces
    assert len(calls) <= 8
    assert sum(len(each) for call in calls for each in call) <= 4 * len(text)


def test_five_megabytes() -> None:
    """X2: a 5 MB document is chunked with at most four times its characters counted."""
    long = "Water boils when it is hot enough, and tea is made of it, " * 4 + "they say. "
    text = ("## Part\n\n" + long * 30 + "\n\n" + "烧" * 600 + "。\n\n") * 600
    calls: list[Sequence[str]] = []
    pieces = _chunk(text, Simple(), 350, 70, calls)
    assert len(text.encode()) > 5_000_000
    assert max(piece.tokens for piece in pieces) <= 350
    assert max(map(len, calls)) <= 8 * counting.SLICE
    assert len(calls) <= 8 * (1 + len(pieces) // chunking.SLICE)
    assert sum(len(each) for call in calls for each in call) <= 4 * len(text)


@pytest.mark.parametrize(("size", "overlap"), [(15, 0), (0, 0), (350, -1), (350, 176), (-5, 0)])
def test_impossible_sizes_are_refused(size: int, overlap: int) -> None:
    """A size or overlap that cannot work is refused with what is allowed."""
    with pytest.raises(BadOption, match="must be"):
        _chunk("text", Simple(), size, overlap)


def _characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def _words(texts: Sequence[str]) -> list[int]:
    return [TOKENIZERS[0].count(text) for text in texts]


def _assert_places(text: str, pieces: Sequence[Piece]) -> None:
    for piece in pieces:
        assert text[piece.start : piece.end] == piece.text
        assert piece.byte_offset == len(text[: piece.start].encode())
        assert piece.line == text.count("\n", 0, piece.start) + 1
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(pieces))


@given(
    text=st.text(st.sampled_from("ab w=.é\t\n 1"), max_size=90),
    count=st.sampled_from([_characters, _words]),
    size=st.integers(16, 24),
    part=st.integers(0, 8),
)
@example(text="line \t   b aa\tbline\n\nw=w=", count=_characters, size=16, part=8)
@example(text="x= 1\né\nw  aaaaaaaaaaaaaaaaaaaaaa \t   de lineo", count=_words, size=16, part=8)
def test_places_hold_in_small_chunks(text: str, count: CountBatch, size: int, part: int) -> None:
    """T2: however often a chunk is cut, starts go up, and bytes and lines are those of starts."""
    pieces = list(each_chunk(text, [], count, size=size, overlap=size * part // 16))
    _assert_places(text, pieces)


def test_a_front_is_in_no_chunk() -> None:
    """T2: what stands before it is left out, and every offset and line counts it all the same."""
    front = "---\ntitle: Tea\ntags: [a]\n---"
    text = f"{front}\n\n# Tea\n\nBoil the water first."
    found = sections_from_headings(text, find_headings(text, markdown=True))

    def count(texts: Sequence[str]) -> list[int]:
        return [Simple().count(each) for each in texts]

    (piece,) = each_chunk(text, found, count, front=len(front))
    assert piece.text == "# Tea\n\nBoil the water first."
    assert (text[piece.start : piece.end], piece.line, piece.section) == (piece.text, 6, "Tea")
    assert piece.byte_offset == piece.start
    assert not list(each_chunk(front, (), count, front=len(front)))
