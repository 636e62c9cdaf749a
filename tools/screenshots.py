"""The pictures of the playground in docs/playground.md, taken anew.

    PYTHONPATH=tests/support python -m tools.screenshots docs/figures

The page runs over the handbook of the tests, in the browser of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import FloatRect, Locator, Page

import model_servers
from browsing import NARROW, Visit, started
from foveate.service.settings import Settings
from harbour import GOLD, QUESTION, filled
from service_server import serving

WIDE = (1280, 800)
PIECES = ("In winter a berth in the old harbour costs ", "14 euros a metre [1].")
PICTURES = {
    "playground": ("light", WIDE, ""),
    "playground-dark": ("dark", WIDE, ""),
    "playground-answers": ("light", WIDE, "#answering"),
    "playground-why": ("light", WIDE, "#pool"),
    "playground-phone": ("light", NARROW, ""),
}


def show_reason(page: Page) -> None:
    """Why the best candidate that the budget kept out is not in the context."""
    page.locator("#pool").evaluate("e => e.scrollIntoView()")
    page.locator("#filters button", has_text="over budget").click()
    page.locator("#candidates summary").first.click()


def take(here: Visit, part: str, path: Path) -> None:
    """The first screen after a run, or the part of the page that is named."""
    page = here.page
    if part == "#answering":
        page.select_option("#model", "small")
    here.ask(QUESTION, gold=GOLD, budget=300)
    if part == "#answering":
        page.locator("#checked .card").first.wait_for()
        page.locator(part).evaluate("e => e.scrollIntoView()")
    if part == "#pool":
        show_reason(page)
    page.mouse.move(0, 0)
    page.screenshot(path=path)


def around(part: Locator) -> FloatRect:
    """The part with the page's margin on each side."""
    top, height = part.evaluate("e => [e.offsetTop, e.offsetHeight]")
    return {"x": 0, "y": top, "width": WIDE[0], "height": height + 24}


def main(arguments: Sequence[str]) -> int:
    """Take each picture."""
    folder = Path(arguments[0])
    with (
        TemporaryDirectory() as place,
        model_servers.serving("openai", "fine", pieces=PIECES) as model,
        serving(
            Settings(
                store=str(filled(Path(place))),
                embedder="hashing",
                models={"small": model.name},
                windows={"small": 8_192},
            )
        ) as client,
        started() as browser,
    ):
        for name, (theme, (width, height), part) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if theme == "dark" else "light",
                reduced_motion="reduce",
            )
            here = Visit(page=page, site=str(client.base_url))
            page.goto(f"{here.site}/playground/")
            take(here, part, folder / f"{name}.png")
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
