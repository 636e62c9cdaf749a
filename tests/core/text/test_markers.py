"""The grammar of citation markers: what is one, and what stays as it was written."""

from __future__ import annotations

from random import Random

import pytest

from foveate.core.formats import BUILTIN
from foveate.core.formats.numbered import Numbered
from foveate.core.formats.shared.guards import guards
from foveate.core.render import Renderer
from foveate.core.text.markers import is_index, numbers_of
from foveate.core.types import Block
from foveate.pipeline.prompts import marker_from_format
from foveate.testing.markers import check_markers, marker, markers_in

CITED = [name for name, make in BUILTIN.items() if marker_from_format(make()) is not None]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("1, 3; 4 and 5", (1, 3, 4, 5)),
        ("2-4", (2, 3, 4)),
        ("^3", (3,)),
        ("source 1", (1,)),
        ("doc 2", (2,)),
        ("ref. 1", (1,)),
        ("4:0†a.md", (4,)),
        ("\u00a01\u2009", (1,)),
        ("-1", (-1,)),
        ("+2", (2,)),
        ("２、３", (2, 3)),
        ("②", (2,)),
        ("Ⅻ", (12,)),
        ("¹²", (12,)),
        ("٣", (3,)),
        ("see 1", ()),
        ("1.5", ()),
        ("1:2", ()),
        ("-5, 5", ()),
        ("2024-01-31", ()),
        ("9-2", ()),
        ("1-100000", ()),
        ("9999999", ()),
    ],
)
def test_the_numbers_of_a_marker(words, numbers):
    """C3: numbers, ranges and lists of both, in every script, with any blank between."""
    assert numbers_of(words) == numbers


@pytest.mark.parametrize("name", CITED)
@pytest.mark.parametrize(
    "found",
    [
        *("[-1]", "[1, 2]", "[1-3]", "[1;2]", "[^1]", "[source 1]", "[doc 2]", "[ref. 1]"),
        *("【1】", "[1†source]", "[\u00a01\u2009]", "［2］", "〔2〕", "❲2❳", "[②]", "[Ⅱ]"),
        *("[bread.md]", "[DOC: bread.md]", "[1】", "[source 1 and source 2]", "[https://a.org/b]"),
    ],
)
def test_a_marker_in_a_text_gets_one_backslash(name, found):
    """R3: every spelling that is read as a citation, behind its bracket, and undone again."""
    renderer = Renderer(format=BUILTIN[name]())
    text = f"So it is {found}."

    written = f"So it is {found[0]}\\{found[1:]}."
    expected = written.replace("\\", "\\\\") if name == "openai-parts" else written
    assert renderer.body(text) == expected
    assert renderer.parse(renderer.render([Block(marker=1, text=text, source="a")]).text)[
        0
    ].text == (text)


@pytest.mark.parametrize(
    "text",
    [
        "a[0] = b[-1] + f(x)[0] and rows[0][0]",
        "x[i], x[1:], x[self.size], m[i, j], [x for x in y], [1.5], [-5, 5], [2024-01-31]",
        "- [ ] to do, [x] done, [link](https://example.org), [v. 2 of the draft]",
        "an array [] and a slice [1:2] and [see 1] and （1） and ⟨1⟩ and (1)",
    ],
)
def test_what_merely_resembles_a_marker_stays(text):
    """R3: code and prose that no reader takes for a citation are not touched."""
    assert Renderer(format=Numbered()).body(text) is text


def test_an_index_is_zero_or_signed_behind_a_word():
    """C3: `a[0]` and `a[-1]` are code; `[0]`, `[-1]` and `a[1]` could cite."""
    read = [
        is_index(before, numbers)
        for before in ("a", ")", "", " ")
        for numbers in ((0,), (-1,), (1,))
    ]

    assert read == [True, True, False, True, True, False, *[False] * 6]


def test_the_generator_spells_what_the_grammar_reads():
    """R3: of what the law suite makes, nearly all is read as numbers; the rest are names."""
    made = [marker(Random(seed)) for seed in range(2_000)]

    assert sum(bool(markers_in(one)) for one in made) > 1_400
    assert len(set(made)) > 1_500


class Careless(Numbered):
    """A format that knows the plainest marker alone."""

    def body(self, text):
        """Neutralise `[1]`, and no list of numbers."""
        return guards(r"\d++\]", markers=False).body(text)


def test_the_law_suite_notices_a_marker_that_is_left():
    """R3: a format that neutralises less than is read breaks the law."""
    with pytest.raises(AssertionError, match="stand in"):
        check_markers(Careless(), examples=50)
