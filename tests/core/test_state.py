from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput
from foveate.core.state import EMPTY_STATE, combine_states, encode_member, state_hash, update_state

MEMBERS = st.lists(st.binary(max_size=8), unique=True, max_size=12)


def oracle(members: list[bytes]) -> bytes:
    """The definition in plain integers: 1,024 sums modulo 2^16."""
    sums = [0] * 1024
    for one in members:
        digest = blake3(one).digest(2048)
        for i in range(1024):
            sums[i] = (sums[i] + int.from_bytes(digest[2 * i : 2 * i + 2], "little")) % 65536
    return b"".join(value.to_bytes(2, "little") for value in sums)


@given(MEMBERS)
def test_the_state_is_the_sum_of_its_members(members):
    """D3: as defined for LtHash16, computed here in plain Python."""
    assert update_state(EMPTY_STATE, added=members) == oracle(members)


@given(MEMBERS, st.randoms(use_true_random=False))
def test_order_and_steps_do_not_matter(members, random):
    """D3: in any order, at once or one by one, the state is the same."""
    shuffled = list(members)
    random.shuffle(shuffled)
    state = EMPTY_STATE
    for one in shuffled:
        state = update_state(state, added=[one])
    assert state == update_state(EMPTY_STATE, added=members)


@given(MEMBERS, MEMBERS)
def test_what_is_removed_was_never_there(kept, gone):
    """D3: adding and removing leaves no trace."""
    there = update_state(EMPTY_STATE, added=[*gone, *kept])
    assert update_state(there, removed=gone) == update_state(EMPTY_STATE, added=kept)


@given(MEMBERS, MEMBERS)
def test_states_add_up(left, right):
    """X5: the root of what one may read is the sum over the parts that one may read."""
    parts = [update_state(EMPTY_STATE, added=left), update_state(EMPTY_STATE, added=right)]
    assert combine_states(parts) == update_state(EMPTY_STATE, added=[*left, *right])


@given(MEMBERS, MEMBERS)
def test_other_members_make_another_root(left, right):
    """D3: two sets have one root only if they are one set."""
    roots = [state_hash(update_state(EMPTY_STATE, added=m), embedder="e") for m in (left, right)]
    assert (roots[0] == roots[1]) == (set(left) == set(right))


def test_the_root_covers_the_embedder():
    """D3: the same content under another model is another state."""
    assert state_hash(EMPTY_STATE, embedder="a") != state_hash(EMPTY_STATE, embedder="b")
    assert len(state_hash(EMPTY_STATE, embedder="a")) == 64


def test_fields_cannot_run_into_each_other():
    """D3: a member's encoding is unambiguous: kind, names, values and types."""
    encoded = [
        encode_member("chunk", {"a": "b", "c": "d"}),
        encode_member("chunk", {"a": 'b","c":"d'}),
        encode_member("chunk", {"ab": "c", "d": ""}),
        encode_member("document", {"a": "b", "c": "d"}),
        encode_member("chunk", {"a": "1"}),
        encode_member("chunk", {"a": 1}),
        encode_member("chunk", {"a": None}),
        encode_member("chunk", {"a": "null"}),
    ]
    assert len(set(encoded)) == len(encoded)
    assert encode_member("chunk", {"c": "d", "a": "b"}) == encoded[0]


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800", {1, 2}])
def test_what_is_not_json_is_refused(value: object):
    """X2: a value that has no one spelling is refused by name, not hashed somehow."""
    with pytest.raises(BadInput, match="metadata"):
        encode_member("chunk", {"metadata": value})
