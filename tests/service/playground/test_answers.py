"""Answers on the page: as a model writes them, and answers of one's own, checked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

import model_servers
from browsing import NARROW, OVERFLOW
from foveate.service.settings import Settings
from harbour import QUESTION
from service_server import serving

IN_FILE = """async () => {
    const start = document.querySelector("script[type=module]").src;
    const { htmlOf } = await import(start.replace("main.js", "html-file.js"));
    const { view } = await import(start.replace("main.js", "view.js"));
    return htmlOf(view());
}"""
PIECES = ("A berth costs ", "14 euros a metre [", "1]. It is of marble [9].")


@pytest.fixture(scope="module")
def talking(handbook: str) -> Iterator[str]:
    """The address of a service with a model that answers and one that refuses to."""
    with (
        model_servers.serving("openai", "fine", pieces=PIECES) as fine,
        model_servers.serving("openai", "refuses") as refuses,
        serving(
            Settings(
                store=handbook,
                embedder="hashing",
                models={"fine": fine.name, "sulky": refuses.name},
                windows={"fine": 8_192, "sulky": 8_192},
            )
        ) as client,
    ):
        yield str(client.base_url)


def test_an_answer_is_written_with_its_citations_linked(visit, talking):
    """F5, F8, C3: the model's words, markers that lead to their block, one that names nothing."""
    here = visit(at=talking)
    page = here.page
    page.select_option("#model", "fine")
    here.ask(QUESTION, budget=300)
    said = page.locator("#answer .said")
    expect(page.locator("#checked .card")).to_contain_text("[9] names nothing")

    assert said.text_content() == "".join(PIECES)
    expect(said.locator(".dangling")).to_have_text("[9]")
    page.wait_for_selector("#bars h3:has-text('window of 8,192')")
    link = said.locator("a.cited")
    link.click()
    expect(page.locator("#assembled .body:focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(link).to_be_focused()


def test_the_answer_from_plain_joining_stands_beside(visit, talking):
    """F5: two answers of one model at one budget, unless the box is cleared."""
    here = visit(at=talking)
    page = here.page
    assert page.locator("#both").is_hidden()
    page.select_option("#model", "fine")
    with page.expect_request(
        lambda one: one.url.endswith("/v1/ask") and one.post_data_json["recipe"] == "naive"
    ) as asked:
        here.ask(QUESTION, budget=300)
    assert asked.value.post_data_json["budget"] == 300
    joined, made = page.locator("#joined-answer"), page.locator("#answer")
    expect(joined.locator(".said")).to_have_text("".join(PIECES))
    expect(made.locator(".said")).to_have_text("".join(PIECES))
    assert joined.bounding_box()["y"] == made.bounding_box()["y"]
    assert joined.bounding_box()["x"] > made.bounding_box()["x"]
    expect(page.locator("#joined-checked .card")).to_be_visible()
    expect(page.locator("#checked .card")).to_be_visible()
    assert page.evaluate(IN_FILE).count("It is of marble") == 4  # said, and checked, twice
    page.uncheck("#both")
    page.click("#go")
    expect(page.locator("#joined")).to_be_hidden()
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(OVERFLOW) == 0, "a tokenizer of a long name"


def test_an_answer_knows_the_context_it_was_given_from(visit, talking):
    """F5: once the slider made another context, its markers lead nowhere wrong."""
    here = visit(at=talking)
    page = here.page
    page.select_option("#model", "fine")
    here.ask(QUESTION, budget=300)
    expect(page.locator("#checked .card")).to_be_visible()
    page.fill("#tokens", "150")
    expect(page.locator("#headline")).to_contain_text("of 150 tokens")
    page.click("#answer a.cited")

    expect(page.locator("#state")).to_contain_text("from another context")
    assert "of marble" not in page.evaluate(IN_FILE)


def test_a_model_that_fails_leaves_the_context_and_says_so(visit, talking):
    """F5, X3: the context stays, and the trouble is told where the answer would be."""
    here = visit(at=talking)
    page = here.page
    page.select_option("#model", "sulky")
    here.ask(QUESTION, budget=300)

    expect(page.locator("#answer .card")).to_contain_text("gave no answer")
    assert here.tokens() > 0


def test_an_answer_of_ones_own_is_checked(visit):
    """F5, C3: claims with what supports them, and what nothing supports."""
    here = visit()
    page = here.page
    here.ask(QUESTION, budget=300)
    marker = page.locator("#sources li", has_text="14 euros").first.locator("a").inner_text()
    page.fill("#said", f"In winter a berth costs 14 euros a metre {marker}. Boats may fly [9].")
    page.click("#check button")
    claims = page.locator("#own-checked .claims > li")
    expect(claims).to_have_count(2)

    expect(claims.nth(0).locator(".chip")).to_have_text("supported")
    expect(page.locator("#own-checked .card")).to_contain_text("[9] names nothing")
    claims.nth(0).get_by_role("button").first.click()
    expect(page.locator("#assembled .body:focus")).to_contain_text("14 euros")
