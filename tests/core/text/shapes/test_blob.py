"""Blobs are one unit that opens nothing, and are named where they are left out (V2, U4)."""

from __future__ import annotations

import base64
import re

import pytest

from foveate import assemble
from foveate.core.text.shapes.blob import find_blobs
from foveate.core.text.shapes.find import find_shapes
from foveate.core.text.units import units_of

BYTES = bytes(range(256)) * 20
CODE = base64.b64encode(BYTES).decode()


def lines(code: str, width: int) -> str:
    """The code in lines."""
    return "\n".join(code[at : at + width] for at in range(0, len(code), width))


BLOBS = {
    "base64": CODE,
    "data URL": f"data:image/png;base64,{CODE}",
    "base64 of mail": lines(CODE, 76),
    "base64 for URLs": base64.urlsafe_b64encode(BYTES).decode(),
    "hex": BYTES.hex(),
    "hex in lines": lines(BYTES.hex(), 64),
    "pem": f"-----BEGIN CERTIFICATE-----\n{lines(CODE, 64)}\n-----END CERTIFICATE-----",
}
OTHERS = {
    "DNA": "ACGT" * 100,
    "one letter": "a" * 500,
    "a digest": "The digest is " + BYTES.hex()[:128] + ", as published.",
    "a path": "/usr/share/" + "long-name-of-a-folder/" * 20,
    "Chinese": "今天天气很好" * 100,
}


@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
def test_a_blob_is_one_unit(blob: str):
    """U4: whatever is around it, and its lines are no column of words."""
    text = f"The picture was saved.\n{blob}\nThe gate is closed, and its lamp is red."

    (shape,) = find_blobs(text)
    assert text[shape.start : shape.end] == blob
    assert find_shapes(text) == (shape,)
    assert (shape.start, shape.end) in units_of(text).spans


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_words_are_no_blob(text: str):
    """U1: neither are sequences of a few letters, hashes and paths."""
    assert find_blobs(text) == []


@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
def test_what_stands_around_a_blob_is_shown_and_the_blob_is_named(blob: str):
    """V2, U4: nothing of it is shown, and the mark has its kind and its length."""
    text = f"The picture was saved as {blob}\nThe lamp at the gate is red."
    found = [{"text": text, "source": "log.txt"}, {"text": "The gate has two lamps."}]

    context = assemble("Which colour has the lamp at the gate?", found, budget=120)

    assert "lamp at the gate is red" in context.text
    assert not re.search(r"[A-Za-z0-9+/_-]{48}", context.text)


def test_a_blob_inside_of_a_record_is_a_part_of_it():
    """U1: JSON stays JSON."""
    text = f'[{{"name": "shot", "data": "{CODE}"}},\n{{"name": "gate", "status": "red"}}]'

    assert [shape.name for shape in find_shapes(text)] == ["json"]
