"""Shelf: what is known of chunks, found again in a passage that is made of them."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.compress import sentence_index as shelves
from foveate.core.stages.compress.sentence_index import index_from_chunks, index_of
from foveate.core.stages.compress.unit_index import Index, build_index
from foveate.core.stages.compress.units import units_of
from foveate.core.text.profile import holding_profiles, text_profile
from foveate.core.text.sentences import block_spans, is_context_free, unit_spans
from foveate.core.types import Chunk
from foveate.testing.strategies import texts

PAGE = """# Weirs

The weir holds the water. It was built in 1871, see [1].
You need:

- a rope of hemp. Not of steel!
- a hook

```
open_gate(1)
close_gate(2)
```

| gate | year |
|------|------|
| upper | 1871 |

Dr. Ames came. He left! 水坝挡住河水。它建于一八七一年。
"""


def same(one: Index, other: Index) -> bool:
    """Whether they say the same of the same units."""
    arrays = [(a.terms.tolist(), a.words.tolist()) for a in (one, other)]
    return arrays[0] == arrays[1] and one._replace(terms=0, words=0) == other._replace(
        terms=0, words=0
    )


def stitched(chunks: list[str], glue: str) -> tuple[Index, Index]:
    """A passage's index by what is known of its chunks, and from its text alone."""
    made = [Chunk(text=text, id=f"c{n}") for n, text in enumerate(chunks) if text]
    for chunk in made:
        index_of(chunk.text, chunk.content_hash, "en")
    text = glue.join(chunks)
    found = index_from_chunks(text, made, "en")
    anew = build_index(text, units_of(text, "en"))
    return found or anew, anew


@given(st.lists(texts(), min_size=1, max_size=4), st.sampled_from(["\n\n", "\n", " ", ""]))
def test_a_passage_is_read_as_if_nothing_were_known(chunks: list[str], glue: str) -> None:
    """D1, B7: whatever chunks a passage is made of, what is known of them changes nothing."""
    found, anew = stitched(chunks, glue)

    assert same(found, anew)


@given(st.integers(0, len(PAGE)), st.integers(0, len(PAGE)))
@holding_profiles
def test_a_page_cut_anywhere_is_read_as_a_whole(first: int, second: int) -> None:
    """D1, B7: also where chunks overlap, and cut headings, lists, code and tables in two."""
    low, high = sorted((first, second))
    chunks = [Chunk(text=text, id=text) for text in (PAGE[:high], PAGE[low:]) if text.strip()]
    for chunk in chunks:
        index_of(chunk.text, chunk.content_hash, "en")
    found = index_from_chunks(PAGE, chunks, "en")

    assert found is not None
    assert same(found, build_index(PAGE, units_of(PAGE, "en")))


@holding_profiles
def test_what_is_known_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """B7: of a passage put together with a blank line, no sentence is read a second time."""
    chunks = [PAGE, "The lock has two gates. They are of oak.\n", "The quay is long."]
    made = [Chunk(text=text, id=text) for text in chunks]
    for chunk in made:
        index_of(chunk.text, chunk.content_hash, "en")
    read: list[str] = []

    def anew(own: str) -> object:
        read.append(own)
        raise AssertionError(own)

    monkeypatch.setattr(shelves, "_analyse_unit", anew)
    monkeypatch.setattr(shelves, "unit_spans", partial(_told, read))
    found = index_from_chunks("\n\n".join(chunks), made, "en")

    assert found is not None
    assert [line for line in read if "gate" not in line and not line.startswith("#")] == []
    assert index_of("\n\n".join(chunks), "a hash of its own", "en", made).units == found.units


def _told(read: list[str], text: str, span: tuple[int, int], kind: str, language: str) -> object:
    read.append(text[slice(*span)])
    return unit_spans(text, span, kind, language)  # type: ignore[arg-type]


def test_nothing_known_is_nothing_found() -> None:
    """B7: without what is known of its chunks, a passage is read from its text."""
    chunk = Chunk(text="Nobody has read this chunk about the sluice yet.", id="new")

    assert text_profile(chunk.content_hash).indexes == {}
    assert index_from_chunks(chunk.text, [chunk], "en") is None


@given(texts(), texts(), st.sampled_from(["\n\n", "\n", "\r\n", " \n"]))
def test_a_block_stands_alone(text: str, after: str, glue: str) -> None:
    """D1: the units of a block of prose do not depend on what stands around it."""
    whole = f"Before.\n\n{text}{glue}{after}"
    for (start, end), kind in block_spans(whole):
        block = whole[start:end]
        if kind in ("paragraph", "list") and is_context_free(block):
            inside = unit_spans(whole, (start, end), kind)
            outside = unit_spans(block, (0, len(block)), kind)
            assert inside == [(start + a, start + b) for a, b in outside]
