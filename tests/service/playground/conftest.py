"""The page over a store of our own texts, in one browser for each file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import PATIENCE, WIDE, Visit, started
from foveate.service.settings import Settings
from harbour import filled
from service_server import serving


@pytest.fixture(scope="session")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of the handbook, which the tests only read."""
    return str(filled(tmp_path_factory.mktemp("harbour")))


@pytest.fixture(scope="session")
def site(handbook: str) -> Iterator[str]:
    """The address of a service over the handbook."""
    with serving(Settings(store=handbook, embedder="hashing")) as client:
        yield str(client.base_url)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    with started() as running:
        yield running


@pytest.fixture
def visit(chromium: Browser, site: str) -> Iterator[Callable[..., Visit]]:
    """`visit(theme="dark", size=NARROW)`: the page, opened anew, with nothing kept.

    At the end nothing may stand on its console but what `allow` holds.
    """
    opened: list[tuple[Visit, tuple[str, ...]]] = []

    def visiting(
        *, theme: str = "light", size: tuple[int, int] = WIDE, allow: tuple[str, ...] = (),
        at: str = "", path: str = "",
    ) -> Visit:  # fmt: skip
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE)
        found = Visit(page=context.new_page(), site=at or site)
        opened.append((found, allow))
        found.watch()
        found.page.goto(f"{found.site}/playground/{path}")
        return found

    yield visiting
    for found, _ in opened:
        found.page.context.close()
    for found, allow in opened:
        found.check_quiet(allow)


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where screenshots are kept as output of the tests."""
    folder = Path(__file__).resolve().parents[3] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
