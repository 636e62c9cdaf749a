"""A10: tool results are read by the readers of shapes, through the strings of JSON."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble, compact, expand, plugins
from foveate.core.compact.shorten import body_of, is_part_of, shorten_result
from foveate.core.compact.values import extract_values
from foveate.core.text.shapes.gaps import PATTERN
from foveate.core.text.shapes.strings import plain_strings, read_shapes
from foveate.testing.shapes import check_shapes

COUNT = plugins.tokenizer("cl100k_base").count
BOATS = ("Heron", "Tern", "Plover", "Dunlin", "Avocet")
ASKED = 203
WRAPPINGS = {
    "plain": lambda text: text,
    "stdout": lambda text: json.dumps({"exit_code": 0, "stdout": text, "stderr": ""}),
    "mcp": lambda text: json.dumps([{"type": "text", "text": text}]),
    "json in json": lambda text: json.dumps({"result": json.dumps({"status": 200, "body": text})}),
}


def total(n):
    """A number that only record n has."""
    return 50_000 + 37 * n


def records(*, noise=True):
    """400 records of berths; a third of them say "failed", if there is noise."""
    return [
        {
            "id": f"BK-{7000 + n}",
            "boat": f"{BOATS[n % 5]} {n}",
            "state": "failed: mooring denied" if noise and n % 3 == 0 else "open",
            "total": total(n),
        }
        for n in range(400)
    ]


def as_log(*, noise=True):
    """A line for each record."""
    return "\n".join(
        f"2026-05-01T10:{n // 60:02}:{n % 60:02}Z {'ERROR' if noise and n % 3 == 0 else 'INFO'} "
        f"booking {r['id']} {r['state']} total={r['total']} boat={r['boat']}"
        for n, r in enumerate(records(noise=noise))
    )


def as_traceback(n, *, noise=True):
    """A log in which one entry has a traceback, whose exception is asked for."""
    lines = as_log(noise=noise).split("\n")
    lines[n] = lines[n].replace(" INFO ", " ERROR ") + (
        "\nTraceback (most recent call last):\n"
        f'  File "/app/dispatch/assign.py", line {n}, in assign\n'
        "    self.bus.publish(topic, record)\n"
        '  File "/app/dispatch/bus.py", line 58, in publish\n'
        "    raise BusUnavailable(str(exc)) from exc\n"
        f"dispatch.bus.BusUnavailable: certificate of dock {total(n)} has expired"
    )
    return "\n".join(lines)


def as_code():
    """Methods, of which each returns its own number."""
    return "class Harbour:\n" + "\n".join(
        f"    def berth_{n:03}(self, boat: str) -> int:\n"
        f'        """{"The last booking failed." if n % 3 == 0 else "A free berth."}"""\n'
        f"        self.moor(boat)\n        return {total(n)}\n"
        for n in range(100)
    )


def plain():
    """Each shape with its text, a question and its answer."""
    rows = records()
    written = {
        "json": json.dumps(rows),
        "json lines": "\n".join(map(json.dumps, rows)),
        "csv": "\n".join(["id,boat,state,total", *(",".join(map(str, r.values())) for r in rows)]),
        "log": as_log(),
        "xml": "<bookings>\n"
        + "\n".join(
            "<booking>" + "".join(f"<{k}>{v}</{k}>" for k, v in r.items()) + "</booking>"
            for r in rows
        )
        + "\n</bookings>",
        "html": "<table><tr><th>id</th><th>boat</th><th>state</th><th>total</th></tr>\n"
        + "\n".join("<tr>" + "".join(f"<td>{v}</td>" for v in r.values()) + "</tr>" for r in rows)
        + "\n</table>",
        "yaml": "bookings:\n"
        + "\n".join(
            "\n".join(f"{'  - ' if k == 'id' else '    '}{k}: {v}" for k, v in r.items())
            for r in rows
        ),
    }
    for shape, text in written.items():
        yield shape, text, f"What is the total of BK-{7000 + ASKED}?", str(total(ASKED))
    asked = f"Why did booking BK-{7000 + ASKED} end?"
    yield "traceback", as_traceback(ASKED), asked, f"dock {total(ASKED)} has"
    method = ASKED // 4
    yield "code", as_code(), f"What does berth_{method:03} return?", f"return {total(method)}"


def found(text, question, answer, budget):
    """By way, whether the answer is shown."""
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    made = compact(
        [
            {"role": "user", "content": question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": text},
        ],
        budget=budget,
    )
    [handle] = made.originals
    shown = expand(handle, made.originals, query=question, budget=budget)
    return {
        "compact": answer in made.messages[-1]["content"],
        "expand": answer in shown,
        "assemble": answer
        in assemble(question, [{"text": text, "score": 0.6}], budget=budget).text,
    }


CASES = list(plain())


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_asked_is_shown_in_whatever_it_is_written(case, wrapping):
    """A10: one record of 400, beside others that say "failed", at 300 tokens."""
    _, text, question, answer = case

    assert found(WRAPPINGS[wrapping](text), question, answer, 300) == {
        "compact": True,
        "expand": True,
        "assemble": True,
    }


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_traceback_keeps_its_exception(wrapping):
    """A10: the error is shown with its cause where nobody can name it."""
    text = WRAPPINGS[wrapping](as_traceback(211, noise=False))
    shown, _, _ = shorten_result(text, "Why did the run fail?", 200, COUNT)

    assert "BusUnavailable: certificate of dock 57807 has expired" in shown
    assert "bus.py" in shown


@pytest.mark.parametrize("ascii_only", [True, False])
def test_records_are_found_and_shown_without_escapes(ascii_only):
    """A10, A3: a name in other letters is asked for as it reads; every value is one of these."""
    rows = [{"kunde": f"Müller-{n}", "ort": f"Zürich {n}", "会社": f"張三-{n}"} for n in range(300)]
    stdout = "\n".join(f"{row['kunde']}\t{row['会社']}\t{n}" for n, row in enumerate(rows))
    decoded = stdout + json.dumps(rows, ensure_ascii=False)
    for value in (rows, {"stdout": stdout}, {"result": json.dumps(rows, ensure_ascii=ascii_only)}):
        text = json.dumps(value, ensure_ascii=ascii_only)
        shown, _, _ = shorten_result(text, "Wo ist Müller-217?", 200, COUNT)
        assert "Müller-217" in shown
        said = [one.text for one in extract_values(PATTERN.sub(" ", body_of(shown)))]
        assert [one for one in said if one not in decoded] == []
        assert is_part_of(shown, text)
        assert "Müller-217" in expand("h", {"h": text}, query="Müller-217", budget=200)
        assembled = assemble("Wo ist Müller-217?", [{"text": text}], budget=300).text
        assert re.search(r"M(?:ü|\\+u00fc)ller-217\b", assembled)


def test_gaps_stand_on_lines_of_their_own():
    """A10: lines and statements are not joined to others; what is left out is counted."""
    text, question = CASES[3][1:3]
    shown, _, _ = shorten_result(text, question, 200, COUNT)
    marks = [line for line in body_of(shown).splitlines() if "[…" in line]

    assert marks
    assert all(re.fullmatch(r"\[… \d+ of \d+ lines\]", line) for line in marks)


TEXTS = st.text(alphabet='ab1 \n\t"\\{}[]:,é漢', min_size=0, max_size=900)


@given(st.recursive(TEXTS, lambda one: st.lists(one) | st.dictionaries(TEXTS, one), max_leaves=8))
def test_whatever_is_in_a_string_the_laws_of_shapes_hold(value):
    """A10: spans are in order, leave nothing out, and stand in the text as it came."""
    text = json.dumps({"a": value, "stdout": str(value) * 3})
    check_shapes(text)
    shown, _, _ = shorten_result(text, "b1?", 60, COUNT)

    assert is_part_of(shown, text)
    assert plain_strings(plain_strings(text)) == plain_strings(text)


def test_json_in_json_is_read_at_any_depth():
    """A10: records seven strings deep have units of their own."""
    text = json.dumps([{"id": f"A-{n}", "total": n * 7} for n in range(120)])
    for _ in range(7):
        text = json.dumps({"result": text})
    (shape,) = read_shapes(text)

    assert ("json", 120) in {(inner.name, len(inner.spans)) for inner in shape.inner}
    assert "A-77" in shorten_result(text, "A-77", 1_200, COUNT)[0]
