"""Runs that leave the page: as one HTML file, as an image, and in the browser's storage."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from browsing import NARROW, WIDE, Visit, saved
from harbour import GOLD, QUESTION

STORED = (
    "() => Object.entries({...localStorage}).filter(([name]) => name.startsWith('foveate-runs'))"
)
CHARACTERS = """name => [...document.querySelectorAll(`#${name}-title`)[0].closest('.pane')
    .querySelectorAll('.frame, .body')].map(part => [...part.childNodes]
        .filter(one => !one.classList?.contains('how')).map(one => one.textContent).join('')
    ).join('')"""
SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
HOSTILE = '<img src=x onerror="window.taken=1"></style></pre><script>window.taken=1</script>'


def opened(browser: Browser, path: Path) -> Visit:
    """The file in a browser without a network, by itself."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}, offline=True)
    found = Visit(page=context.new_page(), site=path.as_uri())
    found.watch()
    found.page.goto(path.as_uri())
    return found


def test_a_run_is_saved_as_one_html_file(visit, chromium, tmp_path):
    """F5: both contexts letter for letter, sources, stages and reasons; nothing is loaded."""
    here = visit()
    here.ask(QUESTION, gold=GOLD, budget=300)
    text = here.page.evaluate(CHARACTERS, "assembled")
    naive = here.page.evaluate(CHARACTERS, "naive")
    stages = here.page.locator("#flow .name").all_text_contents()
    rows = here.page.locator("#candidates > li").count()
    path = saved(here.page, "#html", tmp_path)
    alone = opened(chromium, path)
    page = alone.page

    assert (path.suffix, page.title()) == (".html", f"{QUESTION} · foveate")
    assert page.evaluate(CHARACTERS, "assembled") == text
    assert page.evaluate(CHARACTERS, "naive") == naive
    assert page.locator("tbody th[scope=row]").all_text_contents()[-len(stages) :] == stages
    assert page.locator(".candidates > li").count() == rows > 0
    page.locator(".candidates summary").first.click()
    expect(page.locator(".candidates .path").first).to_be_visible()
    assert page.locator("mark.gold").count() > 0
    assert page.locator("script, link, img, button, form, iframe").count() == 0
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('.panes')).display") == "grid"
    )
    page.locator(".sources a").first.click()
    assert page.url.endswith("#assembled-0")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(SIDEWAYS) == 0
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    alone.check_quiet(())
    page.context.close()


def test_hostile_texts_stay_text_in_the_file(visit, chromium, tmp_path):
    """F5, X4: what a document, its name or the question says runs nothing in the saved file."""
    here = visit()
    page = here.page
    page.check("[name=origin][value=own]", force=True)
    one = {"text": f"\nThe berth costs 14 euros. {HOSTILE}", "source": HOSTILE, "title": HOSTILE}
    page.fill("#pasted", json.dumps({**one, "id": HOSTILE, "score": 0.9}))
    here.ask(f"What does the berth cost? {HOSTILE}", gold=HOSTILE, budget=300)
    alone = opened(chromium, saved(page, "#html", tmp_path))

    assert alone.page.evaluate("() => window.taken") is None
    assert alone.page.locator("img, script").count() == 0
    assert HOSTILE in alone.page.locator(".pane .reading").first.inner_text()
    alone.page.locator(".candidates summary").first.click()
    assert alone.page.locator(".candidates pre").first.inner_text().strip().endswith(HOSTILE)
    alone.check_quiet(())
    alone.page.context.close()


def test_a_run_is_saved_as_an_image(visit, tmp_path):
    """F5: a picture of both contexts, longer with a longer text, with what is lit."""
    here = visit()
    here.ask(QUESTION, gold=GOLD, budget=100)
    short = saved(here.page, "#image", tmp_path).read_bytes()
    here.ask(QUESTION, gold=GOLD, budget=900)
    expect(here.page.locator("#headline b.nums")).to_contain_text("of 900 tokens")
    long = saved(here.page, "#image", tmp_path).read_bytes()
    sizes = [struct.unpack(">II", data[16:24]) for data in (short, long)]

    assert [data[:8] for data in (short, long)] == [b"\x89PNG\r\n\x1a\n"] * 2
    assert [width for width, _ in sizes] == [1600, 1600]
    assert sizes[0][1] < sizes[1][1]


def kept(page: Page) -> list[dict[str, Any]]:
    """The runs in the browser's storage."""
    return [run for _, text in page.evaluate(STORED) for run in json.loads(text)]


def test_earlier_runs_outlive_the_tab_until_the_person_declines(visit):
    """F5: a new tab lists them, shows and compares them; declining erases them for good."""
    here = visit()
    here.ask(QUESTION, budget=150)
    first = here.tokens()
    here.ask(QUESTION, budget=600)
    expect(here.page.locator("#headline b.nums")).to_contain_text("of 600 tokens")
    later = visit().page
    expect(later.locator("#history li")).to_have_count(2)
    later.click("#history summary")
    row = later.locator("#history li", has_text=f"{first} of 150 tokens")
    row.get_by_role("button", name="Show").click()
    expect(later.locator("#headline b.nums")).to_have_text(f"{first} of 150 tokens")
    later.uncheck("#keep")

    assert kept(later) == []
    later.reload()
    expect(later.locator("#keep")).to_be_enabled()
    expect(later.locator("#keep")).not_to_be_checked()
    expect(later.locator("#history")).to_be_hidden()


def test_what_is_kept_is_bounded(visit):
    """F5, X2: eight runs; fewer if they are large; none if the storage is full."""
    here = visit()
    page = here.page
    for budget in range(100, 1_000, 90):
        here.ask(QUESTION, budget=budget)
        expect(page.locator("#headline b.nums")).to_contain_text(f"of {budget} tokens")
    runs = kept(page)
    assert len(runs) == len({(run["hash"], run["recipe"]) for run in runs}) <= 8
    assert runs[0]["tokens"] == budget

    page.evaluate(
        """() => { for (let size = 1 << 22; size >= 1; size >>= 1) {
            try { localStorage.setItem(`full-${size}`, "x".repeat(size)); } catch { continue; }
        } }"""
    )
    here.ask("When are lines doubled?", budget=500)
    expect(page.locator("#headline b.nums")).to_contain_text("of 500 tokens")
    assert len(kept(page)) <= len(runs)


@pytest.mark.parametrize(
    "text", ["{", "7", "null", '[null, 1, {"question": "x"}]', '[{"bundle": {}}]']
)
def test_what_another_program_stored_breaks_nothing(visit, text):
    """F5, X2: a stored list that is none of ours is no list."""
    here = visit()
    expect(here.page.locator("#keep")).to_be_enabled()
    here.page.evaluate("text => localStorage.setItem('foveate-runs:default/', text)", text)
    here.page.reload()
    expect(here.page.locator("#keep")).to_be_enabled()
    expect(here.page.locator("#history")).to_be_hidden()
    here.ask(QUESTION, budget=300)

    assert len(kept(here.page)) == 1
