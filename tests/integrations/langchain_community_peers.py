"""What LangChain's community transformers get wrong, and what ours does. Run by `make matrix`."""

from __future__ import annotations

from langchain_community.document_transformers import (
    EmbeddingsRedundantFilter,
    LongContextReorder,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from foveate.integrations.langchain import FoveateCompressor


class Alike(Embeddings):
    """All texts have one vector."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The same for each."""
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        """And for the question."""
        return [1.0, 0.0]


def test_where_the_best_stands_does_not_depend_on_parity():
    """S10: LangChain puts the best first of five and last of four; ours first, always."""
    places, ours = {}, {}
    for n in (4, 5):
        found = [Document(f"Kiln {chr(97 + i)}.", metadata={"rank": i + 1}) for i in range(n)]
        ranks = [d.metadata["rank"] for d in LongContextReorder().transform_documents(found)]
        places[n] = ranks.index(1)
        kept = FoveateCompressor(budget=300, recipe="citations", order="bookend")
        ours[n] = [d.metadata["rank"] for d in kept.compress_documents(found, "Which kiln?")]

    assert places == {4: 3, 5: 0}
    assert [ranks[0] for ranks in ours.values()] == [1, 1]
    assert [ranks[-1] for ranks in ours.values()] == [2, 2]


def test_of_two_copies_the_better_one_is_kept():
    """S3: LangChain's filter deletes the higher-ranked copy; ours keeps it, and both sources."""
    found = [Document("The kiln is fired.", metadata={"source": f"{n}.md"}) for n in (1, 3)]

    theirs = EmbeddingsRedundantFilter(embeddings=Alike()).transform_documents(found)
    (ours,) = FoveateCompressor(budget=99).compress_documents(found, "When?")

    assert [d.metadata["source"] for d in theirs] == ["3.md"]
    assert ours.metadata["source"] == "1.md"
    assert [s["source"] for s in ours.metadata["foveate"]["corroborating"]] == ["3.md"]
