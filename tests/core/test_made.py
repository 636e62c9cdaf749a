"""Values made without their checks are the values that the class makes."""

from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from foveate.core.made import unchecked_constructor
from foveate.core.types import Block, Candidate, Chunk, Citation, Decision, Rendition, Step

FULL = {
    Block: {"marker": 1, "text": "One.", "source": "a.md", "page": 3},
    Candidate: {"chunk": Chunk(text="One.", id="a"), "score": 0.5},
    Decision: {"chunk_id": "a", "action": "kept", "reason": "verbatim"},
    Rendition: {"kind": "verbatim", "text": "One.", "spans": ((0, 4),)},
    Step: {"candidates": ()},
}


@pytest.mark.parametrize("cls", FULL, ids=lambda cls: cls.__name__)
def test_it_is_the_value_that_the_class_makes(cls):
    """Equal, of the class itself, with its defaults, and as frozen, copied and pickled."""
    made = unchecked_constructor(cls)(**FULL[cls])

    assert made == cls(**FULL[cls])
    assert type(made) is cls
    assert repr(made) == repr(cls(**FULL[cls]))
    assert deepcopy(made) == made
    assert replace(made, **FULL[cls]) == made
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(cls)[0].name, None)


def test_each_gets_its_own_default():
    """A default that is made anew is made anew for each value."""
    make = unchecked_constructor(Decision)
    one, other = (make(chunk_id="a", action="kept", reason="x") for _ in range(2))

    assert one.numbers == {}
    assert one.numbers is not other.numbers


def test_what_is_missing_is_refused():
    """Arguments are the class's: a missing or an unknown one is a TypeError."""
    with pytest.raises(TypeError):
        unchecked_constructor(Citation)()
    with pytest.raises(TypeError):
        unchecked_constructor(Decision)(chunk_id="a", action="kept", reason="x", colour="red")
