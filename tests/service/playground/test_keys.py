"""The page of a service with keys: its files need none, and what it asks needs one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from foveate.service.settings import Settings
from harbour import QUESTION
from service_keys import put
from service_server import serving

KEPT = """() => JSON.stringify([location.href, document.cookie, {...localStorage}])"""


@dataclass(frozen=True)
class Locked:
    """A service, and two keys of it."""

    site: str
    reader: str
    narrow: str


@pytest.fixture(scope="module")
def locked(handbook: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Locked]:
    """A service with keys, whose callers without one may ask once a minute."""
    keys = tmp_path_factory.mktemp("keys") / "keys.jsonl"
    settings = Settings(store=handbook, embedder="hashing", keys=keys)
    reader = put(keys, scopes=("assemble", "read", "replay", "check"))
    narrow = put(keys, scopes=("search",))
    with serving(settings) as client:
        yield Locked(site=str(client.base_url), reader=reader, narrow=narrow)


def test_a_key_is_asked_for_and_held_in_the_tab_alone(visit, locked):
    """F5, X4: the page comes without a key; a wrong one is refused in words, a right one works."""
    here = visit(at=locked.site, allow=("status of 401",))
    page = here.page
    expect(page.locator("#key-form")).to_be_visible()
    expect(page.locator("#key")).to_be_focused()
    page.fill("#key", "fov_aaaaaaaa_" + "0" * 43)
    page.keyboard.press("Enter")
    expect(page.locator("#key-fault")).to_contain_text("not known")
    page.fill("#key", locked.reader)
    page.keyboard.press("Enter")
    expect(page.locator("#key-form")).to_be_hidden()
    here.ask(QUESTION, budget=300)

    assert here.tokens() > 0
    assert locked.reader not in page.evaluate(KEPT)
    assert locked.reader not in page.content()
    page.reload()
    here.settled()
    other = page.context.new_page()
    other.goto(f"{locked.site}/playground/")
    expect(other.locator("#key-form")).to_be_visible()
    other.close()


def test_what_a_key_may_not_is_said(visit, locked):
    """F5, X4: a key without the scope gets the service's words, and nothing else."""
    here = visit(at=locked.site, allow=("status of 40",))
    page = here.page
    page.fill("#key", locked.narrow)
    page.keyboard.press("Enter")
    expect(page.locator("#key-form")).to_be_hidden()
    page.fill("#question", QUESTION)
    page.click("#go")

    expect(page.locator("#problem")).to_contain_text("needs the scope assemble")
    expect(page.locator(".shelf li")).to_have_count(0)
