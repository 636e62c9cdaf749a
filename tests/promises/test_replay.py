"""Bundles and manifests: made again to the byte, or the first difference named."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unicodedata import unidata_version

import pytest

from foveate.core import formats, stages
from foveate.core.assemble import assemble
from foveate.core.errors import BadInput
from foveate.core.manifest import digest
from foveate.core.recipes import builtin_recipes
from foveate.core.replay import build_bundle, compare_bundles, inputs_from_bundle
from foveate.core.request import Inputs
from foveate.core.spec import ComponentRegistry
from foveate.core.types import Candidate, Chunk, Supplement
from foveate.core.zones import Budget
from foveate.providers import tokenizers

KNOWN = ComponentRegistry(stages=stages.BUILTIN, formats=formats.BUILTIN)
CL100K = tokenizers.load_tokenizer("cl100k_base")
TEXTS = (
    "The mill was rebuilt in 1871 by Ada Weir, who paid for the wheel out of her own pocket.",
    "Boats are hired out by the hour from March on, and returned to the quay before dark.",
    "The bridge has been closed twice since the flood, each time for a whole summer.",
)


def inputs(**changes: Any) -> Inputs:
    """A request with something in every field."""
    candidates = tuple(
        Candidate(
            chunk=Chunk(
                id=f"c{n}",
                text=text,
                source=f"d{n}.md",
                document_id=f"d{n}",
                sequence=n,
                page=n + 1,
                principals=("staff",),
                metadata={"year": 1871},
                embedding=(0.5, n / 3),
                modified_at=datetime(2026, 1, n + 1, tzinfo=UTC),
            ),
            score=1 - n / 10,
            semantic_score=0.1 * n,
        )
        for n, text in enumerate(TEXTS)
    )
    base = Inputs(
        query="Who rebuilt the mill?",
        candidates=candidates,
        recipe=builtin_recipes()["default"],
        budget=Budget(documents=70, window=None),
        neighbours=(Chunk(id="n", text="Next.", document_id="d0", sequence=1),),
        supplements=(Supplement(id="s", text="Side.", similarity=0.5),),
        principals=("staff",),
        messages=(("system", "Answer."),),
        instant=datetime(2026, 2, 1, tzinfo=UTC),
        state_root="r00t",
    )
    return replace(base, **changes)


def bundle(of: Inputs | None = None) -> dict[str, Any]:
    """A bundle that has been through a file."""
    chosen = of or inputs()
    made = build_bundle(chosen, assemble(chosen, CL100K), KNOWN, when="2026-03-01T00:00:00+00:00")
    return json.loads(json.dumps(made))


def replayed(old: dict[str, Any]) -> dict[str, Any]:
    """The bundle assembled again from what is in it."""
    again = inputs_from_bundle(old, KNOWN)
    return json.loads(json.dumps(build_bundle(again, assemble(again, CL100K), KNOWN)))


@pytest.mark.parametrize("recipe", sorted(builtin_recipes()))
def test_replays_to_the_byte(recipe: str) -> None:
    """D4: a bundle assembled again anywhere gives the same text, trace and manifest."""
    old = bundle(
        inputs(recipe=builtin_recipes()[recipe], budget=Budget(documents=120, window=None))
    )
    new = replayed(old)

    assert str(compare_bundles(old, new)) == "identical"
    assert new["text"] == old["text"]
    assert new["trace"] == old["trace"]


def test_when_is_outside_the_hashes() -> None:
    """D2: when it was made is in the manifest and in no hash."""
    old = bundle()
    new = deepcopy(old)
    new["manifest"]["when"] = "2031-01-01T00:00:00+00:00"

    assert old["manifest"]["when"] == "2026-03-01T00:00:00+00:00"
    assert compare_bundles(old, new).identical


def test_manifest() -> None:
    """D2: schema, version, recipe, query, state root, tokenizer, inputs, output and counts."""
    context = assemble(inputs(), CL100K)
    manifest = context.manifest

    assert manifest.query_hash == digest("Who rebuilt the mill?")
    assert manifest.output_hash == digest(context.text)
    assert (manifest.recipe, manifest.state_root) == ("default", "r00t")
    assert (manifest.tokenizer, manifest.tokenizer_fingerprint) == (
        "cl100k_base",
        CL100K.fingerprint,
    )
    assert (manifest.budget_tokens, manifest.token_count) == (70, context.token_count)
    assert manifest.schema == 2
    assert manifest.version


CHANGES = {
    "a byte of a text": (("candidates", 0, "text"), "x" + TEXTS[0], "input: candidate c0 changed"),
    "a score": (("candidates", 1, "score"), 0.95, "input: candidate c1 changed"),
    "metadata": (("candidates", 2, "metadata", "year"), 1872, "input: candidate c2 changed"),
    "an embedding": (("candidates", 0, "embedding"), [0.5, 0.5], "input: candidate c0 changed"),
    "a neighbour": (("neighbours", 0, "text"), "Other.", "input: neighbour n changed"),
    "a supplement": (("supplements", 0, "text"), "Other.", "input: supplement s changed"),
    "the query": (("query",), "Who drowned?", "query_hash: "),
    "the budget": (("budget", "documents"), 45, "budget_hash: "),
    "the recipe": (("recipe", "stages", 3, "use"), "group", "recipe: character "),
    "the recipe's label": (("recipe", "summary_label"), "Page", "recipe: character "),
    "the version": (("manifest", "version"), "0.0.1", "version: '0.0.1' → "),
    "the vocabulary": (
        ("manifest", "tokenizer_fingerprint"),
        "other",
        "tokenizer_fingerprint: 'other' → ",
    ),
    "the stages": (("recipe", "stages"), ["pack"], "recipe: "),
    "the text": (("text",), "forged", "the recorded text does not match"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_names_what_changed(name: str) -> None:
    """D4: when a byte of input, recipe or version changes, replay says which."""
    path, value, message = CHANGES[name]
    old = bundle()
    place = old
    for key in path[:-1]:
        place = place[key]  # type: ignore[index]
    place[path[-1]] = value  # type: ignore[index]
    found = compare_bundles(old, replayed(old))

    assert not found.identical
    assert any(message in cause for cause in found.causes), str(found)


def test_names_the_first_stage() -> None:
    """D4: the first stage that decided otherwise is named with its decision."""
    old = bundle()
    old["budget"]["documents"] = 60
    old["budget"]["characters"] = 120
    found = compare_bundles(old, replayed(old))

    assert found.stage == "pack"
    assert str(found).startswith("diverged at pack\n  ")


def test_secrets_are_not_bundled() -> None:
    """I4: a bundle holds nothing that its caller may not read."""
    secret = Chunk(id="x", text="swordfish", principals=("board",))
    chosen = inputs(
        candidates=(*inputs().candidates, Candidate(chunk=secret, score=5.0)),
        neighbours=(secret,),
        supplements=(Supplement(id="t", text="swordfish", principals=("board",)),),
    )

    assert "swordfish" not in json.dumps(bundle(chosen))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "not a bundle"),
        (lambda b: {**b, "kind": "other"}, "not a bundle"),
        (lambda b: {k: v for k, v in b.items() if k != "trace"}, "'trace'"),
        (lambda b: {k: v for k, v in b.items() if k != "query"}, "damaged"),
        (lambda b: {**b, "budget": {"documents": "many"}}, "damaged"),
        (lambda b: {**b, "budget": {"documents": 0}}, "1 or more"),
        (lambda b: {**b, "candidates": [{"id": "c"}]}, "text"),
        (lambda b: {**b, "candidates": 7}, "damaged"),
        (lambda b: {**b, "manifest": []}, "damaged"),
        (lambda b: {**b, "trace": 7}, "damaged"),
        (lambda b: {**b, "trace": [{"stage": "pack"}]}, "damaged"),
        (lambda b: {**b, "text": 7}, "damaged"),
        (lambda b: {**b, "parts": []}, "damaged"),
    ],
)
def test_damaged_bundles(change: Any, message: str) -> None:
    """X2: what is not a bundle, or no longer one, is refused in words."""
    with pytest.raises(BadInput, match=message):
        inputs_from_bundle(change(bundle()), KNOWN)


def test_another_table_of_letters_is_named_where_something_differs():
    """D2, D4: Python's versions tell letters apart by other tables; alone that is no difference."""
    old, new = bundle(), bundle()
    old["manifest"]["unicode"] = "1.0.0"
    alone = compare_bundles(old, new)
    old["recipe_spelled"] += " "
    with_cause = compare_bundles(old, new)

    assert new["manifest"]["unicode"] == unidata_version
    assert alone.identical
    assert any(cause.startswith("unicode: '1.0.0' →") for cause in with_cause.causes)
