"""Runs that leave the page as one HTML file."""

from __future__ import annotations

import json
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from browsing import NARROW, WIDE, Visit, saved
from harbour import GOLD, QUESTION

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
