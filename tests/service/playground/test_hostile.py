"""Texts that would like to be more than text: they stay what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

import model_servers
from foveate.service.settings import Settings
from harbour import filled
from service_server import serving

PAYLOADS = (
    '<img src=x onerror="window.taken=1">',
    "<script>window.taken=1</script>",
    "</pre><svg onload=window.taken=1>",
    '<a href="javascript:window.taken=1">berth</a>',
    "{{constructor.constructor('window.taken=1')()}}",
    "&lt;b&gt;bold&lt;/b&gt; <b>bold</b>",
)
NAMES = ("__proto__", "constructor", "toString", "javascript:window.taken=1", "#result", "a\"b'c")
PLACES = ("north quay", "old mill", "fish market", "lock island", "customs house", "winter dock")
LABELS = (
    '<a href="https://example.org">x</a>',
    '<a xlink:href="data:text/html,x">x</a>',
    "<b>bold</b>",
    "one<br>two",
    '<span style="fill:red">red</span>',
    "x<sup>2</sup>",
    "&#60;a href=x&#62;",
    "&amp;lt;b&amp;gt;",
    "$\\href{javascript:alert(1)}{x}$",
    "%{x} {y}",
)
"""What the chart library reads as markup."""
QUESTION = (
    "What costs a berth at quay, mill, market, island, house, dock? <img src=x onerror=stop()>"
)


def candidates() -> str:
    """A payload in every field that the page shows."""
    lines = [
        {
            "id": f"{NAMES[n]} {payload}" if n else NAMES[n],
            "source": f"{payload} {NAMES[n]}",
            "title": payload,
            "section": payload,
            "score": 0.9 - n / 10,
            "text": f"The berth {payload} at the {PLACES[n]} costs {n} euros a day.",
            "metadata": {payload: payload},
        }
        for n, payload in enumerate(PAYLOADS)
    ]
    return "\n".join(json.dumps(line) for line in [*lines, {**lines[2], "id": "copy"}])


def check_untouched(page: Page) -> None:
    """No element came out of a text, and nothing ran."""
    made = page.locator(
        "main img, main script, main svg:not(.main-svg):not(.drawing), main a[href^=javascript], "
        ".main-svg a, .main-svg [style*=red]"
    )

    assert made.count() == 0
    assert page.evaluate("() => window.taken") is None
    assert page.evaluate("() => ({}).taken") is None


def test_hostile_candidates_stay_text(visit):
    """F5: ids, sources, titles, sections and texts stand there letter for letter."""
    here = visit()
    page = here.page
    page.check("[name=origin][value=own]", force=True)
    page.fill("#pasted", candidates())
    here.ask(QUESTION, gold=PAYLOADS[0], budget=600)
    page.locator("#curve").scroll_into_view_if_needed()
    expect(page.locator(".chart .main-svg").first).to_be_attached()
    for stage in range(3):
        page.locator("#flow button").nth(stage).click()
    for row in page.locator("#candidates summary").all():
        row.click()

    shown = page.locator("#assembled .reading").inner_text()
    for payload in PAYLOADS:
        assert payload in shown
        assert payload in page.locator("#candidates").inner_text()
    check_untouched(page)


def test_a_hostile_store_and_a_hostile_model_stay_text(visit, tmp_path_factory):
    """F5: titles of documents and a model's answer are text as well."""
    with hostile_site(tmp_path_factory.mktemp("hostile")) as site:
        here = visit(at=site)
        page = here.page
        expect(page.locator(".shelf li").first).to_contain_text("<img")
        page.select_option("#model", "bad")
        here.ask("What does the berth cost?", budget=300)
        expect(page.locator("#answer .said")).to_contain_text("<script>")
        expect(page.locator("#answer .used")).to_contain_text("tokens read")
        page.fill("#said", PAYLOADS[0])
        page.click("#check button")
        expect(page.locator("#own-checked .claims")).to_contain_text("<img")

        check_untouched(page)


@contextmanager
def hostile_site(folder: Path) -> Iterator[str]:
    """A service whose documents and whose model say such things."""
    pages = {
        f"{n}.md": f"# {payload}\n\nThe berth costs {n} euros. {payload}\n"
        for n, payload in enumerate(PAYLOADS)
    }
    store = filled(folder, pages)
    with (
        model_servers.serving("openai", "fine", pieces=PAYLOADS) as model,
        serving(
            Settings(
                store=str(store), embedder="hashing",
                models={"bad": model.name}, windows={"bad": 8_192},
            )
        ) as client,
    ):  # fmt: skip
        yield str(client.base_url)
