"""A10: tool results are read by the readers of shapes, through the strings of JSON."""

from __future__ import annotations

import json
import re

import pytest
from bench.wrapped_results import WRAPPINGS, Case, as_traceback, found, plain
from hypothesis import given
from hypothesis import strategies as st

from foveate import assemble, expand, plugins
from foveate.core.compact.shorten import body_of, is_part_of, shorten_result
from foveate.core.compact.values import extract_values
from foveate.core.text.shapes.gaps import PATTERN
from foveate.core.text.shapes.strings import plain_strings, read_shapes
from foveate.testing.shapes import check_shapes

COUNT = plugins.tokenizer("cl100k_base").count
CASES = [one for one in plain(noise=True) if "7203" in one[2] or "_050" in one[2]]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_asked_is_shown_in_whatever_it_is_written(case, wrapping):
    """A10: one record of 400, beside others that say "failed", at 300 tokens."""
    shape, text, question, answer = case
    wrapped = Case(shape, wrapping, True, WRAPPINGS[wrapping](text), question, answer)

    assert found(wrapped, 300) == {"compact": True, "expand": True, "assemble": True}


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
