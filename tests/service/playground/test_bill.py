"""The bill of a request on the page: the figures of the library, pasted or from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browsing import NARROW, OVERFLOW, WIDE, check_axe, reached
from foveate.pipeline.bill import bill
from message_lists import FORMS, Step, spell

PAGE = "The valve of pump_07 opens at noon. It shuts at nine. " * 12
READ = Step("tools", "Let me look.", (("read", '{"q": "pump_07"}'),), (PAGE,))
FIND = Step("tools", "", (("find", '{"q": "boat_77"}'),), ("Found: boat_77 in lock AB-1204.",))
ASKED = (
    Step("user", "When does the valve of pump_07 open?"),
    READ,
    FIND,
    Step("assistant", "At noon."),
)
LATER = (*ASKED, Step("user", "<b>Sure?</b> Look again."), READ, Step("assistant", "Yes, at noon."))
LISTS = {"gemini": "contents", "responses": "input"}
TOOLS = [{"name": "read", "description": "Reads a page of the handbook."}]


def sent(steps: tuple[Step, ...], form: str, **more: Any) -> dict[str, Any]:
    """The body that a provider of this form gets."""
    return {LISTS.get(form, "messages"): spell(steps, form), "tools": TOOLS, **more}


def numbers(page: Page, title: str) -> list[int]:
    """The tokens in a table of the bill."""
    table = page.get_by_role("table", name=title)
    cells = table.locator("tbody td:nth-of-type(1)").all_inner_texts()
    return [int(cell.replace(",", "")) for cell in cells]


@pytest.mark.parametrize("form", FORMS)
def test_the_page_shows_the_figures_of_the_command(visit, tmp_path: Path, form: str):
    """F5, A8: a request pasted and the one before it from a file, in each provider's form."""
    now, before = sent(LATER, form), sent(ASKED, form, tools=[])
    (tmp_path / "before.json").write_text(json.dumps(before), encoding="utf-8")
    expected = bill(now, before=before)
    page = visit().page
    page.fill("#bill-request", json.dumps(now))
    page.get_by_role("button", name="Show the bill").click()
    headline = page.locator("#billed .headline")
    expect(headline).to_have_text(
        f"{expected.total:,} tokens in {len(expected.by_message)} messages"
    )
    assert page.locator("#billed .card").count() == 0

    page.set_input_files("#bill-before-file", str(tmp_path / "before.json"))
    page.get_by_role("button", name="Show the bill").click()
    card = page.locator("#billed .card.bad")
    expect(card).to_contain_text("Prefix broken before the messages: the tools changed")
    assert expected.prefix is not None
    expect(card).to_contain_text(f"{expected.prefix.resent:,} are sent again")
    zones = page.locator("#billed .zones").inner_text()
    for zone, tokens in expected.by_zone.items():
        assert (f"{tokens:,} (" in zones and zone in zones) or not tokens
    assert numbers(page, "By tool") == list(expected.by_tool.values())
    shares = page.get_by_role("table", name="By tool").locator("tbody td:nth-of-type(2)")
    assert [share.replace("\u00a0", "") for share in shares.all_inner_texts()] == [
        f"{tokens / expected.total:.0%}" for tokens in expected.by_tool.values()
    ]
    assert numbers(page, "By source") == [part.tokens for part in expected.by_source]
    assert numbers(page, "Repeated") == [part.tokens for part in expected.repeats]
    turns = sorted((turn.tokens for turn in expected.by_turn), reverse=True)
    assert numbers(page, "Largest turns") == turns
    assert numbers(page, "Largest messages") == sorted(expected.by_message, reverse=True)[:8]
    source = expected.by_source[0]
    row = page.get_by_role("row", name=f"message {source.places[0]}", exact=False)
    expect(page.get_by_role("table", name="Largest messages").locator(row)).to_contain_text(
        source.begins
    )
    expect(page.get_by_role("table", name="Largest turns")).to_contain_text("<b>Sure?</b>")
    places = ", ".join(map(str, expected.repeats[0].places))
    expect(page.get_by_role("table", name="Repeated")).to_contain_text(f"messages {places}")

    page.fill("#bill-before", json.dumps(sent(ASKED, form)))
    page.get_by_role("button", name="Show the bill").click()
    expect(page.locator("#billed .card.good")).to_contain_text("The prefix is whole")


def test_what_cannot_be_billed_is_said(visit):
    """F5, X2: which of the two is no JSON, and what the service refuses, in its words."""
    here = visit(allow=("status of 400",))
    page = here.page
    page.fill("#bill-request", '{"messages": [')
    page.get_by_role("button", name="Show the bill").click()
    expect(page.locator("#billed")).to_contain_text("The request is not JSON")
    page.fill("#bill-request", json.dumps(sent(ASKED, "openai")))
    page.fill("#bill-before", '{"model": "m"}')
    page.get_by_role("button", name="Show the bill").click()
    expect(page.locator("#billed")).to_contain_text("give a list of messages")
    expect(page.locator("#billed")).to_contain_text("before")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_the_bill_reads_well_and_needs_no_mouse(visit, pictures: Path, theme: str, size: Any):
    """F5: in every theme and width, by the keyboard alone."""
    now = sent(LATER, "anthropic", system="Keep the pumps. " * 9)
    page = visit(theme=theme, size=size).page
    page.fill("#bill-before", json.dumps({**now, "messages": spell(LATER[1:], "anthropic")}))
    page.focus("#import")
    reached(page, "#bill-request")
    page.keyboard.insert_text(json.dumps(now))
    reached(page, "#bill-form button")
    page.keyboard.press("Enter")
    expect(page.locator("#billed .headline")).to_be_visible()
    check_axe(page)
    assert page.evaluate(OVERFLOW) == 0
    page.locator("#bill").screenshot(path=pictures / f"playground-bill-{size[0]}-{theme}.png")
