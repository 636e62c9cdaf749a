"""PDF: pages with their numbers, bookmarks as sections, what the file says of itself."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from documents import locked_pdf, pdf, read
from foveate.core.errors import BadInput, MissingExtra
from foveate.ingest.loaders.pdf import _parse_date, load_pdf


def test_a_section_is_a_page() -> None:
    """T2: every page's text stands under its number; a page without text has no section."""
    loaded = read("a.pdf", pdf(["First page.", "", "Third page."]))
    assert [(loaded.text[s.start : s.end], s.page) for s in loaded.sections] == [
        ("First page.", 1),
        ("Third page.", 3),
    ]
    assert not loaded.lines


def test_bookmarks_are_sections() -> None:
    """T2: a page lies under the last bookmark that led to it or to a page before."""
    data = pdf(["a", "b", "c", "d"], bookmarks=[("Start", 1), ("End", 3)])
    loaded = read("a.pdf", data)
    assert [section.path for section in loaded.sections] == ["", "Start", "Start", "End"]


def test_it_is_titled_and_dated_by_what_it_says() -> None:
    """T2: its title, else its name; when it was changed."""
    named = read("a.pdf", pdf(["a"], title="The boiler"))
    unnamed = read("manual.pdf", pdf(["a"]))
    zone = timezone(timedelta(hours=1))
    assert (named.title, unnamed.title) == ("The boiler", "manual")
    assert named.modified_at == datetime(2024, 3, 1, 12, tzinfo=zone)


@pytest.mark.parametrize(
    ("told", "year"), [("D:2024", 2024), ("D:20241399", None), ("yesterday", None), ("", None)]
)
def test_dates_that_are_none(told: str, year: int | None) -> None:
    """X2: a date that cannot be read is none."""
    found = _parse_date(told)
    assert (found.year if found else None) == year


def test_without_the_package_it_says_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: what is missing is said with its install line."""
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtra) as caught:
        read("a.pdf", pdf(["a"]))
    assert "foveate[documents]" in str(caught.value)


def test_a_password_opens_a_file_that_needs_one() -> None:
    """T2: each is tried; without the right one the error says what to do, and names none."""
    data, path = locked_pdf(["The valve opens at 3 bar."], "s3cret"), Path("a.pdf")

    (loaded,) = load_pdf(data, path, passwords=("other", "s3cret"))

    assert loaded.text == "The valve opens at 3 bar."
    with pytest.raises(BadInput, match="give its password"):
        load_pdf(data, path)
    with pytest.raises(BadInput, match=r"none of the passwords opens it \(1 tried\)"):
        load_pdf(data, path, passwords=("other",))
