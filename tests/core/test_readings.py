"""Readings: what depends on a text alone, as bytes that somebody else may keep."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core import readings
from foveate.core.evidence.packed import KEPT, packed, unpacked
from foveate.core.evidence.shelf import index_of, worked_out
from foveate.core.near import signature as near
from foveate.core.near.texts import Texts
from foveate.core.near.threshold import Threshold
from foveate.core.readings import (
    LENGTHS,
    NAME,
    SAMPLE,
    SEAL,
    intact,
    is_known,
    learn,
    reading_of,
    version_of,
)
from foveate.core.text import facts
from foveate.core.text.profile import profile
from foveate.core.types import content_hash
from foveate.testing.fakes import candidate
from foveate.testing.strategies import texts

VERSION = version_of("en")
TEXT = "The pump stands by the gate, and may not be run at over 5 bar. It was built in 1871."


def forgotten(text: str) -> str:
    """The text's content hash, as a process that never saw it has it."""
    own = content_hash(text)
    empty = type(profile(own))()
    for name in empty.__slots__:
        setattr(profile(own), name, getattr(empty, name))
    return own


@given(texts())
def test_a_reading_is_what_is_read(text: str) -> None:
    """B7, D1: units, terms, words, triples and facts come back as they are worked out."""
    own = forgotten(text)
    data = reading_of(text, own, "en", VERSION)
    assert learn({own: data}, "en", VERSION) == {own}
    assert is_known(own, "en")
    found, anew = index_of(text, own, "en"), worked_out(text, "en")
    lists = [[a.terms.tolist(), a.words.tolist(), a[0], *a[2::2], a[5]] for a in (found, anew)]
    assert lists[0] == lists[1]
    threshold = Threshold(value=0.8, strict=False)
    kept = near.signature(profile(own), text, threshold)
    new = near.worked_out(text).at(threshold)
    assert kept.whole.tolist() == new.whole.tolist()
    assert kept.low.tolist() == new.low.tolist()
    assert (kept.length, kept.depth, kept.bits, kept.ones) == (
        *(new.length, new.depth),
        *(new.bits, new.ones),
    )
    assert Texts([candidate(text)], dated=False).facts(0) == facts.facts(text)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_reading_is_refused(place: int, by: int) -> None:
    """D1, B7: whichever byte is another, it is not believed; nor is a part of it."""
    own = forgotten(TEXT)
    data = bytearray(reading_of(TEXT, own, "en", VERSION))
    data[place % len(data)] ^= by
    assert learn({own: bytes(data)}, "en", VERSION) == set()
    assert learn({own: bytes(data[: place % len(data)])}, "en", VERSION) == set()
    assert not is_known(own, "en")


def test_a_reading_of_something_else_is_refused() -> None:
    """D1, B7: of another text, another version, another language: not believed."""
    own, other = forgotten(TEXT), forgotten("Another text, of the quay.")
    data = reading_of(TEXT, own, "en", VERSION)
    assert intact(data, own, VERSION)
    assert learn({other: data}, "en", VERSION) == set()
    assert learn({own: data}, "en", version_of("en", "another engine")) == set()
    assert learn({own: data}, "nl", version_of("nl")) == set()
    assert len({version_of("en"), version_of("nl"), version_of("en", "another")}) == 3
    assert VERSION.startswith(NAME)


def test_what_a_sample_comes_out_as_is_in_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """D1, B7: code that reads the sample otherwise has another version, as a new form has."""
    read = readings._read
    version_of.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(readings, "_read", lambda text, language: read(text + " More.", language))
        assert version_of("en") != VERSION
    version_of.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(readings, "FORM", b"another form")
        assert version_of("en") != VERSION
    version_of.cache_clear()
    assert version_of("en") == VERSION


def sealed(index: bytes, triples: bytes, known: bytes, own: str) -> bytes:
    """Whatever these bytes are, under a seal that is right."""
    data = LENGTHS.pack(*map(len, (index, triples, known))) + index + triples + known
    return readings._seal(data, own, VERSION) + data


@given(st.binary(max_size=80), st.integers(0, 10_000), st.binary(max_size=9))
def test_bytes_that_are_no_reading_break_nothing(noise: bytes, place: int, more: bytes) -> None:
    """X2, D1: what somebody sealed that is no reading is left out, or an index that holds."""
    own = forgotten(TEXT)
    right = packed(worked_out(TEXT, "en"), len(TEXT))
    at = place % len(right)
    for index in (noise, right[:at] + noise + right[at + len(noise) :], right + more):
        learn({own: sealed(index, noise, noise, own)}, "en", VERSION)
        found = index_of(TEXT, forgotten_but_kept(own), "en")
        spans = found.units.spans
        assert all(0 <= a < b <= len(TEXT) for a, b in spans)
        assert all(0 <= lean < len(spans) for lean in found.units.leans)
        assert (len(found.terms), len(found.words)) == (sum(found.lengths), sum(found.widths))
        threshold = Threshold(value=0.8, strict=False)
        assert near.signature(profile(own), TEXT, threshold).bits
        assert Texts([candidate(TEXT)], dated=False).facts(0) is not None
    assert intact(sealed(b"", b"", b"", own), own, VERSION)
    assert learn({own: readings._seal(b"short", own, VERSION) + b"short"}, "en", VERSION) == set()


def forgotten_but_kept(own: str) -> str:
    """The same hash, with nothing unpacked of what was kept."""
    kept = profile(own).kept
    fresh = replace(profile(own), indexes={}, shelves={}, triples=None, facts=None)
    for name in fresh.__slots__:
        setattr(profile(own), name, getattr(fresh, name))
    profile(own).kept = kept
    return own


@pytest.mark.parametrize("repeats", [1, 300, 3_000])
def test_long_texts_and_many_words_fit(repeats: int) -> None:
    """B7, X2: lengths and numbers beyond 255 and beyond 65,535 come back as they are."""
    text = " ".join(f"{SAMPLE} word{n} x{n}." for n in range(repeats))
    index = worked_out(text, "en")
    found = unpacked(packed(index, len(text)), text)
    assert found is not None
    assert found.units == index.units
    assert (found.terms == index.terms).all()
    assert (found.words == index.words).all()
    assert unpacked(packed(index, len(text)), text + " ") is None


def test_facts_have_no_line_breaks() -> None:
    """S4: of the hostile texts too, facts come back from lines."""
    for text in (SAMPLE, TEXT, "", "5\nmg\r\n10\u2028%", "Is it?\nIs it not?\x0b7\x0c8"):
        known = facts.facts(text)
        assert facts.unpacked(facts.packed(known)) == known
    assert facts.unpacked(b"\xff") is None
    assert near.unpacked(b"\0\0") is None
    assert near.unpacked(b"\1\0\0\0\2\0\0\0\1\0\0\0") is None
    assert len(reading_of("", content_hash(""), "en", VERSION)) > SEAL
    assert KEPT + "en" not in profile(forgotten("never read")).kept
