"""Support by meaning: an embedder as the scorer of `check_answer`, beside the words."""

from __future__ import annotations

from collections.abc import Sequence

from foveate.answer.support import Scorer
from foveate.ports import Embedder


def embedding_scorer(embedder: Embedder) -> Scorer:
    """Cosines of a claim with passages as scores, 0 to 1.

    Embeddings hardly see digits and negation; figures are checked apart, whatever the score.
    """

    def scores(claim: str, passages: Sequence[str]) -> list[float]:
        vectors = embedder.embed([claim, *passages])
        return [min(1.0, max(0.0, float(vectors[0] @ row))) for row in vectors[1:]]

    return scores
