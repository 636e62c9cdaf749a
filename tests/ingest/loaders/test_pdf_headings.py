"""Headings of PDF files without bookmarks, and the lines that their pages repeat."""

from __future__ import annotations

import pytest

from documents import Placed, placed_pdf, read
from foveate.ports import LoadedDocument

PROSE = (
    "The keeper opens the valve of the boiler when the",
    "pressure is above three bar, and closes it again as",
    "soon as the water is cold enough for the boats.",
)


def _page(*blocks: tuple[float, str], left: float = 60, top: float = 740) -> list[Placed]:
    """Headings of these sizes, each with three lines of text below it."""
    placed: list[Placed] = []
    for size, title in blocks:
        top -= 30
        placed += [(left, top, size, title)] if title else []
        placed += [(left, top - 16 - 13 * n, 11, line) for n, line in enumerate(PROSE)]
        top -= 16 + 13 * len(PROSE)
    return placed


def _paths(loaded: LoadedDocument) -> list[tuple[str, int | None]]:
    for section in loaded.sections:
        title = section.path.rpartition(" > ")[2]
        assert title in loaded.text
    return [(section.path, section.page) for section in loaded.sections]


def test_headings_by_size_are_sections() -> None:
    """T2: each with its page, below those that are larger; a page goes on with the one before."""
    pages = [
        _page((20, "The harbour"), (14, "Boats"), (14, "Fees of the year 2024")),
        _page((0, ""), (14, "Keepers"), (20, "The boiler\\(s\\)")),
    ]
    loaded = read("a.pdf", placed_pdf(pages))
    assert _paths(loaded) == [
        ("The harbour", 1),
        ("The harbour > Boats", 1),
        ("The harbour > Fees of the year 2024", 1),
        ("The harbour > Fees of the year 2024", 2),
        ("The harbour > Keepers", 2),
        ("The boiler(s)", 2),
    ]
    for section in loaded.sections:
        said = loaded.text[section.start : section.end].replace("\n", " ")
        assert said.endswith(" ".join(PROSE))
        assert said.startswith("#") or section.page == 2
    assert "## Boats\n\nThe keeper" in loaded.text


def test_bold_lines_with_space_around_are_headings() -> None:
    """T2: below those that are large; not within a text, and not if text goes on in bold."""
    titles = ("Boats", "Fees")
    page = _page((16, "The harbour"), *((11, title) for title in titles))
    loaded = read("a.pdf", placed_pdf([page], bold={*titles, "The harbour"}))
    assert [path for path, _ in _paths(loaded)] == [
        "The harbour", "The harbour > Boats", "The harbour > Fees",
    ]  # fmt: skip
    for bold in ({PROSE[2]}, {PROSE[0].split()[0]}, {*PROSE}, {PROSE[1]}):
        assert [path for path, _ in _paths(read("a.pdf", placed_pdf([page], bold=bold)))] == [
            "", "The harbour",
        ][-1:]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["The fee is due.", "Fees are:", "- a boat", "\\267 boats", "12", "42 %", "T", "Figure 3 Boats",
     "Table 1. Fees", "Contents . . . . . 7", "Boats and fees and boilers of the harbour, " * 5],
)  # fmt: skip
@pytest.mark.parametrize("size", [11, 16])
def test_what_is_no_heading(line: str, size: int) -> None:
    """T2: sentences, items, figures, captions, contents and long texts, however they are set."""
    page = [*_page((0, "")), (60, 640, size, line), *_page((0, ""), top=650)]
    loaded = read("a.pdf", placed_pdf([page], bold={line}))
    assert [section.path for section in loaded.sections] == [""]
    assert "#" not in loaded.text


def test_a_heading_of_several_lines_is_one() -> None:
    """T2: those in the same letters right below each other, and no others."""
    two: list[Placed] = [
        (60, 720, 18, "Rules of the harbour for"), (60, 698, 18, "boats and their keepers"),
    ]  # fmt: skip
    loaded = read("a.pdf", placed_pdf([[*two, *_page((14, "Fees"), top=700)]]))
    title = "Rules of the harbour for boats and their keepers"
    assert _paths(loaded) == [(title, 1), (f"{title} > Fees", 1)]


def test_headings_in_columns() -> None:
    """T2: those of the left column stand before those of the right one, however written."""
    left = _page((15, "Boats"), (15, "Fees"))
    right = _page((15, "Keepers"), (15, "Boilers"), left=400)
    by_rows = [each for pair in zip(left, right, strict=True) for each in pair]
    for placed in ([*left, *right], by_rows):
        loaded = read("a.pdf", placed_pdf([placed]))
        assert [path for path, _ in _paths(loaded)] == ["Boats", "Fees", "Keepers", "Boilers"]


