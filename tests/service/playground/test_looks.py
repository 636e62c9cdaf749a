"""How the page looks and reads, in both themes and at both widths; pictures are kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browsing import NARROW, OVERFLOW, WIDE, check_axe, reached
from harbour import GOLD, QUESTION

SIZES = {"1280": WIDE, "390": NARROW}
AXE_EMPTY = {("390", "dark"), ("1280", "light")}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_reads_well_in_every_theme_and_width(visit, pictures: Path, theme: str, size: str):
    """F5: no fault that axe knows, no sideways scrolling; before and after a question."""
    here = visit(theme=theme, size=SIZES[size])
    page = here.page
    expect(page.locator(".shelf li").first).to_be_visible()
    if (size, theme) in AXE_EMPTY:
        check_axe(page)
    assert page.evaluate(OVERFLOW) == 0
    page.screenshot(path=pictures / f"playground-{size}-{theme}-empty.png", full_page=True)

    here.ask(QUESTION, gold=GOLD, budget=300)
    page.locator("#curve").scroll_into_view_if_needed()
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    page.locator("#curve summary").click()
    page.locator("#candidates summary").first.click()
    check_axe(page)
    assert page.evaluate(OVERFLOW) == 0
    page.evaluate("() => scrollTo(0, 0)")
    page.mouse.move(0, 0)
    page.screenshot(path=pictures / f"playground-{size}-{theme}.png", full_page=True)


def test_the_chart_has_its_figures_as_a_table(visit):
    """F5: what the chart shows stands in a table too."""
    here = visit()
    page = here.page
    here.ask(QUESTION, gold=GOLD, budget=300)
    page.locator("#curve summary").click()
    tables = page.locator("#curve table")
    blocks = page.locator("#assembled .body").count()

    assert tables.nth(0).locator("tbody tr").count() == blocks
    assert "here" in tables.nth(0).inner_text()
    read = tables.nth(0).locator("tbody td:nth-child(5)").all_inner_texts()
    assert all(54 <= float(one.removesuffix("\u00a0%")) <= 75.8 for one in read)
    expect(page.get_by_role("img").first).to_have_attribute("aria-label", re.compile("75.8"))


def test_the_theme_is_switched_and_kept(visit):
    """F5: the switch turns the page dark, and a reload finds it so."""
    page = visit().page
    before = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark theme").click()
    after = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.reload()
    kept = page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    assert after not in {before, ""}
    assert kept == after


def test_the_keyboard_alone_is_enough(visit):
    """F5: ask, slide, switch, open and come back without a mouse; every stop shows itself."""
    here = visit()
    page = here.page
    press = page.keyboard.press
    expect(page.locator("#recipe option").first).to_be_attached()
    press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    reached(page, "#question")
    page.keyboard.type(QUESTION)
    press("Enter")
    here.settled()
    reached(page, "#recipe")
    press("ArrowDown")
    expect(page.locator("#headline b").first).to_have_text(page.input_value("#recipe"))
    reached(page, "#budget")
    before = page.get_attribute("#budget", "aria-valuetext")
    press("ArrowLeft")
    assert page.get_attribute("#budget", "aria-valuetext") != before
    asked = page.get_attribute("#budget", "aria-valuetext")
    expect(page.locator("#headline b.nums")).to_contain_text(f"of {asked}")
    reached(page, "#sources a")
    link = page.evaluate("() => document.activeElement.textContent")
    press("Enter")
    expect(page.locator("#assembled .body:focus")).to_have_count(1)
    press("Escape")
    assert page.evaluate("() => document.activeElement.textContent") == link
    reached(page, "#flow button:first-child")
    press("Enter")
    expect(page.locator("#stage-detail")).to_be_visible()
    reached(page, "#candidates summary")
    press("Enter")
    expect(page.locator("#candidates details[open] .path").first).to_be_visible()
    reached(page, "#html")
