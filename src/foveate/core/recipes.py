"""The recipes that come with foveate, as values (SPEC §8).

Five of them each reproduce a published system by composing the same stages as all others:
`four-stage`, `local-llm`, `document-first`, `source-label`, `cfs-021`. Where such a system
contradicts its own test vectors, the vectors win; DESIGN.md lists where.
"""

from __future__ import annotations

from functools import lru_cache

from foveate.core.formats.doc import Doc
from foveate.core.formats.grouped import Grouped
from foveate.core.formats.minimal import Minimal
from foveate.core.formats.numbered import Numbered
from foveate.core.formats.source import SourceLabel
from foveate.core.formats.xml import Xml
from foveate.core.request import Recipe, Stage
from foveate.core.stages.compress import Compress
from foveate.core.stages.dedup.exact import DedupExact
from foveate.core.stages.dedup.near import DedupNear
from foveate.core.stages.divide import Divide
from foveate.core.stages.expand import Expand
from foveate.core.stages.floor import Floor
from foveate.core.stages.group import Group
from foveate.core.stages.order import Order
from foveate.core.stages.pack import Pack
from foveate.core.stages.shortlist import Shortlist
from foveate.core.stages.stitch import Stitch
from foveate.core.zones import Budget

DEDUPLICATION_STAGES: tuple[Stage, ...] = (
    DedupExact(),
    Shortlist(),
    DedupNear(method="containment"),
)
SENTENCE_COMPRESSION = Compress(offer="sentences", when="always")
EVIDENCE_STAGES: tuple[Stage, ...] = (Pack(policy="value"), Order(by="attention"))


@lru_cache(maxsize=1)
def builtin_recipes() -> dict[str, Recipe]:
    """All of them by name, in the order of the specification."""
    made = (*_own_recipes(), *_published_recipes(), _session_recipe())
    return {recipe.name: recipe for recipe in made}


def _own_recipes() -> tuple[Recipe, ...]:
    """Ours: the baseline, the default, and one for each common use."""
    return (
        Recipe(
            name="naive",
            description="By score, joined, cut at the budget: what all else is measured against.",
            stages=(Pack(policy="score_weighted", overflow="truncate", cut="token", min_tokens=0),),
            format=Minimal(),
        ),
        Recipe(
            name="default",
            description="The best without a model call: likely evidence, once, where it is read.",
            stages=(
                *DEDUPLICATION_STAGES,
                Expand(),
                Stitch(),
                SENTENCE_COMPRESSION,
                Divide(),
                *EVIDENCE_STAGES,
            ),
            format=Numbered(),
        ),
        Recipe(
            name="factual-qa",
            description="For questions with one answer: XML, the best at both ends, whole chunks.",
            stages=(*DEDUPLICATION_STAGES, Stitch(), Pack(policy="greedy"), Order(by="edges")),
            format=Xml(),
        ),
        Recipe(
            name="summarise",
            description="For summaries: by document, in reading order, shortened to cover more.",
            stages=(
                *DEDUPLICATION_STAGES,
                Stitch(),
                Group(),
                Compress(),
                Pack(policy="coverage"),
                Order(by="chronological", groups=True),
            ),
            format=Grouped(),
        ),
        Recipe(
            name="citations",
            description="For answers that cite: numbered, best first, whole chunks.",
            stages=(*DEDUPLICATION_STAGES, Stitch(), Pack(policy="greedy"), Order(by="relevance")),
            format=Numbered(),
        ),
        Recipe(
            name="chat",
            description="For conversation: the texts alone, best first.",
            stages=(*DEDUPLICATION_STAGES, Stitch(), Pack(policy="greedy"), Order(by="relevance")),
            format=Minimal(),
        ),
        Recipe(
            name="tight",
            description="For small windows: the likeliest evidence, once, as XML.",
            stages=(*DEDUPLICATION_STAGES, Stitch(), SENTENCE_COMPRESSION, *EVIDENCE_STAGES),
            format=Xml(),
        ),
    )


def _published_recipes() -> tuple[Recipe, ...]:
    """Five published systems."""
    return (
        Recipe(
            name="four-stage",
            description="Dedup, compress the oversized, fit, bookend; numbered without pages.",
            stages=(
                DedupExact(),
                DedupNear(method="semantic", threshold=0.92),
                Floor(),
                Compress(when="oversized", target=2000, max_chunk_tokens=2000),
                Pack(policy="greedy", cap=2000),
                Order(by="bookend"),
            ),
            format=Numbered(page=False),
        ),
        Recipe(
            name="local-llm",
            description="For small local models: fit with truncation, the best at both ends, XML.",
            stages=(
                DedupExact(key="verbatim"),
                Pack(policy="greedy", overflow="truncate"),
                Order(by="edges"),
            ),
            format=Xml(),
            budget=Budget(
                documents=7104,
                window=8192,
                system=0,
                conversation=0,
                query=0,
                generation=1024,
                buffer=64,
            ),
        ),
        Recipe(
            name="document-first",
            description="Neighbours, whole documents, the page's summary once; cites documents.",
            stages=(
                Expand(window=1, decay=0.5),
                Stitch(min_overlap=20),
                Group(),
                Pack(policy="documents"),
                Order(by="document"),
            ),
            format=Grouped(markers=True),
            cite="document",
            summary_label="Pagina context",
            budget=Budget(documents=8000),
        ),
        Recipe(
            name="source-label",
            description="By score under [SOURCE n] labels, up to 24,000 characters.",
            stages=(Pack(policy="greedy", overflow="stop"), Order(by="relevance")),
            format=SourceLabel(),
            budget=Budget(documents=None, characters=24_000),
        ),
        Recipe(
            name="cfs-021",
            description="Dedup, group, pack with ten tokens a document, [DOC: path] headers.",
            stages=(
                DedupExact(key="verbatim"),
                DedupNear(method="containment", threshold=0.8),
                Group(),
                Pack(policy="greedy", per_document=10),
                Order(by="document"),
            ),
            format=Doc(),
            budget=Budget(
                documents=7200,
                window=8000,
                system=200,
                conversation=0,
                query=100,
                generation=500,
                buffer=0,
            ),
        ),
    )


def _session_recipe() -> Recipe:
    """For agents: best first in the order of arrival, so that later turns can be appended."""
    return Recipe(
        name="agent-session",
        description="For agents: whole chunks, best first, nothing moved once it is there.",
        stages=(
            DedupExact(),
            DedupNear(method="containment"),
            Pack(policy="greedy"),
            Order(by="relevance"),
        ),
        format=Numbered(),
    )
