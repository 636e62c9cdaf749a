"""Bundles on the page: saved byte for byte, replayed, compared, opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from harbour import QUESTION


def saved(page: Page, folder: Path) -> Path:
    """What the button hands over."""
    with page.expect_download() as waited:
        page.click("#export")
    path = folder / waited.value.suggested_filename
    waited.value.save_as(path)
    return path


def replayed(page: Page, path: Path) -> Any:
    """The card that says what came of it."""
    page.set_input_files("#import", str(path))
    card = page.locator("#verdict .card").first
    expect(card).to_be_visible()
    return card


def test_a_saved_bundle_is_what_the_service_sent_and_replays_identically(visit, tmp_path):
    """F5, D4: no number is spelled otherwise in the file, and the service makes the same again."""
    here = visit()
    page = here.page
    sent: list[str] = []
    page.on("response", lambda r: sent.append(r.text()) if r.url.endswith("/assemble") else None)
    here.ask(QUESTION, budget=300)
    path = saved(page, tmp_path)
    text = path.read_text(encoding="utf-8").strip()
    card = replayed(page, path)

    assert any(text in one for one in sent)
    assert json.loads(text)["kind"] == "foveate-bundle"
    expect(card).to_contain_text("Identical")
    expect(card).to_contain_text(json.loads(text)["manifest"]["output_hash"])


def test_a_changed_bundle_names_where_it_diverges(visit, tmp_path):
    """F5, D4: the first stage that decided otherwise, and why."""
    here = visit()
    here.ask(QUESTION, budget=300)
    path = saved(here.page, tmp_path)
    bundle = json.loads(path.read_text(encoding="utf-8"))
    stage = next(one for one in bundle["trace"] if one["stage"] == "pack")
    stage["decisions"][0]["reason"] = "shed"
    path.write_text(json.dumps(bundle), encoding="utf-8")
    card = replayed(here.page, path)

    expect(card).to_contain_text("Diverged at pack")
    expect(card).to_contain_text("shed")


def test_a_bundle_is_compared_with_the_run_above_and_shown_in_its_place(visit, tmp_path):
    """F5, D4: two runs explained; and what was recorded, shown as it was."""
    here = visit()
    page = here.page
    here.ask(QUESTION, budget=300)
    first = here.tokens()
    path = saved(page, tmp_path)
    page.fill("#tokens", "150")
    expect(page.locator("#headline")).to_contain_text("of 150 tokens")
    replayed(page, path)
    page.get_by_role("button", name="Compare with the run above").click()
    expect(page.locator("#verdict")).to_contain_text("part at pack")
    page.get_by_role("button", name="Show this run above").click()
    expect(page.locator("#headline")).to_contain_text("of 300 tokens")

    assert here.tokens() == first
    text = json.loads(path.read_text(encoding="utf-8"))["text"]
    assert page.locator("#assembled .frame").text_content() == text
    expect(page.locator("#naive")).to_be_hidden()


@pytest.mark.parametrize(
    ("content", "said"),
    [("no bundle at all", "not JSON"), ('{"kind": "other"}', "not a bundle")],
)
def test_a_file_that_is_no_bundle_is_refused_in_words(visit, tmp_path, content, said):
    """F5, X2: what is wrong with the file is said, and nothing else happens."""
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    card = replayed(visit(allow=("status of 400",)).page, path)

    expect(card).to_contain_text(said)
