from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadInput
from foveate.core.state import EMPTY, combine, member, root, shift

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
    assert shift(EMPTY, added=members) == oracle(members)


@given(MEMBERS, st.randoms(use_true_random=False))
def test_order_and_steps_do_not_matter(members, random):
    """D3: in any order, at once or one by one, the state is the same."""
    shuffled = list(members)
    random.shuffle(shuffled)
    state = EMPTY
    for one in shuffled:
        state = shift(state, added=[one])
    assert state == shift(EMPTY, added=members)


@given(MEMBERS, MEMBERS)
def test_what_is_removed_was_never_there(kept, gone):
    """D3: adding and removing leaves no trace."""
    there = shift(EMPTY, added=[*gone, *kept])
    assert shift(there, removed=gone) == shift(EMPTY, added=kept)


@given(MEMBERS, MEMBERS)
def test_states_add_up(left, right):
    """X5: the root of what one may read is the sum over the parts that one may read."""
    parts = [shift(EMPTY, added=left), shift(EMPTY, added=right)]
    assert combine(parts) == shift(EMPTY, added=[*left, *right])


@given(MEMBERS, MEMBERS)
def test_other_members_make_another_root(left, right):
    """D3: two sets have one root only if they are one set."""
    roots = [root(shift(EMPTY, added=m), embedder="e") for m in (left, right)]
    assert (roots[0] == roots[1]) == (set(left) == set(right))


def test_the_root_covers_the_embedder():
    """D3: the same content under another model is another state."""
    assert root(EMPTY, embedder="a") != root(EMPTY, embedder="b")
    assert len(root(EMPTY, embedder="a")) == 64


def test_fields_cannot_run_into_each_other():
    """D3: a member's encoding is unambiguous: kind, names, values and types."""
    encoded = [
        member("chunk", {"a": "b", "c": "d"}),
        member("chunk", {"a": 'b","c":"d'}),
        member("chunk", {"ab": "c", "d": ""}),
        member("document", {"a": "b", "c": "d"}),
        member("chunk", {"a": "1"}),
        member("chunk", {"a": 1}),
        member("chunk", {"a": None}),
        member("chunk", {"a": "null"}),
    ]
    assert len(set(encoded)) == len(encoded)
    assert member("chunk", {"c": "d", "a": "b"}) == encoded[0]


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800", {1, 2}])
def test_what_is_not_json_is_refused(value: object):
    """X2: a value that has no one spelling is refused by name, not hashed somehow."""
    with pytest.raises(BadInput, match="metadata"):
        member("chunk", {"metadata": value})
