"""The pictures of the playground in docs/playground.md, taken anew.

    PYTHONPATH=tests/support python -m tools.screenshots docs/figures

The page runs over the handbook of the tests, in the browser of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

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
    "playground-answers": ("light", WIDE, "#answer"),
    "playground-phone": ("light", NARROW, ""),
}


def main(arguments: Sequence[str]) -> int:
    """Take each picture: the first screen after a run, or the part that it is of."""
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
            if part == "#answer":
                page.select_option("#model", "small")
            here.ask(QUESTION, gold=GOLD, budget=300)
            if part == "#answer":
                page.locator("#checked .card").first.wait_for()
                page.locator(part).evaluate("e => e.scrollIntoView()")
            page.mouse.move(0, 0)
            page.screenshot(path=folder / f"{name}.png")
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
