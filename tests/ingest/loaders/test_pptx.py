"""PowerPoint: slides as pages, titles as sections, notes under their slide."""

from __future__ import annotations

from copy import deepcopy

import pptx

from documents import read, saved, slides


def test_a_slide_is_a_page_under_its_title() -> None:
    """T2: number, title, items and notes of each slide; one without any text is none."""
    data = slides(
        [("Filters", "Clean them\nEvery spring", "Bring gloves"), ("", "", ""), ("", "End", "")]
    )
    loaded = read("talk.pptx", data)
    assert [(s.page, s.path, loaded.text[s.start : s.end]) for s in loaded.sections] == [
        (1, "Filters", "# Filters\n\n- Clean them\n- Every spring\n\nNotes: Bring gloves"),
        (3, "", "End"),
    ]
    assert loaded.title == "Filters"


def test_slides_are_in_the_order_shown() -> None:
    """T2, X6: the order of the show counts; a slide that is shown again is read once."""
    show = pptx.Presentation()
    for title in ("one", "two"):
        show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = title
    listed = show.slides._sldIdLst
    listed.append(listed[0])
    for _ in range(200):
        listed.append(deepcopy(listed[0]))
    loaded = read("talk.pptx", saved(show))
    assert [(section.page, section.path) for section in loaded.sections] == [(1, "two"), (2, "one")]
