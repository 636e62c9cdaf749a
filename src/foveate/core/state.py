"""A hash of a set of members, independent of order and updated in place.

LtHash16 (Lewi, Kim, Maykov and Weis, IACR 2019/227) with BLAKE3: each member is hashed to a vector
of 1,024 16-bit numbers, and the state is their sum. So members are added and removed by addition
and subtraction, and the state of what one may read is the sum over its parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from blake3 import blake3

from foveate.core.errors import BadInput

_STATE_BYTES = 2048
EMPTY_STATE = bytes(_STATE_BYTES)
"""The state of nothing: 1,024 little-endian 16-bit zeros."""
_JSON = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_member(kind: str, fields: Mapping[str, Any]) -> bytes:
    r"""One member's bytes: its kind and its fields as sorted JSON; raises `BadInput`.

    >>> encode_member("chunk", {"b": 1, "a": "é"})
    b'["chunk",{"a":"\xc3\xa9","b":1}]'
    """
    try:
        return _JSON.encode([kind, dict(fields)]).encode()
    except (TypeError, ValueError) as error:
        raise BadInput(f"{kind} cannot be written as JSON: {error}", field="metadata") from None


def update_state(
    state: bytes, *, added: Iterable[bytes] = (), removed: Iterable[bytes] = ()
) -> bytes:
    """The state after members came and went, in any order.

    >>> update_state(
    ...     update_state(EMPTY_STATE, added=[b"x", b"y"]), removed=[b"y", b"x"]
    ... ) == EMPTY_STATE
    True
    """
    import numpy as np

    total = np.frombuffer(state, dtype="<u2").copy()
    for one in added:
        total += np.frombuffer(blake3(one).digest(_STATE_BYTES), dtype="<u2")
    for one in removed:
        total -= np.frombuffer(blake3(one).digest(_STATE_BYTES), dtype="<u2")
    return total.tobytes()


def combine_states(states: Iterable[bytes]) -> bytes:
    """The state of the collections taken together."""
    import numpy as np

    total = np.zeros(_STATE_BYTES // 2, dtype="<u2")
    for state in states:
        total += np.frombuffer(state, dtype="<u2")
    return total.tobytes()


def state_hash(state: bytes, *, embedder: str) -> str:
    """The state root: 64 hex digits over the state and the embedding model's name."""
    return blake3(state + embedder.encode()).hexdigest()
