"""The eight layers in which an answer can be lost: how each is measured, and what to try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer; `measure` describes its figure, `advice` what to do if it loses questions."""

    name: str
    measure: str
    advice: str


EVALUATION = Layer(
    name="evaluation gap",
    measure="share of the golden evidence that stands in its document",
    advice="mend the golden set: the evidence named stands in no document, or its answer is not in "
    "it; or bring the missing documents in",
)
FRESHNESS = Layer(
    name="index freshness",
    measure="share of the documents asked about that are older in the store than in their folder",
    advice="index again (foveate index FOLDER), by night or with --watch",
)
CHUNKING = Layer(
    name="chunking",
    measure="mean share of the evidence that its best chunk holds; under 0.8 is too little",
    advice="larger chunks or more overlap (foveate index --size --overlap), or a recipe that "
    "brings neighbours in",
)
EMBEDDING = Layer(
    name="embedding",
    measure="recall of the words' leg minus recall of the vectors' leg",
    advice="another embedder, or questions and summaries stored with the documents",
)
STRATEGY = Layer(
    name="retrieval strategy",
    measure="nDCG@10 as retrieved, and with the better leg chosen for each question",
    advice="more candidates (--limit), filters, or the leg that finds it for such questions",
)
RERANKING = Layer(
    name="reranking",
    measure="nDCG@10 before and after the reranker",
    advice="another reranker, or none; or rerank more candidates and keep more of them",
)
AGENT = Layer(
    name="agent loop",
    measure="iterations and tokens a session",
    advice="keep what was found across iterations (recipe agent-session), stop when it is there",
)
ASSEMBLY = Layer(
    name="context assembly",
    measure="evidence in the context, joined by score at the same budget and as assembled",
    advice="a larger budget or another recipe; foveate assemble --explain says why it left",
)

LAYERS = (STRATEGY, CHUNKING, EMBEDDING, RERANKING, EVALUATION, AGENT, FRESHNESS, ASSEMBLY)
"""As they are reported."""

MODEL = "model"
"""Not a layer of ours: the evidence was in the context, and the answer is wrong all the same."""
