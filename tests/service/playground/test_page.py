"""The page in a real browser, over the real service: what it shows is what the API says."""

from __future__ import annotations

import json
from typing import Any

import httpx
from playwright.sync_api import expect

from browsing import NARROW, WIDE
from foveate.service.settings import Settings
from harbour import GOLD, QUESTION
from service_server import serving

ROWS = "#candidates > li"
REFUSED = ("status of 422",)


def told(visit: Any, **more: Any) -> dict[str, Any]:
    """What the API says to the same request as the page's, bundle included."""
    body = {"query": QUESTION, "limit": 50, "recipe": "default", "bundle": True, **more}
    answer = httpx.post(f"{visit.site}/v1/assemble", json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


PANES = ("#assembled", "#naive")


def test_it_shows_what_each_stage_did(visit):
    """F5: asked a question, the page shows stages, badges and tokens as the API gives them."""
    here = visit()
    here.ask(QUESTION, budget=300)
    context = told(here, budget=300)
    page = here.page
    counts = page.locator("#flow .count").all_text_contents()
    stages = page.locator("#flow .name").all_text_contents()

    assert stages == [stage["stage"] for stage in context["trace"]]
    assert [c.removesuffix(" chunks") for c in counts[1:]] == [
        f"{stage['before']} → {stage['after']}" for stage in context["trace"][1:]
    ]
    assert here.tokens() == context["token_count"]
    assert page.locator("#badges li").all_text_contents()[0] == context["found"]["badge"]
    assert f"{context['found']['lexical_matches']} lexical" in page.inner_text("#badges")
    assert page.locator("#assembled .reading").inner_text() != ""


def test_the_contexts_are_shown_character_for_character(visit):
    """F5: both contexts stand there as the model reads them, the naive one beside the other."""
    here = visit()
    here.ask(QUESTION, budget=300)
    shown = """name => [...document.querySelectorAll(`#${name} .frame, #${name} .body`)].map(
        part => [...part.childNodes].filter(one => !one.classList?.contains("how"))
            .map(one => one.textContent).join("")).join("")"""

    assert here.page.evaluate(shown, "assembled") == told(here, budget=300)["text"]
    assert here.page.evaluate(shown, "naive") == told(here, budget=300, recipe="naive")["text"]


def test_every_candidate_has_its_fate_and_the_reason_in_words(visit):
    """F5, D7: one row for each candidate that the run knew, and what would have changed it."""
    here = visit()
    here.ask(QUESTION, budget=200)
    page = here.page
    context = told(here, budget=200)
    ids = {one["id"] for one in context["bundle"]["candidates"]}
    decisions = [one for stage in context["trace"] for one in stage["decisions"]]
    ids |= {one["chunk_id"] for one in decisions}
    rows = page.eval_on_selector_all(ROWS, "rows => rows.map(row => row.dataset.id)")

    assert sorted(rows) == sorted(ids)
    chips = page.locator(f"{ROWS} .whatif").all_inner_texts()
    assert any(chip.startswith(("would fit with", "about")) for chip in chips)
    assert any(chip.startswith("chosen for the word") for chip in chips)


def test_candidates_are_filtered_by_fate_and_by_stage(visit):
    """F5: a filter shows its kind alone, and as many as it says."""
    here = visit()
    here.ask(QUESTION, budget=200)
    page = here.page
    chosen = page.locator("#filters button", has_text="over budget")
    chosen.click()

    assert page.locator(f"{ROWS} .chip.budget").count() == page.locator(ROWS).count() > 0
    assert chosen.inner_text().split()[-1] == str(page.locator(ROWS).count())
    expect(page.locator("#filters button[aria-pressed=true]")).to_be_focused()

    stage = page.locator("#flow button", has_text="dedup_exact")
    stage.click()
    expect(page.locator("#stage-detail")).to_contain_text("DedupExact")
    page.click("#stage-detail button")
    decided = {
        one["chunk_id"]
        for entry in told(here, budget=200)["trace"]
        if entry["stage"] == "dedup_exact"
        for one in entry["decisions"]
    }
    rows = page.eval_on_selector_all(ROWS, "rows => rows.map(row => row.dataset.id)")
    assert set(rows) == decided


def test_an_answer_that_comes_late_is_dropped(visit):
    """F5: while the slider goes on, the last good context stays, and no stale one replaces it."""
    here = visit(allow=("ERR_ABORTED",))
    here.ask(QUESTION, budget=400)
    page = here.page
    held: list[Any] = []
    full = 2  # one request for each of the two contexts
    page.route(
        "**/v1/assemble",
        lambda route: route.continue_() if len(held) == full else held.append(route),
    )
    with page.expect_request("**/v1/assemble"):
        page.fill("#tokens", "150")
    expect(page.locator("#headline")).to_contain_text("of 400 tokens")
    expect(page.locator("#state")).to_have_text("assembling …")
    page.fill("#tokens", "250")
    expect(page.locator("#headline")).to_contain_text("of 250 tokens")
    for late in held:
        late.continue_()
    here.settled()

    assert len(held) == full
    expect(page.locator("#headline")).to_contain_text("of 250 tokens")


def test_the_recipe_is_switched_and_its_zones_with_it(visit):
    """F5: another recipe assembles the same question anew, within its own window."""
    here = visit()
    here.ask(QUESTION, budget=300)
    page = here.page
    expect(page.locator("#bars")).to_contain_text("window of 128,000")
    page.select_option("#recipe", "local-llm")
    expect(page.locator("#headline")).to_contain_text("local-llm")
    expect(page.locator("#bars")).to_contain_text("window of 8,192")

    assert page.locator("#assembled .frame", has_text="<chunk").count() > 0
    assert "fills a small window" in page.inner_text("#about")


def test_a_citation_leads_to_its_chunk_and_back(visit):
    """F5, C1: a marker jumps to the block it stands for; Escape and Back return to it."""
    here = visit()
    here.ask(QUESTION, budget=300)
    page = here.page
    context = told(here, budget=300)
    link = page.locator("#sources a", has_text="[2]")
    link.click()
    block = page.locator(":focus")
    text = next(one["text"] for one in context["blocks"] if one["marker"] == 2)

    assert text in str(block.text_content())
    page.keyboard.press("Escape")
    expect(link).to_be_focused()

    link.click()
    page.get_by_role("button", name="Back", exact=True).click()
    expect(link).to_be_focused()
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_hidden()

    why = page.get_by_role("button", name="Why is block 2 there?")
    why.click()
    row = page.locator("li", has=page.locator(":focus"))
    ids = next(one["chunk_ids"] for one in context["blocks"] if one["marker"] == 2)
    assert row.last.get_attribute("data-id") in ids


def test_evidence_is_lit_in_both_contexts(visit):
    """F5: words of the question and the expected answer are marked, and it is said where it is."""
    here = visit()
    here.ask(QUESTION, gold=GOLD, budget=300)
    page = here.page

    for pane in ("#assembled", "#naive"):
        marks = page.locator(f"{pane} mark.gold").all_text_contents()
        assert {" ".join(one.split()) for one in marks} == {GOLD}
        terms = {one.lower() for one in page.locator(f"{pane} mark:not(.gold)").all_text_contents()}
        assert {"berth", "winter"} <= terms
        assert not {"a", "the", "in"} & terms
        expect(page.locator(f"{pane} .gold-said")).to_contain_text("block")
    page.fill("#gold", "no such words")
    expect(page.locator("#assembled .gold-said")).to_contain_text("not in it")


def test_what_only_one_context_has_is_lit(visit):
    """F5: the difference of the two contexts is seen without reading both; no mark is torn."""
    here = visit()
    here.ask(QUESTION, gold=GOLD, budget=300)
    page = here.page
    plain = "e => e.textContent.replace(/…/g, '').replace(/\\s+/g, ' ').trim()"
    texts = {pane: page.locator(f"{pane} .reading").evaluate(plain) for pane in PANES}

    for pane, other in zip(PANES, reversed(PANES), strict=True):
        alone = [one.evaluate(plain) for one in page.locator(f"{pane} .alone").all()]
        assert alone
        assert not [one for one in alone if one in texts[other]]
    expect(page.locator("#legend .alone")).to_be_visible()


def test_what_is_wrong_is_said_and_can_be_mended(visit):
    """F5, X2: a problem stands there as the service says it; the last good context stays."""
    here = visit(allow=REFUSED)
    here.ask(QUESTION, budget=300)
    page = here.page
    page.fill("#tokens", "3")
    card = page.get_by_role("alert").filter(has_text="budget too small")
    expect(card).to_be_visible()
    expect(page.locator("#headline")).to_contain_text("of 300 tokens")
    card.get_by_role("button", name="Use ").click()
    here.settled()

    assert 0 < here.tokens() <= int(page.input_value("#tokens")) < 300
    expect(card).to_have_count(0)


def test_candidates_of_ones_own_take_the_place_of_the_store(visit):
    """F5, I2: JSON Lines are assembled, and a line that is none is named."""
    here = visit(allow=("status of 400",))
    page = here.page
    page.click("text=Try the built-in example")
    here.settled()
    expect(page.locator("#badges")).to_contain_text("your candidates")
    assert page.locator(f"{ROWS} .chip.twin").count() == 2
    expect(page.locator("#assembled .body").first).to_contain_text("14 euros a metre")
    expect(page.locator("#naive")).not_to_contain_text("14 euros a metre")
    top = "e => e.getBoundingClientRect().top"
    beside = page.locator(".live").evaluate("e => e.getBoundingClientRect().bottom")
    assert beside <= page.locator("#contexts").evaluate(top) < 0.5 * WIDE[1]

    page.fill("#pasted", '{"text": "The quay is of oak."}\n{"text": "The quay')
    expect(page.locator("#pasted-said")).to_contain_text("Line 2 is not JSON")
    page.fill("#pasted", '{"text": "The quay is of oak."}\n{"text": "And long.", "page": -1}')
    card = page.get_by_role("alert").filter(has_text="page")
    expect(card).to_contain_text("line 2")


def test_many_candidates_come_from_a_file_or_are_pasted(visit, tmp_path):
    """F5, I2: thousands of lines at once; the list shows some of them and goes on when asked."""
    lines = "".join(
        json.dumps({"id": f"c{n}", "score": 1 - n / 4_000, "text": f"Berth {n} costs {n} euros."})
        + "\n"
        for n in range(2_000)
    )
    path = tmp_path / "pool.jsonl"
    path.write_text(lines, encoding="utf-8")
    here = visit()
    page = here.page
    page.check("[name=origin][value=own]", force=True)
    page.set_input_files("#own-file", str(path))
    expect(page.locator("#pasted-said")).to_have_text("2,000 candidates")
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const field = document.querySelector("#pasted");
            field.select();
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data }));
        }""",
        lines.replace("costs", "is for"),
    )
    assert page.input_value("#pasted") == lines.replace("costs", "is for")
    here.ask("What is berth 7 for?", budget=300)
    expect(page.locator("#filters button").first).to_contain_text("2,000")
    shown = page.locator(ROWS).count()
    page.get_by_role("button", name="Show more of").click()

    assert shown < page.locator(ROWS).count() < 100


def test_what_was_asked_outlives_a_reload_and_reaches_no_server(visit):
    """F5: question and settings stand behind the # of the address, which can be copied."""
    here = visit()
    page = here.page
    page.select_option("#limit", "20")
    here.ask(QUESTION, budget=350)
    page.reload()
    here.settled()

    assert page.input_value("#question") == QUESTION
    assert page.input_value("#tokens") == "350"
    assert page.input_value("#limit") == "20"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#link")
    expect(page.locator("#link")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    assert "?" not in page.url.partition("#")[0]


def test_the_two_contexts_are_on_the_first_screen_after_a_run(visit):
    """F5: the texts come first, also on a telephone, and the recipe can be read there."""
    for size in (WIDE, NARROW):
        here = visit(size=size)
        here.page.fill("#question", QUESTION)
        here.page.fill("#tokens", "300")
        here.page.press("#tokens", "Enter")
        here.settled()
        top = "e => e.getBoundingClientRect().top"
        shown = here.page.locator("#assembled .body").first

        assert shown.evaluate(top) < 0.75 * size[1]
        assert here.page.locator("#recipe").evaluate("e => e.clientWidth") > 150


def test_the_blocks_are_shown_beside_the_budget(visit):
    """F5: each block's share is on the first screen; its number only where it is not clipped."""
    for size in (WIDE, NARROW):
        here = visit(size=size)
        here.ask(QUESTION, budget=900)
        bits = here.page.locator("#used .blocks a")
        assert bits.count() == here.page.locator("#assembled .body").count()
        assert here.page.locator("#used").bounding_box()["y"] < 0.5 * size[1]
        cut = "all => all.filter(e => e.firstChild.offsetWidth > e.clientWidth).length"
        assert bits.evaluate_all(cut) == 0


def test_a_drag_of_the_slider_is_followed(visit):
    """F5: contexts are shown while it moves, not only once it stops; the last one is its own."""
    here = visit()
    here.ask(QUESTION, budget=900)
    moved = here.page.evaluate(
        """async () => {
            const slider = document.querySelector("#budget");
            const drawn = new Set();
            const said = () => document.querySelector("#headline b.nums").textContent;
            for (let step = 0; drawn.size < 4 && step < 2_000; step += 1) {
                slider.value = Number(slider.value) + (step % 60 < 30 ? -1 : 1);
                slider.dispatchEvent(new Event("input"));
                await new Promise((done) => setTimeout(done, 10));
                drawn.add(said());
            }
            return [drawn.size, document.querySelector("#tokens").value];
        }"""
    )
    assert moved[0] == 4
    expect(here.page.locator("#headline b.nums")).to_contain_text(f"of {moved[1]} tokens")


def test_one_reads_on_at_the_same_place_while_the_slider_moves(visit):
    """F5: the new context stands where the old one was scrolled to."""
    here = visit()
    page = here.page
    here.ask(QUESTION, budget=900)
    page.evaluate(
        """() => {
            document.styleSheets[0].insertRule(".reading { max-height: 9em !important }");
            document.querySelector("#assembled .reading").scrollTop = 40;
        }"""
    )
    page.fill("#tokens", "890")
    expect(page.locator("#headline b.nums")).to_contain_text("of 890 tokens")
    assert page.eval_on_selector("#assembled .reading", "e => e.scrollTop") == 40


def test_links_lead_to_parts_that_are_there(visit):
    """F5: before the first run none is shown, afterwards each leads to its part."""
    here = visit()
    links = here.page.locator(".parts a:visible")
    expect(here.page.locator("#recipe option").first).to_be_attached()
    assert links.all_text_contents() == []

    here.ask(QUESTION, budget=300)
    for link in links.all():
        assert here.page.locator(link.get_attribute("href") or "").is_visible()


def test_a_fault_goes_when_it_is_mended(visit):
    """F5: a bad line, then none: the red card is gone, and what is missing is said."""
    here = visit(allow=("status of 400",))
    page = here.page
    page.fill("#question", QUESTION)
    page.check("[name=origin][value=own]", force=True)
    page.fill("#pasted", '{"text": "a", "score": "high"}')
    page.click("#go")
    expect(page.locator("#problem .card")).to_be_visible()
    assert page.locator("#problem").get_by_text("Try again").count() == 0
    page.fill("#pasted", "")

    expect(page.locator("#problem .card")).to_have_count(0)


def test_scores_are_shown_on_a_scale(visit):
    """F5: the best is 100; the score itself is beside it, for whoever points at it."""
    here = visit()
    here.ask(QUESTION, budget=300)
    scores = here.page.locator(f"{ROWS} .score")

    assert scores.first.inner_text() == "100"
    assert scores.first.get_attribute("title").startswith("score 0.0")


def test_files_go_into_the_store_from_the_page(tmp_path, chromium):
    """F5, F3: uploaded, found, and what cannot be read is named; an empty store says so."""
    with serving(Settings(store=str(tmp_path / "own"), embedder="hashing")) as client:
        page = chromium.new_page()
        page.goto(str(client.base_url))
        page.fill("#question", "How deep is the well?")
        page.click("#go")
        expect(page.locator("#assembled .nothing")).to_contain_text("Nothing found")
        page.set_input_files(
            "#upload",
            [
                {"name": "w.md", "mimeType": "", "buffer": b"The well is nine metres deep."},
                {"name": "p.png", "mimeType": "", "buffer": b"\x89PNG"},
            ],
        )
        expect(page.locator("#state")).to_contain_text("1 document added; not read: p.png")
        page.click("#go")
        expect(page.locator("#assembled .body")).to_contain_text("nine metres")
        page.close()
