"""A caller's side knowledge: the intents of questions, and entries that may help.

A taxonomy only annotates; the `SupplementGate` (SPEC S11) decides whether an entry enters.

    [intents]
    definition = ["what is", "what does", "meaning of"]

    [[entries]]
    id = "bar"
    title = "Bar"
    text = "Bar is a unit of pressure: 100,000 pascal."
    principals = []
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from foveate.core.errors import BadInput, name_in_errors
from foveate.core.manifest import digest
from foveate.core.request import Recipe
from foveate.core.stages.pack import Pack
from foveate.core.stages.supplement import SupplementGate
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.typed import NonBlank, read_record
from foveate.core.types import Supplement
from foveate.pipeline.text_files import read_toml_file
from foveate.ports import Embedder
from foveate.stores.int8 import cosines_from_products, dot_products, quantise, squared_norms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    id: NonBlank
    text: NonBlank
    title: str = ""
    principals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    intents: Mapping[str, tuple[NonBlank, ...]] = field(default_factory=dict)
    entries: tuple[_Entry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """`intents`: names with the phrases that show them, asked in order. `entries`: by id."""

    intents: Mapping[str, tuple[str, ...]]
    entries: tuple[Supplement, ...]
    _vectors: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def hash(self) -> str:
        """Of all that is in it."""
        return digest(repr((dict(self.intents), self.entries)))

    def match_intent(self, query: str) -> str:
        """The first intent of which a phrase stands in the query, word for word; else empty."""
        asked = _normalise_words(query)
        for name, phrases in self.intents.items():
            if any(_normalise_words(phrase) in asked for phrase in phrases):
                return name
        return ""

    def match_entries(
        self, query: str, embedder: Embedder | None = None
    ) -> tuple[str, tuple[Supplement, ...]]:
        """The query's intent, and the entries with their similarity to it.

        By cosine of 8-bit vectors, or without an embedder by shared terms.
        """
        intent = self.match_intent(query)
        if not intent or not self.entries:
            return intent, ()
        near = (
            self._vector_similarities(query, embedder)
            if embedder is not None
            else self._term_similarities(query)
        )
        pairs = zip(self.entries, near, strict=True)
        return intent, tuple(replace(one, similarity=value) for one, value in pairs)

    def _term_similarities(self, query: str) -> list[float]:
        asked = set(query_terms(query))
        held = [set(document_terms(f"{one.title} {one.text}")) for one in self.entries]
        return [len(asked & terms) / len(asked) if asked else 0.0 for terms in held]

    def _vector_similarities(self, query: str, embedder: Embedder) -> list[float]:
        import numpy as np

        if embedder.name not in self._vectors:
            texts = [f"{one.title}\n{one.text}" for one in self.entries]
            rows = quantise(embedder.embed(texts), rows=len(texts), dimensions=embedder.dimensions)
            self._vectors[embedder.name] = (rows, squared_norms(rows))
        rows, squares = self._vectors[embedder.name]
        asked = quantise(embedder.embed([query]), rows=1, dimensions=embedder.dimensions)[0]
        found = cosines_from_products(dot_products(rows, asked).astype(np.float64), squares, asked)
        return [float(value) for value in found]


def add_supplement_gate(recipe: Recipe, taxonomy: Taxonomy) -> Recipe:
    """The recipe with a gate for the taxonomy's intents before it packs, unless it has its own."""
    if any(isinstance(stage, SupplementGate) for stage in recipe.stages):
        return recipe
    stages = list(recipe.stages)
    at = next((n for n, stage in enumerate(stages) if isinstance(stage, Pack)), len(stages))
    stages.insert(at, SupplementGate(intents=tuple(taxonomy.intents)))
    return replace(recipe, stages=tuple(stages))


def load_taxonomy(path: str | Path) -> Taxonomy:
    """The taxonomy in a TOML file; raises `BadInput` naming the file and what is wrong."""
    data = read_toml_file(path)
    with name_in_errors(path):
        return taxonomy_from_tables(data)


def taxonomy_from_tables(data: Mapping[str, Any]) -> Taxonomy:
    """The same from tables that were read."""
    found: _Tables = read_record(_Tables, data, "table")
    for name, count in Counter(entry.id for entry in found.entries).items():
        if count > 1:
            raise BadInput(f"two entries are called {name!r}; give each its own id")
    for entry in data.get("entries", ()):
        read_record(_Entry, entry)
    entries = (Supplement(**asdict(entry)) for entry in found.entries)
    return Taxonomy(intents=found.intents, entries=tuple(sorted(entries, key=lambda one: one.id)))


def _normalise_words(text: str) -> str:
    return f" {' '.join(document_terms(text))} "