@pytest.mark.parametrize("gap", [90, 40])
def test_large_heads_of_tables_are_rows(gap: float) -> None:
    """V1: whether they stand apart as columns do, or close as words."""
    cells = (
        ("Region", "2023", "2024"),
        ("North", "12", "14"),
        ("South", "9", ""),
        ("East", "", "7"),
    )
    placed: list[Placed] = [
        (60 + (gap if row == 0 else 90) * column, 700 - 16 * row, 11 if row else 15, text)
        for row, texts in enumerate(cells)
        for column, text in enumerate(texts)
        if text
    ]
    loaded = read("a.pdf", placed_pdf([[*placed, *_page((15, "Fees"), top=620)]], bold={*cells[0]}))
    assert [path for path, _ in _paths(loaded)] == ["", "Fees"]
    assert "| North | 12 | 14 |" in loaded.text


def test_with_bookmarks_these_are_the_sections() -> None:
    """T2: headings are looked for in files without bookmarks alone."""
    pages = [_page((20, "The harbour")), _page((20, "Boats"))]
    loaded = read("a.pdf", placed_pdf(pages, bookmark="Start"))
    assert _paths_with_bookmarks(loaded) == [("Start", 1), ("Start", 2)]
    assert "#" not in loaded.text


def _paths_with_bookmarks(loaded: LoadedDocument) -> list[tuple[str, int | None]]:
    return [(section.path, section.page) for section in loaded.sections]


def _running(count: int, header: str, footer: str, size: float = 9) -> list[list[Placed]]:
    return [
        [
            (60, 800, size, header.format(number)),
            *_page((0, "")),
            (60 + number, 640, 11, f"This is text {number} of the harbour."),
            (300, 30, 9, footer.format(number)),
        ]
        for number in range(1, count + 1)
    ]


LEFT_OUT = "repeated headers and footers of pages"


@pytest.mark.parametrize(
    ("header", "footer", "first"),
    [
        ("The harbour", "{}", "The harbour"), ("The harbour", "- {} -", "The harbour"),
        ("The harbour | {}", "Secret", "The harbour | 1"), ("Boats", "Page {} of 5", "Page 1 of 5"),
        ("{} | Fees", "Seite {}/5", "1 | Fees"), ("2024", "Rev. 3 \\267 {}", "Rev. 3"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [9, 20])
def test_repeated_headers_and_footers_are_read_once(
    header: str, footer: str, first: str, size: float
) -> None:
    """V1: they are no headings; what has words stays on the first page, the rest is counted."""
    loaded = read("a.pdf", placed_pdf(_running(5, header, footer, size)))
    assert [section.path for section in loaded.sections] == [""] * 5
    assert loaded.text.count(first) == 1
    assert loaded.text.index(first) < loaded.sections[1].start
    bare = sum(not any(map(str.isalpha, each)) and "{" in each for each in (header, footer))
    assert loaded.left_out == {LEFT_OUT: 8 + bare}
    assert loaded.text.count("of the harbour.") == 5


@pytest.mark.parametrize(
    ("header", "size"), [("Article {}", 9), ("Order 100{}", 9), ("Result {}", 16)]
)
def test_what_differs_by_page_is_no_header(header: str, size: float) -> None:
    """V1: numbers count up with the pages in contents too."""
    text = read("a.pdf", placed_pdf(_running(5, header, "end.", size))).text
    assert all(header.format(number) in text for number in range(1, 6))


def test_lines_of_two_pages_and_of_pages_apart_stay() -> None:
    """V1: so does the title of several chapters, and text that begins without space."""
    assert read("a.pdf", placed_pdf(_running(2, "Boats", "x"))).text.count("Boats") == 2
    pages = _running(9, "Text {} of a boat", "end")
    for number in (0, 4, 8):
        pages[number][0] = (60, 800, 18, "Summary")
    loaded = read("a.pdf", placed_pdf(pages))
    assert [section.page for section in loaded.sections if section.path == "Summary"][::4] == [
        1,
        5,
        9,
    ]
    same = [_page((0, "")) for _ in range(4)]
    loaded = read("a.pdf", placed_pdf(same))
    assert loaded.text.count(PROSE[0]) == 4
    assert not loaded.left_out
