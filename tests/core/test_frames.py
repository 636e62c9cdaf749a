"""Frames: what stands around a text is made once for all candidates that it is the same for."""

from __future__ import annotations

from dataclasses import replace

from foveate.core.header_costs import header_key, header_renderer
from foveate.core.recipes import builtin_recipes
from foveate.core.render import renderer_for_recipe
from foveate.core.stages.stitch import Stitch
from foveate.core.types import Candidate, Chunk, Rendition, Span
from foveate.testing.fakes import request

RECIPE = builtin_recipes()["default"]


def passage() -> Candidate:
    """Two chunks of one document that follow on each other, on two pages."""
    rows = ((1, 0, "One is. "), (2, 8, "Two is."))
    made = [
        Chunk(text=text, id=f"c{n}", document_id="d", source="s", sequence=n, start=at, page=n)
        for n, at, text in rows
    ]
    chunks = tuple([Candidate(chunk=chunk, score=1.0) for chunk in made])
    (one,) = Stitch()(chunks, request()).candidates
    return one


def part(one: Candidate, span: Span) -> Candidate:
    """The passage, of which that is shown."""
    text = one.text[span[0] : span[1]]
    return replace(one, shown=Rendition(kind="extract", text=text, spans=(span,)))


def test_pieces_of_a_passage_have_the_shape_of_what_they_show() -> None:
    """S9: a piece's header is that of its first chunk that is shown, one for all such."""
    key, header = header_key(RECIPE), header_renderer(RECIPE, renderer_for_recipe(RECIPE), 99)
    one = passage()
    (a, b), end = one.parts[1].span, len(one.text)
    first, second, third = part(one, (0, 7)), part(one, (a, b)), part(one, (a, end - 1))

    assert len(one.parts) == 2
    assert key(second) == key(third)
    assert key(first) != key(second)
    assert header(second, "fresh") == header(third, "fresh")
    assert "page 2" in header(second, "fresh")
