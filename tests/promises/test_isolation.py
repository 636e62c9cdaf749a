"""What a caller may not read changes nothing that the caller gets: of a pool, and of a store."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import bundles
import foveate
from foveate.core.context_json import context_to_json
from foveate.core.recipes import builtin_recipes
from foveate.testing import isolation
from foveate.testing.store_corpus import corpus
from store_urls import opened


def with_secrets() -> list[dict[str, object]]:
    """The pool, with a copy for the board of each candidate, better scored, before and behind."""
    pool = bundles.read("pool")["candidates"]
    secret = [
        {
            **{key: value for key, value in row.items() if key not in ("start", "end")},
            "id": f"secret-{row['id']}",
            "document_id": f"{row['document_id']}{suffix}",
            "text": f"{row['text']} Granite.",
            "score": row["score"] + 1,
            "principals": ["board"],
        }
        for row, suffix in zip(pool, ("", "-secret") * len(pool), strict=False)
    ]
    return [*secret[::2], *pool, *secret[1::2]]


@pytest.mark.parametrize("recipe", builtin_recipes())
def test_secret_candidates_leave_no_trace(recipe: str) -> None:
    """X5 I4: text, citations, trace, figures and manifest are those without the secrets."""
    query = bundles.read("pool")["query"]

    def made(pool: list[dict[str, object]], *who: str) -> foveate.Context:
        return foveate.assemble(query, pool, recipe=recipe, budget=400, principals=who)

    plain = made(bundles.read("pool")["candidates"], "staff")
    assert context_to_json(made(with_secrets(), "staff")) == context_to_json(plain)
    assert "Granite" in made(with_secrets(), "board").text


@pytest.fixture
def open_empty(tmp_path: Path) -> Callable[[], object]:
    """Opens an embedded store that nobody has written to."""
    numbers = count()
    return lambda: opened(f"sqlite:{tmp_path}/store{next(numbers)}")


@pytest.mark.parametrize("law", isolation.LAWS, ids=lambda law: law.__name__)
def test_secrets_of_a_store_leave_no_trace(law, open_empty) -> None:
    """X5 T4: searches, neighbours, filters, roots, contexts, figures and errors."""
    entries = corpus(count=6)
    assert entries
    law(open_empty, entries)
