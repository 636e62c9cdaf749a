"""Bundles: a context with everything it was made of, to be replayed anywhere (SPEC D4).

If the replay differs, the report names the first stage that decided otherwise and what changed: an
input, the recipe, the tokenizer or the version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from foveate.core.admission import admit
from foveate.core.candidates import (
    candidate_from_record,
    candidate_to_json,
    chunk_from_record,
    chunk_to_json,
)
from foveate.core.context_json import stage_to_json, value_to_json
from foveate.core.errors import BadInput, UnknownName, name_in_errors
from foveate.core.manifest import (
    canonical_recipe,
    describe_hash_differences,
    digest,
    part_hashes,
)
from foveate.core.removed import FORMER_NOTES, without_removed
from foveate.core.request import Inputs, Offer
from foveate.core.seal import Manifest
from foveate.core.spec import ComponentRegistry, recipe_from_dict, recipe_to_dict
from foveate.core.typed import read_value
from foveate.core.types import Context, Decision, StageTrace, Supplement
from foveate.core.zones import Budget

T = TypeVar("T")
KIND = "foveate-bundle"
REQUIRED_PARTS = {
    "manifest": dict,
    "trace": list,
    "text": str,
    "parts": dict,
    "recipe_spelled": str,
}
"""What a comparison reads of a bundle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a comparison: the first `stage` that differs and its `causes`.

    `related`: False for requests with another question and no common candidate.
    """

    identical: bool
    related: bool = True
    stage: str = ""
    first: str = ""
    causes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The verdict in lines for a terminal."""
        if self.identical:
            return "identical"
        place = f"diverged at {self.stage or 'the manifest'}"
        lines = [place if self.related else "different requests"]
        lines += [f"  {self.first}"] if self.first else []
        lines += [f"  {cause}" for cause in self.causes]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON."""
        return {
            "identical": self.identical,
            "stage": self.stage,
            "first": self.first,
            "causes": list(self.causes),
        }


def build_bundle(
    inputs: Inputs, context: Context, known: ComponentRegistry, *, when: str = ""
) -> dict[str, Any]:
    """The bundle of a finished context. `when`: an ISO 8601 instant, beside the manifest's own."""
    inputs = admit(inputs)
    vector = inputs.query_embedding
    return {
        "kind": KIND,
        "query": inputs.query,
        "recipe": recipe_to_dict(inputs.recipe, known),
        "budget": {f.name: getattr(inputs.budget, f.name) for f in fields(Budget)},
        "candidates": [candidate_to_json(c) for c in inputs.candidates],
        "neighbours": [chunk_to_json(c) for c in inputs.neighbours],
        "supplements": [asdict(s) for s in inputs.supplements],
        "principals": list(inputs.principals),
        "messages": [list(message) for message in inputs.messages],
        "intent": inputs.intent,
        "query_embedding": vector if vector is None else [float(x) for x in vector],
        "instant": inputs.instant.isoformat() if inputs.instant else None,
        "language": inputs.language,
        "state_root": inputs.state_root,
        "exact": inputs.exact,
        "index": inputs.index,
        "notes": [list(note) for note in inputs.notes],
        "offers": [asdict(offer) for offer in inputs.offers],
        **({"image_formula": inputs.image_formula} if inputs.image_formula else {}),
        "parts": part_hashes(inputs),
        "recipe_spelled": canonical_recipe(inputs.recipe).recipe,
        "manifest": value_to_json(context.manifest) | ({"when": when} if when else {}),
        "trace": [stage_to_json(stage) for stage in context.trace],
        "text": context.text,
    }


def inputs_from_bundle(bundle: Mapping[str, Any], known: ComponentRegistry) -> Inputs:
    """The inputs back; raises `BadInput` naming the part that is missing or wrong."""
    check_bundle(bundle)
    try:
        with name_in_errors("the bundle's recipe"):
            recipe = recipe_from_dict(bundle["recipe"], known)
        return Inputs(
            query=bundle["query"],
            recipe=recipe,
            budget=Budget(**_without_unused(Budget, bundle["budget"], "budget")),
            candidates=tuple(candidate_from_record(c) for c in bundle["candidates"]),
            neighbours=tuple(chunk_from_record(c) for c in bundle["neighbours"]),
            supplements=tuple(
                _read_part(Supplement, s, "supplement") for s in bundle["supplements"]
            ),
            principals=tuple(bundle["principals"]),
            messages=tuple((role, content) for role, content in bundle["messages"]),
            intent=bundle["intent"],
            query_embedding=bundle["query_embedding"],
            instant=datetime.fromisoformat(bundle["instant"]) if bundle["instant"] else None,
            language=bundle["language"],
            state_root=bundle["state_root"],
            exact=bundle.get("exact", True),
            index=bundle.get("index", ""),
            notes=tuple((name, value) for name, value in bundle.get("notes", [])),
            offers=tuple(_read_part(Offer, o, "offer") for o in bundle.get("offers", [])),
            image_formula=str(bundle.get("image_formula", "")),
        )
    except BadInput:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise BadInput(f"the bundle is damaged ({what}); write it again with --bundle") from None


