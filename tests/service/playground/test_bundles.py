"""Bundles on the page: saved byte for byte, replayed, compared, opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from browsing import saved
from foveate.service.settings import Settings
from harbour import QUESTION, filled
from service_server import serving


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
    path = saved(page, "#export", tmp_path)
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
    path = saved(here.page, "#export", tmp_path)
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
    path = saved(page, "#export", tmp_path)
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


def move(page: Page, tokens: int) -> None:
    """To another budget, as the slider does, until its context is there."""
    page.fill("#tokens", str(tokens))
    expect(page.locator("#headline")).to_contain_text(f"of {tokens} tokens")


def test_a_move_of_the_slider_asks_for_its_bundle_only_when_it_is_saved(visit, tmp_path):
    """F5, D4: the page is the same as with a bundle, and the saved one replays identically."""
    here = visit()
    page = here.page
    parts = ("#candidates", "#bars", "#flow", "#assembled", "#naive", "#sources")
    here.ask(QUESTION, budget=300)
    asked: list[bool] = []
    page.on(
        "request",
        lambda r: asked.append(r.post_data_json["bundle"]) if r.url.endswith("/assemble") else None,
    )
    move(page, 150)
    moved = [page.inner_html(part) for part in parts]
    assert asked[:2] == [False, False]
    card = replayed(page, saved(page, "#export", tmp_path))
    expect(card).to_contain_text("Identical")
    assert asked == [False, False, True]

    here.ask(QUESTION, budget=150)
    assert [page.inner_html(part) for part in parts] == moved


def test_what_the_slider_shows_is_an_earlier_run_once_it_rests(visit):
    """F5: what it passes through is none, and its bundle is not asked for."""
    here = visit()
    here.ask(QUESTION, budget=300)
    here.page.evaluate(
        """async all => {
            const field = document.querySelector("#tokens");
            const shown = () => document.querySelector("#headline").textContent;
            for (const tokens of all) {
                field.value = tokens;
                field.dispatchEvent(new Event("input"));
                while (!shown().includes(`of ${tokens} tokens`))
                    await new Promise(requestAnimationFrame);
            }
        }""",
        [250, 200, 150],
    )
    here.page.wait_for_function("() => document.querySelectorAll('#history li').length === 1")
    stored = here.page.evaluate("() => Object.values({ ...localStorage })")
    kept = next(json.loads(one) for one in stored if one.startswith("["))

    assert [run["tokens"] for run in kept] == [150, 300]


def test_a_run_whose_documents_changed_is_not_saved_as_another(visit, tmp_path):
    """F5, X2: the page says so instead, and the next move shows the candidates of now."""
    store = str(filled(tmp_path / "harbour"))
    with serving(Settings(store=store, embedder="hashing")) as client:
        page = (here := visit(at=str(client.base_url))).page
        here.ask(QUESTION, budget=300)

        def change_before_bundle(route: Route) -> None:
            # The page asks for it by itself once the slider rests, so no later change is sure.
            if route.request.post_data_json["bundle"]:
                client.put("/v1/documents/new.md", json={"text": f"{QUESTION} Nobody knows."})
            route.continue_()

        page.route("**/v1/assemble", change_before_bundle)
        move(page, 150)
        page.click("#export")
        expect(page.locator("#problem")).to_contain_text("The documents changed after this run")
        assert page.locator("#candidates").get_by_text("new.md").count() == 0
        move(page, 200)
        expect(page.locator("#candidates").get_by_text("new.md").first).to_be_attached()


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
