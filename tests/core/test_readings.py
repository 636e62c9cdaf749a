"""Readings: what depends on a text alone, as bytes that somebody else may keep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core import text_analysis
from foveate.core.stages.compress.index_codec import PROFILE_KEY, decode_index, encode_index
from foveate.core.stages.compress.sentence_index import compute_index, index_of
from foveate.core.stages.dedup import signature as near
from foveate.core.stages.dedup.compared_texts import Texts
from foveate.core.stages.dedup.resolve_duplicates import Threshold
from foveate.core.text import facts
from foveate.core.text.profile import text_profile
from foveate.core.text_analysis import (
    CHECKSUM_SIZE,
    LENGTHS_HEADER,
    SAMPLE,
    VERSION_PREFIX,
    analysis_version,
    encode_analysis,
    is_intact,
    is_known,
    load_analyses,
)
from foveate.core.types import content_hash
from foveate.testing.fakes import candidate
from foveate.testing.strategies import texts

VERSION = analysis_version("en")
TEXT = "The pump stands by the gate, and may not be run at over 5 bar. It was built in 1871."


def forgotten(text: str) -> str:
    """The text's content hash, as a process that never saw it has it."""
    own = content_hash(text)
    empty = type(text_profile(own))()
    for name in empty.__slots__:
        setattr(text_profile(own), name, getattr(empty, name))
    return own


@given(texts())
def test_a_reading_is_what_is_read(text: str) -> None:
    """B7, D1: units, terms, words, triples and facts come back as they are worked out."""
    own = forgotten(text)
    data = encode_analysis(text, own, "en", VERSION)
    assert load_analyses({own: data}, "en", VERSION) == {own}
    assert is_known(own, "en")
    found, anew = index_of(text, own, "en"), compute_index(text, "en")
    lists = [[a.terms.tolist(), a.words.tolist(), a[0], *a[2::2], a[5]] for a in (found, anew)]
    assert lists[0] == lists[1]
    threshold = Threshold(value=0.8, strict=False)
    kept = near.signature(text_profile(own), text, threshold)
    new = near.compute_signature(text).at(threshold)
    assert kept.whole.tolist() == new.whole.tolist()
    assert kept.low.tolist() == new.low.tolist()
    assert (kept.length, kept.depth, kept.bits, kept.ones) == (
        *(new.length, new.depth),
        *(new.bits, new.ones),
    )
    assert Texts([candidate(text)], dated=False).facts(0) == facts.extract_facts(text)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_reading_is_refused(place: int, by: int) -> None:
    """D1, B7: whichever byte is another, it is not believed; nor is a part of it."""
    own = forgotten(TEXT)
    data = bytearray(encode_analysis(TEXT, own, "en", VERSION))
    data[place % len(data)] ^= by
    assert load_analyses({own: bytes(data)}, "en", VERSION) == set()
    assert load_analyses({own: bytes(data[: place % len(data)])}, "en", VERSION) == set()
    assert not is_known(own, "en")


def test_a_reading_of_something_else_is_refused() -> None:
    """D1, B7: of another text, another version, another language: not believed."""
    own, other = forgotten(TEXT), forgotten("Another text, of the quay.")
    data = encode_analysis(TEXT, own, "en", VERSION)
    assert is_intact(data, own, VERSION)
    assert load_analyses({other: data}, "en", VERSION) == set()
    assert load_analyses({own: data}, "en", analysis_version("en", "another engine")) == set()
    assert load_analyses({own: data}, "nl", analysis_version("nl")) == set()
    assert (
        len({analysis_version("en"), analysis_version("nl"), analysis_version("en", "another")})
        == 3
    )
    assert VERSION.startswith(VERSION_PREFIX)


def test_what_a_sample_comes_out_as_is_in_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """D1, B7: code that reads the sample otherwise has another version, as a new form has."""
    read = text_analysis._encode_parts
    analysis_version.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(
            text_analysis, "_encode_parts", lambda text, language: read(text + " More.", language)
        )
        assert analysis_version("en") != VERSION
    analysis_version.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(text_analysis, "FORMAT_VERSION", b"another form")
        assert analysis_version("en") != VERSION
    analysis_version.cache_clear()
    assert analysis_version("en") == VERSION


def sealed(index: bytes, triples: bytes, known: bytes, own: str) -> bytes:
    """Whatever these bytes are, under a seal that is right."""
    data = LENGTHS_HEADER.pack(*map(len, (index, triples, known))) + index + triples + known
    return text_analysis._checksum(data, own, VERSION) + data


@given(st.binary(max_size=80), st.integers(0, 10_000), st.binary(max_size=9))
def test_bytes_that_are_no_reading_break_nothing(noise: bytes, place: int, more: bytes) -> None:
    """X2, D1: what somebody sealed that is no reading is left out, or an index that holds."""
    own = forgotten(TEXT)
    right = encode_index(compute_index(TEXT, "en"), len(TEXT))
    at = place % len(right)
    for index in (noise, right[:at] + noise + right[at + len(noise) :], right + more):
        load_analyses({own: sealed(index, noise, noise, own)}, "en", VERSION)
        found = index_of(TEXT, forgotten_but_kept(own), "en")
        spans = found.units.spans
        assert all(0 <= a < b <= len(TEXT) for a, b in spans)
        assert all(0 <= lean < len(spans) for lean in found.units.leans)
        assert (len(found.terms), len(found.words)) == (sum(found.lengths), sum(found.widths))
        threshold = Threshold(value=0.8, strict=False)
        assert near.signature(text_profile(own), TEXT, threshold).bits
        assert Texts([candidate(TEXT)], dated=False).facts(0) is not None
    assert is_intact(sealed(b"", b"", b"", own), own, VERSION)
    assert (
        load_analyses(
            {own: text_analysis._checksum(b"short", own, VERSION) + b"short"}, "en", VERSION
        )
        == set()
    )


def forgotten_but_kept(own: str) -> str:
    """The same hash, with nothing unpacked of what was kept."""
    kept = text_profile(own).kept
    fresh = replace(text_profile(own), indexes={}, shelves={}, triples=None, facts=None)
    for name in fresh.__slots__:
        setattr(text_profile(own), name, getattr(fresh, name))
    text_profile(own).kept = kept
    return own


@pytest.mark.parametrize("repeats", [1, 300, 3_000])
def test_long_texts_and_many_words_fit(repeats: int) -> None:
    """B7, X2: lengths and numbers beyond 255 and beyond 65,535 come back as they are."""
    text = " ".join(f"{SAMPLE} word{n} x{n}." for n in range(repeats))
    index = compute_index(text, "en")
    found = decode_index(encode_index(index, len(text)), text)
    assert found is not None
    assert found.units == index.units
    assert (found.terms == index.terms).all()
    assert (found.words == index.words).all()
    assert decode_index(encode_index(index, len(text)), text + " ") is None


def test_facts_have_no_line_breaks() -> None:
    """S4: of the hostile texts too, facts come back from lines."""
    for text in (SAMPLE, TEXT, "", "5\nmg\r\n10\u2028%", "Is it?\nIs it not?\x0b7\x0c8"):
        known = facts.extract_facts(text)
        assert facts.decode_facts(facts.encode_facts(known)) == known
    assert facts.decode_facts(b"\xff") is None
    assert near.decode_signature(b"\0\0") is None
    assert near.decode_signature(b"\1\0\0\0\2\0\0\0\1\0\0\0") is None
    assert len(encode_analysis("", content_hash(""), "en", VERSION)) > CHECKSUM_SIZE
    assert PROFILE_KEY + "en" not in text_profile(forgotten("never read")).kept
