"""The built-in recipes, as a TOML file would spell them (SPEC §8).

`four-stage`, `local-llm`, `document-first`, `source-label` and `cfs-021` reproduce published
systems. Where such a system contradicts its own test vectors, the vectors win.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.core import formats, stages
from foveate.core.lazy_table import LazyTable
from foveate.core.request import Recipe
from foveate.core.spec import ComponentRegistry, recipe_from_dict

_DEDUPLICATION = (
    "dedup_exact",
    "shortlist",
    {"use": "dedup_near", "method": "containment"},
)
_SENTENCES = {"use": "compress", "offer": "sentences", "when": "always"}
_EVIDENCE = (
    {"use": "pack", "policy": "value"},
    {"use": "order", "by": "attention"},
)
_SHORT_IF_TIGHT = {"name": "numbered", "header_form": "auto"}
_WHOLE_CHUNKS = {"use": "pack", "policy": "greedy", "overflow": "truncate"}
_BEST_FIRST = {"use": "order", "by": "relevance"}


def _chunk_recipe(description: str, form: Any, by: str = "relevance") -> Mapping[str, Any]:
    """Whole chunks, best first: one recipe, of which uses set format and order.

    What is shown is stitched, and not what is found: a passage has the place of its best chunk,
    and would bring others in before better ones.
    """
    steps = [*_DEDUPLICATION, _WHOLE_CHUNKS, "stitch", {"use": "order", "by": by}]
    return {"description": description, "stages": steps, "format": form}


_OWN: Mapping[str, Mapping[str, Any]] = {
    "naive": {
        "description": "The baseline: texts by score, joined, and cut at the budget.",
        "stages": [
            {
                "use": "pack",
                "policy": "score_weighted",
                "overflow": "truncate",
                "cut": "token",
                "min_tokens": 0,
            }
        ],
        "format": "minimal",
    },
    "default": {
        "description": "General purpose, no model call: the best sentences, each fact once.",
        "stages": [*_DEDUPLICATION, "expand", "stitch", _SENTENCES, "divide", *_EVIDENCE],
        "format": _SHORT_IF_TIGHT,
    },
    "lean": {
        "description": "Like default, and stops at half of the budget where the rest is unlikely.",
        "stages": [
            *_DEDUPLICATION,
            "expand",
            "stitch",
            _SENTENCES,
            "divide",
            {"use": "pack", "policy": "value", "fill": "relevance"},
            {"use": "order", "by": "attention"},
        ],
        "format": _SHORT_IF_TIGHT,
    },
    "reranked": _chunk_recipe(
        "For a reranker that you trust: whole chunks by score alone, best first.",
        _SHORT_IF_TIGHT,
    ),
    "factual-qa": _chunk_recipe(
        "For questions with one answer: whole chunks as XML, the best at both ends.", "xml", "edges"
    ),
    "summarise": {
        "description": "For summaries: by document in reading order, shortened to fit more.",
        "stages": [
            *_DEDUPLICATION,
            "stitch",
            "group",
            "compress",
            {"use": "pack", "policy": "value"},
            {"use": "order", "by": "chronological", "groups": True},
        ],
        "format": "grouped",
    },
    "citations": _chunk_recipe(
        "For answers that cite their sources: whole chunks, numbered, best first.",
        _SHORT_IF_TIGHT,
    ),
    "chat": _chunk_recipe("For conversation: whole chunks without headers, best first.", "minimal"),
    "tight": {
        "description": "For small windows: each fact once, the sentences that match best, as XML.",
        "stages": [*_DEDUPLICATION, "stitch", _SENTENCES, *_EVIDENCE],
        "format": "xml",
    },
}
"""The baseline, the default, and one for each common use."""

_PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "four-stage": {
        "description": "A published system: long texts compressed, the best first and last.",
        "stages": [
            "dedup_exact",
            {"use": "dedup_near", "method": "semantic", "threshold": 0.92},
            {"use": "floor", "min_score": 0.0},
            {"use": "compress", "when": "oversized", "target": 2000, "max_chunk_tokens": 2000},
            {"use": "pack", "policy": "greedy", "cap": 2000},
            {"use": "order", "by": "bookend"},
        ],
        "format": {"name": "numbered", "page": False},
    },
    "local-llm": {
        "description": "A published system: fills a small window, cuts the last text; XML.",
        "stages": [
            {"use": "dedup_exact", "key": "verbatim"},
            {"use": "floor", "min_tokens": 20},
            {"use": "pack", "policy": "greedy", "overflow": "truncate"},
            {"use": "order", "by": "edges"},
        ],
        "format": "xml",
        "budget": {
            "documents": 7104,
            "window": 8192,
            "system": 0,
            "conversation": 0,
            "query": 0,
            "generation": 1024,
            "buffer": 64,
        },
    },
    "document-first": {
        "description": "A published system: whole documents with neighbours and summaries.",
        "stages": [
            {"use": "expand", "window": 1, "decay": 0.5},
            {"use": "stitch", "min_overlap": 20},
            "group",
            {"use": "pack", "policy": "documents"},
            {"use": "order", "by": "document"},
        ],
        "format": {"name": "grouped", "markers": True},
        "cite": "document",
        "budget": {"documents": 8000},
    },
    "source-label": {
        "description": "A published system: by score, [SOURCE n], up to 24,000 characters.",
        "stages": [{"use": "pack", "policy": "greedy", "overflow": "stop"}, _BEST_FIRST],
        "format": "source",
        "budget": {"documents": "none", "characters": 24_000},
    },
    "cfs-021": {
        "description": "A published system: by document, under [DOC: path] headers.",
        "stages": [
            {"use": "dedup_exact", "key": "verbatim"},
            {"use": "dedup_near", "method": "containment", "threshold": 0.8, "strict": True},
            "group",
            {"use": "pack", "policy": "greedy", "per_document": 10},
            {"use": "order", "by": "document"},
        ],
        "format": "doc",
        "budget": {
            "documents": 7200,
            "window": 8000,
            "system": 200,
            "conversation": 0,
            "query": 100,
            "generation": 500,
            "buffer": 0,
        },
    },
}
"""Five published systems."""

_SESSION: Mapping[str, Mapping[str, Any]] = {
    "agent-session": {
        "description": "For agents: whole chunks, best first; what was sent keeps its place.",
        "stages": [
            "dedup_exact",
            {"use": "dedup_near", "method": "containment"},
            {"use": "pack", "policy": "greedy"},
            _BEST_FIRST,
        ],
        "format": "numbered",
    },
}
"""Best first in the order of arrival, so that later turns can be appended."""


_RECORDS = {**_OWN, **_PUBLISHED, **_SESSION}


def _make(name: str) -> Recipe:
    known = ComponentRegistry(stages=stages.BUILTIN, formats=formats.BUILTIN)
    return recipe_from_dict({"name": name, **_RECORDS[name]}, known)


_RECIPES = LazyTable(_RECORDS, _make)


def builtin_recipes() -> Mapping[str, Recipe]:
    """All of them by name, in the order of the specification."""
    return _RECIPES
