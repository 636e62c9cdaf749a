"""A page in a real browser, and a record of all that goes wrong on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tools.browser import browser

WIDE, NARROW = (1280, 900), (390, 844)
PATIENCE = 60_000  # milliseconds until something awaited counts as missing, on a busy machine too

OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
STOP = """selector => {
    const here = document.activeElement;
    const drawn = (element, part) => {
        const style = getComputedStyle(element, part);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    };
    // These three show it on what they look like: their label, or their thumb.
    const parts = { radio: here.nextElementSibling, file: here.previousElementSibling };
    const shown = here.type === "range" || drawn(parts[here.type] || here);
    return [here.matches(selector), shown, here.id || here.textContent];
}"""


@contextmanager
def started() -> Iterator[Browser]:
    """The browser; its loop runs in this thread, so it ends before other tests begin."""
    found = browser()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=found.program,
            args=list(found.flags),
            env={**os.environ, **found.environment},
        )
        yield running
        running.close()


@dataclass
class Visit:
    """A page, and what its console, its errors and its requests said."""

    page: Page
    site: str
    console: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """From now on."""
        self.page.on("console", lambda said: self._said(said.type, said.text))
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.console.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._asked(request.url))

    def _said(self, kind: str, text: str) -> None:
        if kind in {"error", "warning", "assert"}:
            self.console.append(f"{kind}: {text}")

    def _asked(self, url: str) -> None:
        if not url.startswith(("blob:", "data:")) and _origin(url) != _origin(self.site):
            self.elsewhere.append(url)

    def check_quiet(self, allowed: tuple[str, ...]) -> None:
        """Nothing on the console but what holds one of these, and no request to anybody else."""
        loud = [said for said in self.console if not any(one in said for one in allowed)]
        assert loud == []
        assert self.elsewhere == []

    def ask(self, question: str, *, gold: str = "", budget: int | None = None) -> None:
        """Ask, and wait until the context is there."""
        page = self.page
        page.fill("#question", question)
        page.fill("#gold", gold)
        if budget is not None:
            page.fill("#tokens", str(budget))
        page.click("#go")
        self.settled()

    def settled(self) -> None:
        """Until nothing is under way and the bar says what came of it."""
        expect(self.page.locator("#state")).to_contain_text(" tokens, ")

    def tokens(self) -> int:
        """How many tokens the shown context has."""
        said = self.page.inner_text("#headline b.nums")
        return int(said.partition(" ")[0].replace(",", ""))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def check_axe(page: Page) -> None:
    """Nothing that its rules know is wrong."""
    found = Axe().run(page).response["violations"]
    said = [(one["id"], [node["html"][:160] for node in one["nodes"][:3]]) for one in found]
    assert said == []


def saved(page: Page, button: str, folder: Path) -> Path:
    """What a button hands over."""
    with page.expect_download() as waited:
        page.click(button)
    path = folder / waited.value.suggested_filename
    waited.value.save_as(path)
    return path


def reached(page: Page, selector: str) -> None:
    """Tab on until it has the focus; every stop on the way shows that it is one."""
    for _ in range(150):
        page.keyboard.press("Tab")
        there, shown, name = page.evaluate(STOP, selector)
        assert shown, name
        if there:
            return
    pytest.fail(f"{selector} cannot be reached")
