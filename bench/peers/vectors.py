"""The embeddings of a workload and the scores that follow from them.

256 numbers a chunk, float32, of length 1. Cosines: exact copies 1, near copies 0.945 to 0.99,
adjacent chunks about 0.8, one document about 0.6, two documents about 0.3. The query is near
three documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.peers.shape import Slot, documents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 256


def embed(slots: Sequence[Slot], n: int, seed: int) -> tuple[Floats, Floats, list[float]]:
    """Vectors (n, 256), the query's vector (256,), and every slot's score."""
    import numpy as np

    dice = np.random.default_rng(seed)
    shared = _unit(dice.standard_normal(WIDTH))
    centres = [
        _unit(0.5 * shared + 0.8 * _unit(dice.standard_normal(WIDTH))) for _ in range(documents(n))
    ]
    rows = np.empty((len(slots), WIDTH))
    for slot in slots:
        noise = _unit(dice.standard_normal(WIDTH))
        spread = dice.uniform(0.15, 0.33)
        if slot.kind == "base":
            rows[slot.uid] = _unit(0.80 * centres[slot.document] + 0.62 * noise)
        elif slot.kind == "adjacent":
            rows[slot.uid] = _unit(0.80 * rows[slot.parent] + 0.60 * noise)
        elif slot.kind == "near":
            rows[slot.uid] = _unit(rows[slot.parent] + spread * noise)
        else:
            rows[slot.uid] = rows[slot.parent]
    asked = set(dice.integers(0, documents(n), 3).tolist())
    hot = [slot.uid for slot in slots if slot.document in asked]
    query = _unit(rows[hot].sum(axis=0) + 0.05 * dice.standard_normal(WIDTH))
    jitter = dice.normal(0, 0.004, len(slots))
    scores = np.round((rows * query).sum(axis=1) + jitter, 6)
    return rows.astype(np.float32), query.astype(np.float32), scores.tolist()


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    unit: NDArray[np.float64] = vector / np.sqrt((vector * vector).sum())
    return unit
