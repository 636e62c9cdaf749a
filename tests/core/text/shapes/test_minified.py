"""Code and data on one long line: cut where statements end, marked, counted, found by name."""

from __future__ import annotations

import re
from random import Random
from time import process_time

import pytest

from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.shapes.minified import LONGEST_UNIT
from foveate.pipeline.assembler import assemble
from foveate.testing.shapes import check_shapes

MINIFIED = {
    "JavaScript": (
        "e.exports.m{n}=function(t){{return t.id==='ID-{n:05};'?h{n}:null}};",
        "function f{n}(a,b){{if(b){{return`v;${{a}}`}}for(var d=0;d<b;d++){{g.push(/[;}}]/)}}}}",
    ),
    "CSS": (
        '.p>a[id="ID-{n:05}"]{{color:#00{n:04};background:url(data:a;b,{n})}}',
        "@media (max-width:{n}px){{.d{n}{{display:none;margin:0}}}}",
    ),
    "an object": (
        'k{n}:{{id:"ID-{n:05}",note:"a;b}},{{",qty:{n},tags:["a","b{n}"]}},',
        'w{n}:{{none:"{n}"}},',
    ),
}
PROSE = "The wheel of the mill is old. It turns when the weir is open. " * 20


def written(form: str, count: int) -> str:
    """So many statements of both kinds, on one line."""
    asked, other = MINIFIED[form]
    body = "".join(asked.format(n=n) + other.format(n=n) for n in range(count))
    return f"var data={{{body}}};" if form == "an object" else body


@pytest.mark.parametrize("form", MINIFIED)
def test_a_statement_is_found_by_its_identifier(form: str) -> None:
    """U1 U2: whole, in its bytes, from a line of 60 to 120 kB; what is left out is counted."""
    text = written(form, 700)
    for n in Random(7).sample(range(700), 5):
        wanted = MINIFIED[form][0].format(n=n)
        found = [{"text": text, "source": "a.min"}, {"text": PROSE, "source": "mill.md"}]
        shown = assemble(f"What is ID-{n:05}?", found, budget=150).text
        _, *pieces, _ = re.split(r"\[… (\d+) of (\d+) statements\]", shown.partition("[2]")[0])

        assert wanted in shown
        assert int(pieces[0]) + int(pieces[-2]) < int(pieces[1])
        assert pieces[2].strip() in text


@pytest.mark.parametrize("form", MINIFIED)
def test_units_end_where_statements_end(form: str) -> None:
    """U1 U4: not in a string, a pattern, or parentheses; none is much longer than a function."""
    text = written(form, 100)
    (shape,) = find_shapes(text)

    assert shape.name == "minified code"
    assert all(text[b - 1] in ";}," for _, b in shape.spans)
    assert max(b - a for a, b in shape.spans) < LONGEST_UNIT + 100
    for n in range(100):
        for statement in MINIFIED[form]:
            start = text.index(statement.format(n=n))
            end = start + len(statement.format(n=n))
            assert any(a <= start < end <= b for a, b in shape.spans)


def test_few_characters_are_looked_at_for_each_slash() -> None:
    """U1: sets of characters that end no pattern take no more than a few times as long as code."""

    def seconds(text: str) -> float:
        start = process_time()
        find_shapes(text)
        return process_time() - start

    sets = "a;" + f"[;/+{';' * 96}]" * 1_000
    plain = ("function f(a){b=a+1;return(b)}" * 4_000)[: len(sets)]

    assert min(seconds(sets) for _ in range(3)) < 8 * min(seconds(plain) for _ in range(3))


@pytest.mark.parametrize("blank", [" ", "\t", "\r", "\u2028", " " * 50])
@pytest.mark.parametrize("behind", ["", "\n", "\n// end"])
def test_white_space_behind_statements_is_no_unit(blank: str, behind: str) -> None:
    """U1, X2: behind the last line, and between two of them."""
    line = "function f(a){b=a+1;return(b)}" * 40 + "abc=alpha+beta+gamma+delta+epsilon+zeta+eta;"
    text = f"{line}{blank}\n{line}{blank}{behind}"
    (shape,) = check_shapes(text)

    assert text[: shape.end].endswith("eta;")
    assert all(text[a:b].strip() for a, b in shape.counted[0].spans)
    assert assemble("What does f return?", [{"text": text, "source": "q.js"}], budget=300).text


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        PROSE.replace(". ", "; "),
        "水車は古い。；" * 100,
        "Many words {in brackets}; and others, {too}. " * 30,
        "var a={b:1};" * 20,
        "a" * 900,
    ],
)
def test_what_is_prose_or_short_is_not_minified(text: str) -> None:
    """U1: prose has spaces, and few of the marks of code."""
    assert not [shape for shape in find_shapes(text) if shape.name == "minified code"]


def test_lines_of_code_before_and_behind_stay_code() -> None:
    """U1: a bundle's first lines, and JSON in one line, are read as what they are."""
    bundle = "import { a } from './a.js';\nimport { b } from './b.js';\n" + "let c = 1;\n" * 5
    text = bundle + written("JavaScript", 100) + "\n"
    names = [shape.name for shape in find_shapes(text)]
    (records,) = find_shapes('{"rows":[' + ",".join('{"id":"A-1","b":2}' for _ in range(99)) + "]}")

    assert names == ["code", "minified code"]
    assert records.name == "json"
