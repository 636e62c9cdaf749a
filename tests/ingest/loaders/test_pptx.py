"""PowerPoint: slides as pages, titles as sections, notes under their slide."""

from __future__ import annotations

import pptx

from documents import read, saved, slides


def test_a_slide_is_a_page_under_its_title() -> None:
    """T2: number, title, items and notes of each slide."""
    data = slides([("Filters", "Clean them\nEvery spring", "Bring gloves"), ("", "End", "")])
    loaded = read("talk.pptx", data)
    assert [(s.page, s.path, loaded.text[s.start : s.end]) for s in loaded.sections] == [
        (1, "Filters", "# Filters\n\n- Clean them\n- Every spring\n\nNotes: Bring gloves"),
        (2, "", "End"),
    ]
    assert loaded.title == "Filters"


def test_tables_are_rows() -> None:
    """T2: a table's rows are lines, and a slide without any text is none."""
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[6])
    slide = show.slides.add_slide(show.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, 0, 0, 9, 9).table
    for row, column, text in ((0, 0, "Part"), (0, 1, "Price"), (1, 0, "Valve"), (1, 1, "3")):
        table.cell(row, column).text = text
    loaded = read("talk.pptx", saved(show))
    assert loaded.text == "| Part | Price |\n| Valve | 3 |"
    assert [section.page for section in loaded.sections] == [2]


def test_slides_are_in_the_order_shown() -> None:
    """T2: the order of the show counts, not that of the parts in the file."""
    show = pptx.Presentation()
    for title in ("one", "two"):
        show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = title
    listed = show.slides._sldIdLst
    listed.append(listed[0])
    loaded = read("talk.pptx", saved(show))
    assert [section.path for section in loaded.sections] == ["two", "one"]
