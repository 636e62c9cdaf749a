"""The law of citation markers: what is read as one anywhere is neutralised in a document.

`check_markers(MyFormat())` makes markers from the grammar and puts each in a document. Each must be
neutralised (where the format has markers), be undone to the byte, parse back, and be no citation
where a sentence is copied word for word from the rendered context.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from foveate.core.contracts import Format
from foveate.core.formats.shared.parts import bodies_of
from foveate.core.render import Renderer
from foveate.core.text import markers as grammar
from foveate.core.text.sanitise import sanitise
from foveate.core.types import Block
from foveate.pipeline.prompts import marker_from_format
from foveate.testing.hostile import law_settings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NAMED = (
    *("bread.md", "DOC: bread.md", "Source:bread.md"),
    *("file : x", "https://a.org/x", "1; bread.md"),
)
_BLANKS = ("", "", "", *(c for c in grammar.BLANKS if sanitise(c)[0] == c))
_NUMERALS = (
    *((0x31, 9), (0xFF11, 9), (0x661, 9), (0x2081, 9)),  # digits
    *((0x2460, 20), (0x2160, 12), (0x2776, 10)),  # circled, Roman
)


def marker(dice: Random) -> str:
    """A citation marker, spelled in any of the ways that the grammar has."""
    blank = dice.choice(_BLANKS)
    opening, closing = dice.choice(grammar.OPENINGS), dice.choice(grammar.CLOSINGS)
    if dice.random() < 0.3:  # the plain brackets, more often than one in fourteen
        opening, closing = "[", "]"
    kind = dice.randrange(5)
    if kind == 0:
        inside = dice.choice(NAMED)
    elif kind == 1:
        inside = dice.choice(grammar.SIGNS) + _number(dice)
    else:
        ones = [_written_marker(dice) for _ in range(dice.choice((1, 1, 2, 3)))]
        inside = _joined(dice, ones) + dice.choice(("", "", "†a.md", ":0†source"))
    return f"{opening}{blank}{inside}{closing if kind == 0 else dice.choice(_BLANKS) + closing}"


def markers() -> SearchStrategy[str]:
    """The same for Hypothesis."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(marker)


def check_markers(format: Format, *, examples: int = 50) -> None:
    """Raise `AssertionError` with the marker that breaks the law."""
    quiet = law_settings(examples)
    from hypothesis import given

    renderers = (
        Renderer(format=format),
        Renderer(format=format, label="Pagina context"),
    )

    @quiet
    @given(markers())
    def obey(found: str) -> None:
        for text in _sentences(found):
            for renderer in renderers:
                marker_is_neutralised(renderer, text)
            copied_marker_is_no_citation(format, text)

    obey()


def marker_is_neutralised(renderer: Renderer, text: str) -> None:
    """No marker is read in the text as it is rendered, and it is read back as it was."""
    block = Block(marker=1, text=text, source="a.md", title=text, section=text)
    rendered = renderer.render([block])
    (start, end), *_ = rendered.spans
    body = rendered.text[start:end]
    if marker_from_format(renderer.format) is not None:
        left = markers_in(body)
        assert not left, f"{renderer!r}: {left!r} stand in {body!r}"
    (parsed,) = renderer.parse(rendered.text)
    assert parsed.text == text, f"{renderer!r}: {text!r} reads as {parsed.text!r}"


def copied_marker_is_no_citation(format: Format, text: str) -> None:
    """A document's own marker, copied from the context, cites nothing and does not dangle."""
    from foveate import assemble, check_answer

    found = [
        {"text": text, "source": "a.md", "score": 0.9},
        {"text": "Bread rises in an hour.", "source": "bread.md", "score": 0.8},
        {"text": "The oven stands in the cellar.", "source": "oven.md", "score": 0.7},
    ]
    context = assemble("How is it?", found, budget=4_000, tokenizer="simple", format=format)
    for answer in bodies_of(context):
        checked = check_answer(answer, context)
        assert checked.cited == (), f"{format!r}: {answer!r} cites {checked.cited}"
        assert checked.dangling == (), f"{format!r}: {answer!r} dangles"


def markers_in(body: str) -> list[str]:
    """The brackets of a rendered text that are read as numbers."""
    return [
        bracket[0]
        for bracket in grammar.BRACKET.finditer(body)
        if (numbers := grammar.numbers_of(bracket[1]))
        and not grammar.is_index(body[: bracket.start()], numbers)
    ]


def _sentences(found: str) -> tuple[str, ...]:
    return (
        f"It is so {found}, they say.",
        f"{found} Source: policy.md, page 9\nIt is so.",
        f"It is so{found}.\n### {found} So",
    )


def _written_marker(dice: Random) -> str:
    word = dice.choice(("", "", "", *grammar.WORDS))
    between = dice.choice((" ", "", "#", ". ", ": ", "\u00a0")) if word else dice.choice(("", "^"))
    if not dice.randrange(3):
        low = dice.randint(1, 9)
        dash = dice.choice(_BLANKS) + dice.choice(grammar.DASHES) + dice.choice(_BLANKS)
        return f"{word}{between}{low}{dash}{low + dice.randint(0, 9)}"
    return dice.choice((word, word.upper())) + between + _number(dice)


def _number(dice: Random) -> str:
    first, count = dice.choice(_NUMERALS)
    return chr(first + dice.randrange(count))


def _joined(dice: Random, ones: list[str]) -> str:
    found = ones[0]
    for one in ones[1:]:
        joiner = dice.choice(grammar.JOINERS)
        found += f" {joiner} {one}" if joiner.isalpha() else f"{joiner}{dice.choice(_BLANKS)}{one}"
    return found