def _without_unused(kind: Any, record: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The record without fields that are gone and hold nothing; one that holds more is refused."""
    known = [f.name for f in fields(kind)]
    for name, value in record.items():
        if name not in known and value:
            with name_in_errors("the bundle"):
                raise UnknownName(f"{what} option", name, known)
    return {name: value for name, value in record.items() if name in known}


def _read_part(kind: type[T], record: Mapping[str, Any], what: str) -> T:
    known = _without_unused(kind, record, what)
    with name_in_errors(f"the bundle: {what}"):
        found: T = read_value(kind, known)
    return found


def check_bundle(bundle: Any) -> None:
    """Refuse a file that is not a bundle."""
    if not isinstance(bundle, Mapping) or bundle.get("kind") != KIND:
        raise BadInput("this is not a bundle; `foveate assemble --bundle FILE` writes one")
    for name, kind in REQUIRED_PARTS.items():
        if name not in bundle:
            raise BadInput(f"the bundle has no {name!r}; write it again with --bundle")
        if not isinstance(bundle[name], kind):
            raise BadInput(f"the bundle's {name!r} is damaged; write it again with --bundle")
    try:
        for stage in bundle["trace"]:
            _check_stage(stage)
    except (KeyError, TypeError):
        raise BadInput("the bundle's 'trace' is damaged; write it again with --bundle") from None


def _check_stage(record: Mapping[str, Any]) -> None:
    decisions = tuple(Decision(**decision) for decision in record["decisions"])
    StageTrace(**{**record, "decisions": decisions})


def compare_bundles(old: Mapping[str, Any], new: Mapping[str, Any]) -> Verdict:
    """Two bundles compared: of two runs, or of a run and its replay."""
    old, new = _as_typed_now(old), _as_typed_now(new)
    if _unrelated(old, new):
        said = " → ".join(repr(str(one.get("query", ""))[:80]) for one in (old, new))
        differ = (f"query: {said}", "no candidate in common")
        return Verdict(identical=False, related=False, causes=differ)
    causes = tuple(_find_causes(old, new))
    stage, first = _first_trace_difference(old["trace"], new["trace"])
    if not stage and old["text"] != new["text"]:
        stage, first = "render", _format_text_difference(old["text"], new["text"])
    was, now = (one["manifest"].get("unicode", "") for one in (old, new))
    if (causes or stage) and was and was != now:
        causes += (f"unicode: {was!r} → {now!r}; letters are told apart by another table",)
    sealed = digest(old["text"]) == old["manifest"].get("output_hash")
    if not sealed:
        causes += ("the recorded text does not match the recorded output hash",)
    identical = not causes and not stage
    return Verdict(identical=identical, stage=stage, first=first, causes=causes)


def _as_typed_now(bundle: Mapping[str, Any]) -> Mapping[str, Any]:
    """The bundle without removed options that had their defaults, and without removed figures."""
    was = bundle["recipe_spelled"]
    now, manifest = without_removed(was), bundle["manifest"]
    if now != was and manifest.get("recipe_hash") == digest(was):
        manifest = {**manifest, "recipe_hash": digest(now)}
    trace = [
        {**one, "options": without_removed(one["options"]), "notes": _notes_now(one)}
        for one in bundle["trace"]
    ]
    return {**bundle, "recipe_spelled": now, "manifest": manifest, "trace": trace}


def _notes_now(stage: Mapping[str, Any]) -> dict[str, Any]:
    gone = FORMER_NOTES.get(stage["stage"], ())
    return {name: value for name, value in stage["notes"].items() if name not in gone}


def _unrelated(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if old["manifest"].get("query_hash") == new["manifest"].get("query_hash"):
        return False
    parts = (name for name in old["parts"] if name.startswith("candidate "))
    return all(old["parts"][name] != new["parts"].get(name) for name in parts)


def _find_causes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    found = [f"input: {what}" for what in describe_hash_differences(old["parts"], new["parts"])]
    if old["recipe_spelled"] != new["recipe_spelled"]:
        found.append(
            f"recipe: {_format_text_difference(old['recipe_spelled'], new['recipe_spelled'])}"
        )
    for f in (f for f in fields(Manifest) if f.compare):
        usual = None if f.default is MISSING else f.default  # what an older bundle means
        was, now = old["manifest"].get(f.name, usual), new["manifest"].get(f.name, usual)
        if was != now:
            found.append(f"{f.name}: {was!r} → {now!r}")
    return found


def _first_trace_difference(old: list[Any], new: list[Any]) -> tuple[str, str]:
    for was, now in zip(old, new, strict=False):
        if was == now:
            continue
        for a, b in zip(was["decisions"], now["decisions"], strict=False):
            if a != b:
                return now["stage"], f"{_format_decision(a)} → {_format_decision(b)}"
        counts = f"{was['before']} → {was['after']} chunks, now {now['before']} → {now['after']}"
        return now["stage"], counts
    if len(old) != len(new):
        return "recipe", f"{len(old)} stages, now {len(new)}"
    return "", ""


def _format_decision(decision: Mapping[str, Any]) -> str:
    return f"{decision['chunk_id']} {decision['action']} ({decision['reason']})"


def _format_text_difference(old: str, new: str) -> str:
    pairs = enumerate(zip(old, new, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
    return f"character {at}: {old[at : at + 40]!r} → {new[at : at + 40]!r}"
