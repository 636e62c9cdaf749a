"""EPUB: chapters in the order of the spine, headings as sections, properties of the package."""

from __future__ import annotations

import pytest

from documents import epub, read
from foveate.core.errors import BadInput

META = (
    "<dc:title>The <i>boiler</i></dc:title><dc:title>Second</dc:title><dc:creator>Anna</dc:creator>"
    '<meta property="dcterms:modified">2024-03-01T10:00:00Z</meta>'
)


def test_chapters_follow_the_spine_with_their_headings() -> None:
    """T2: a part's heading stays above the chapters that follow it in other files."""
    chapters = {
        "part.xhtml": '<?xml version="1.0"?><!DOCTYPE html><html><head><title/></head><body>'
        "<h1>Part one</h1></body></html>",
        "a%20b.xhtml#start": "<p>never found</p>",
        "two.xhtml": '<body><h2>Valve</h2><p>Opens at 3 bar.<a id="x"/></p><p>Close it.</p></body>',
    }
    more = {"OPS/a b.xhtml": "<h2>Pump</h2><p>Drain it.</p>"}

    loaded = read("a.epub", epub(chapters, meta=META, more=more))

    assert loaded.text == (
        "# Part one\n\n## Pump\n\nDrain it.\n\n## Valve\n\nOpens at 3 bar.\n\nClose it."
    )
    assert [section.path for section in loaded.sections] == [
        "Part one",
        "Part one > Pump",
        "Part one > Valve",
    ]
    assert (loaded.title, loaded.metadata["author"]) == ("The", "Anna")
    assert loaded.modified_at is not None
    assert loaded.modified_at.year == 2024


def test_names_of_parts_lead_nowhere_outside() -> None:
    """X2: a reference is a name in the archive, whatever it looks like."""
    chapters = {"../../../../etc/hostname": "", "/etc/hostname": "", "a.xhtml": "<p>in</p>"}

    loaded = read("a.epub", epub(chapters))

    assert (loaded.text, loaded.title) == ("in", "a")


def test_fonts_may_be_hidden() -> None:
    """T2: only chapters that need a key are a reason to refuse the book."""
    hidden = '<encryption><CipherReference URI="OPS/font.otf"/></encryption>'

    book = epub({"a.xhtml": "<p>in</p>"}, more={"META-INF/encryption.xml": hidden})

    assert read("a.epub", book).text == "in"


def test_a_container_without_a_package_is_refused() -> None:
    """X2: the error says what is missing."""
    book = epub({}, more={"META-INF/container.xml": '<c><rootfile full-path="no.opf"/></c>'})
    with pytest.raises(BadInput, match="it names no package"):
        read("a.epub", book)
