"""The page's pure modules, in the browser that runs them, against what Python says."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser

from foveate.core.types import Decision
from foveate.pipeline.reason_messages import COUNTERFACTUALS, REASON_SENTENCES, format_decision

CASES = 300
LETTERS = 'aé𝒳👩‍👧 \n"\\{}[],:→ß日本'


@pytest.fixture(scope="module")
def module(chromium: Browser, site: str) -> Iterator[Callable[[str, str, Any], Any]]:
    """`module("spans.js", "(m, given) => …", given)`: what a function of a module makes of it."""
    page = chromium.new_page()
    page.goto(f"{site}/playground/")
    start = str(page.locator("script[type=module]").get_attribute("src"))

    def called(name: str, code: str, given: Any) -> Any:
        place = f"/playground/{start.replace('main.js', name)}"
        known = f"/playground/{start.replace('main.js', 'known.js')}"
        wrapped = f"""async ([place, known, given]) => {{
            const {{ learn }} = await import(known);
            await learn();
            return ({code})(await import(place), given);
        }}"""
        return page.evaluate(wrapped, [place, known, given])

    yield called
    page.context.close()


def text(dice: random.Random, most: int = 12) -> str:
    """A few letters that are awkward somewhere."""
    return "".join(dice.choice(LETTERS) for _ in range(dice.randrange(most)))


def test_spans_count_characters_as_python_does(module):
    """C1: a span of the context is the same piece of text here and there."""
    dice, asked, expected = random.Random(2), [], []
    for _ in range(CASES):
        whole = text(dice, 40)
        start, end = sorted(dice.randrange(len(whole) + 1) for _ in range(2))
        asked.append([whole, start, end])
        expected.append([whole[start:end], len(whole)])

    cut = module(
        "spans.js",
        "(m, all) => all.map(([t, a, b]) => [m.cutter(t)(a, b), m.characters(t)])",
        asked,
    )

    assert cut == expected


def test_events_are_read_wherever_the_stream_is_cut(module):
    """C5: the same events from pieces of any size, within letters too."""
    events = [["text", {"text": "süß 👩‍👧\n"}], ["citation", {"n": 1}], ["answer", {"a": "b\n\nc"}]]
    body = ": beat\n\n" + "".join(
        f"event: {n}\ndata: {json.dumps(d, ensure_ascii=False)}\n\n" for n, d in events
    )
    code = """async (m, [body, sizes]) => {
        const bytes = new TextEncoder().encode(body);
        const read = async (size) => {
            const stream = new ReadableStream({ start(c) {
                for (let at = 0; at < bytes.length; at += size) {
                    c.enqueue(bytes.slice(at, at + size));
                }
                c.close();
            } });
            const found = [];
            for await (const { event, data } of m.events(stream)) found.push([event, data]);
            return found;
        };
        return Promise.all(sizes.map(read));
    }"""

    found = module("sse.js", code, [body, [1, 2, 3, 7, 1000]])

    assert found == [events] * 5


def test_reasons_are_worded_as_on_the_command_line(module):
    """D7: every reason code, with numbers of every size, and one that nobody knows."""
    dice, decisions = random.Random(3), []
    for reason in [*REASON_SENTENCES, "stitched", "of_a_plugin"]:
        fields = re.findall(r"\{(\w+)\}", REASON_SENTENCES.get(reason, "{parts} {overlap}"))
        for _ in range(6):
            numbers: dict[str, Any] = {
                name: dice.choice((1, 0, 12_345, 0.5, 0.03125, 1e-5, -0.25, 123456.789, "xml"))
                for name in [*fields, *COUNTERFACTUALS]
                if name != "by" and dice.random() < 0.85
            }
            action = dice.choice(("dropped", "merged", "changed", "kept"))
            decisions.append(
                {
                    "chunk_id": "c1",
                    "action": action,
                    "reason": reason,
                    "by": dice.choice(("", "c2")),
                    "numbers": numbers,
                }
            )

    said = module("words.js", "(m, all) => all.map(m.inWords)", decisions)

    assert said == [format_decision(Decision(**one)) for one in decisions]


def test_the_slider_reaches_every_size_in_even_steps(module):
    """F5: rising, from the least to the most, and each place leads back to itself."""
    code = """(m) => {
        const { tokens, place, steps } = m.scale(50, 32000);
        return Array.from({ length: steps + 1 }, (_, at) => [at, tokens(at), place(tokens(at))]);
    }"""

    found = module("scale.js", code, None)
    sizes = [size for _, size, _ in found]

    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (50, 32_000)
    assert [at for at, _, _ in found] == [again for _, _, again in found]


def test_marks_lie_apart_and_change_no_text(module):
    """F5: what is lit is the text itself, in order, each letter once."""
    dice, asked = random.Random(4), []
    vocabulary = ("berth", "Berths", "winter", "in", "the", "日本", "cost", "14")
    for _ in range(CASES):
        whole = " ".join(dice.choice(vocabulary) for _ in range(12))
        gold = dice.choice(("", "14  berth", "winter"))
        asked.append([whole, "What does the berth cost in 日本?", gold])
    code = """(m, all) => all.map(([text, question, gold]) =>
        m.evidence(text, m.termsOf(question), gold).map((one) => [one.start, one.end, one.gold]))"""

    found = module("evidence.js", code, asked)

    for (whole, _, gold), ranges in zip(asked, found, strict=True):
        assert all(a[1] <= b[0] for a, b in pairwise(ranges))
        lit = [(whole[a:b].lower(), golden) for a, b, golden in ranges]
        assert {w for w, golden in lit if golden} <= {" ".join(gold.split())}
        assert {w for w, golden in lit if not golden} <= {"berth", "berths", "cost", "日本"}
        assert (gold == "winter") <= (sum(g for _, g in lit) == whole.split().count("winter"))


def test_sentences_that_another_text_lacks(module):
    """F5: whatever the white space and the marks of what was cut; what adjoins is one range."""
    asked = [
        ["The mill is old. It stands by\nthe river.", "It stands  by the river. It is red."],
        ["The mill is old. It burned. A barge came.", "A barge came."],
        ["It costs 14 …", "It costs 14 euros."],
        ["", "A barge came."],
        ["A barge came.", ""],
    ]
    code = "(m, all) => all.map(([text, other]) => m.alone(text, other))"

    found = module("evidence.js", code, asked)
    lit = [
        [text[one["start"] : one["end"]].strip() for one in ranges]
        for (text, _), ranges in zip(asked, found, strict=True)
    ]

    assert lit == [["The mill is old."], ["The mill is old. It burned."], [], [], ["A barge came."]]
