"""The page over a store of our own texts, in one browser for each file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

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


@pytest.fixture(scope="module")
def rooms(chromium: Browser) -> Iterator[Callable[[str, tuple[int, int]], BrowserContext]]:
    """A room for each theme and width, whose pages share what the browser keeps of files."""
    found: dict[tuple[str, tuple[int, int]], BrowserContext] = {}

    def room(theme: str, size: tuple[int, int]) -> BrowserContext:
        if (theme, size) not in found:
            found[theme, size] = chromium.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme="dark" if theme == "dark" else "light",
                reduced_motion="reduce",
            )
            found[theme, size].set_default_timeout(PATIENCE)
        return found[theme, size]

    yield room
    for context in found.values():
        context.close()


@pytest.fixture
def visit(
    rooms: Callable[[str, tuple[int, int]], BrowserContext], site: str
) -> Iterator[Callable[..., Visit]]:
    """`visit(theme="dark", size=NARROW)`: the page in a tab of its own.

    At the end nothing may stand on its console but what `allow` holds.
    """
    opened: list[tuple[Visit, tuple[str, ...]]] = []

    def visiting(
        *,
        theme: str = "light",
        size: tuple[int, int] = WIDE,
        allow: tuple[str, ...] = (),
        at: str = "",
    ) -> Visit:
        found = Visit(page=rooms(theme, size).new_page(), site=at or site)
        opened.append((found, allow))
        found.watch()
        found.page.goto(f"{found.site}/playground/")
        return found

    yield visiting
    for found, allow in opened:
        found.page.evaluate("() => localStorage.clear()")
        found.page.close()
        found.check_quiet(allow)


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where screenshots are kept as output of the tests."""
    folder = Path(__file__).resolve().parents[3] / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
