"""Candidates from plain mappings and JSON Lines, and back.

Only `text` is required. Keys of other systems are read (`fields.py`), other unknown keys go to
`metadata`. A wrong value or a misspelled field is refused with its line and field.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from foveate.core.checks import canonical_metadata, plain_metadata
from foveate.core.errors import BadInput
from foveate.core.fields import (
    CANDIDATE_FIELDS,
    CHUNK_FIELDS,
    KNOWN,
    LIKELY_TEXT_KEYS,
    MAX_LISTED_KEYS,
    SCORE_FIELDS,
    read_origin,
    standardise_record,
)
from foveate.core.images import IMAGES, images_to_json
from foveate.core.scores import ScoredList, decide_scores
from foveate.core.types import Candidate, Chunk

T = TypeVar("T")
UNSCORED = "unscored"
"""In bundles: no score was given."""
_NUMBERS = ("page", "row", "line", "start", "end", "byte_offset")


def candidates_from_items(items: Any, place: str = "item") -> tuple[Candidate, ...]:
    """Candidates, chunks or mappings → candidates, in the given order.

    What their score is, `core/scores.py` decides, once: a `ScoredList` is taken as it is.
    Raises `BadInput` naming the position (counted from 1, as `line`; `place` says what is counted)
    and the field.
    """
    if isinstance(items, ScoredList):
        return items
    read = [
        _parse_at_line(number, item, _candidate_from_item, place)
        for number, item in enumerate(_check_iterable(items), 1)
    ]
    return _consistent_list(read, place)


def candidates_from_jsonl(lines: Iterable[str]) -> tuple[Candidate, ...]:
    """JSON Lines → candidates; blank lines are passed over, a line that is not JSON is refused."""
    read = [
        _parse_at_line(number, line, _candidate_from_line)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    return _consistent_list(read, "line")


def _consistent_list(
    read: Sequence[tuple[Candidate, bool | None]], place: str
) -> tuple[Candidate, ...]:
    """The candidates with the scores that decide; None: whether one was given is not known."""
    found = tuple([candidate for candidate, _ in read])
    check_consistency(found, place)
    # A value's score is 0.0 if none was given: then another one that some of them have decides.
    values = [candidate for candidate, has in read if has is None]
    known = any(c.score for c in values) or all(
        c.semantic_score is c.lexical_score is None for c in values
    )
    return decide_scores(found, [known if has is None else has for _, has in read])


def parse_json(line: str, advice: str = "give one JSON object a line") -> Any:
    """One JSON value; `BadInput` says what is wrong, where in the line, and the advice."""
    try:
        return json.loads(line, object_pairs_hook=_refuse_repeated_keys)
    except BadInput:
        raise
    except json.JSONDecodeError as error:
        where = f"at character {error.colno}"
        raise BadInput(f"not JSON: {error.msg} {where}; {advice}") from None
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 5,000 digits
        raise BadInput(f"not JSON: {error}; {advice}") from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that comes twice is refused, for one of the two would be lost."""
    record = dict(pairs)
    if len(record) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise BadInput(f"the key {twice!r} comes twice; give it once")
    return record


def check_consistency(candidates: tuple[Candidate, ...], place: str = "item") -> None:
    """Refuse what only shows side by side: one id for two chunks, vectors of unequal length."""
    chunks = [candidate.chunk for candidate in candidates]
    lengths = {len(c.embedding) for c in chunks if c.embedding is not None}
    if len(lengths) > 1 or len({c.id for c in chunks}) < len(chunks):
        _raise_first_inconsistency(candidates, place)


def _raise_first_inconsistency(candidates: tuple[Candidate, ...], place: str) -> None:
    seen: dict[str, Chunk] = {}
    length: int | None = None
    for number, candidate in enumerate(candidates, 1):
        chunk = candidate.chunk
        first = seen.setdefault(chunk.id, chunk)
        if first is not chunk and first != chunk:
            raise BadInput(
                f"two different chunks have the id {chunk.id!r}; give each its own",
                line=number,
                field="id",
                place=place,
            )
        if first is not chunk and not _is_same_vector(first.embedding, chunk.embedding):
            message = f"the chunk {chunk.id!r} came before with another one"
            raise BadInput(message, line=number, field="embedding", place=place)
        if chunk.embedding is None:
            continue
        length = length or len(chunk.embedding)
        if len(chunk.embedding) != length:
            raise BadInput(
                f"{len(chunk.embedding)} numbers where others have {length}; "
                "embed all candidates with one model",
                line=number,
                field="embedding",
                place=place,
            )


def _is_same_vector(one: Any, other: Any) -> bool:
    if one is None or other is None or len(one) != len(other):
        return one is other
    return all(float(a) == float(b) for a, b in zip(one, other, strict=True))


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """The candidate as the JSON object of one line; what is unknown or empty is left out."""
    record: dict[str, Any] = chunk_to_json(candidate.chunk) | {"score": candidate.score}
    for name in SCORE_FIELDS[1:]:
        if (value := getattr(candidate, name)) is not None:
            record[name] = value
    if candidate.origin != "retrieved":
        record["origin"] = candidate.origin
    if not candidate.scored:
        record[UNSCORED] = True
    return record


def chunk_to_json(chunk: Chunk) -> dict[str, Any]:
    """The chunk's part of the JSON object."""
    record: dict[str, Any] = {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "source": chunk.source,
        "sequence": chunk.sequence,
        "text": chunk.text,
    }
    for name in ("title", "summary", "section", *_NUMBERS):
        if (value := getattr(chunk, name)) not in (None, ""):
            record[name] = value
    if chunk.modified_at is not None:
        record["modified_at"] = chunk.modified_at.isoformat()
    if chunk.principals:
        record["principals"] = list(chunk.principals)
    if chunk.metadata:
        record["metadata"] = plain_metadata(chunk.metadata)
    if chunk.embedding is not None:
        record["embedding"] = [float(x) for x in chunk.embedding]
    return record


def _check_iterable(items: Any) -> Iterable[Any]:
    if isinstance(items, str | bytes):
        raise BadInput("give a list of candidates after the question, not a string")
    if isinstance(items, Mapping | Candidate):
        raise BadInput("give a list of candidates, not a single value")
    if not isinstance(items, Iterable):
        raise BadInput(f"give candidates, mappings or a table, not {type(items).__name__}")
    return items


def _candidate_from_line(line: str) -> tuple[Candidate, bool | None]:
    item = parse_json(line)
    if isinstance(item, list):
        raise BadInput("a list is no candidate; give each of its objects a line of its own")
    return _candidate_from_item(item)


def _parse_at_line(number: int, item: Any, make: Callable[[Any], T], place: str = "line") -> T:
    try:
        return make(item)
    except BadInput as error:
        if error.line is not None:
            raise
        message = str(error)
        if error.field is not None:
            message = message.removeprefix(f"field {error.field!r}: ")
        raise BadInput(message, line=number, field=error.field, place=place) from None


def _candidate_from_item(item: Any) -> tuple[Candidate, bool | None]:
    """The candidate, and whether a `score` was given with it."""
    if isinstance(item, Candidate):
        return item, None
    if isinstance(item, Chunk):
        return Candidate(chunk=item), False
    if not isinstance(item, Mapping):
        kind = type(item).__name__
        raise BadInput(f"a candidate is an object with a text, such as {{'text': '…'}}, not {kind}")
    record = standardise_record(item)
    return candidate_from_record(record), record.get("score") is not None


def candidate_from_record(record: Mapping[str, Any]) -> Candidate:
    """One mapping → one candidate."""
    if record.get("text") is None:
        raise BadInput(_missing_text(record), field="text")
    rest = {name: value for name in CANDIDATE_FIELDS if (value := record.get(name)) is not None}
    if "origin" in rest:
        read_origin("origin", rest["origin"])
    scored = record.get(UNSCORED) is not True
    return Candidate(chunk=chunk_from_record(record), scored=scored, **rest)


def _missing_text(record: Mapping[str, Any]) -> str:
    given = [key for key, value in record.items() if value is not None]
    if (likely := next((key for key in LIKELY_TEXT_KEYS if key in given), None)) is not None:
        return f"is missing; if {likely!r} holds it, rename that to 'text'"
    listed = f"; given: {', '.join(map(repr, given[:MAX_LISTED_KEYS]))}" if given else ""
    what = "is None (null)" if "text" in record else "is missing"
    return f"{what}; it is the one field that is required{listed}"


def chunk_from_record(record: Mapping[str, Any]) -> Chunk:
    """One mapping → one chunk; scores are passed over, what has no name here is metadata."""
    values: dict[str, Any] = {"text": None}
    extra: dict[str, Any] = {}
    for key, value in record.items():
        if value is None:
            continue
        if key in CHUNK_FIELDS:
            values[key] = value
        elif key == IMAGES:
            extra[key] = images_to_json(value)
        elif key not in KNOWN and not (key == UNSCORED and value is True):
            extra[str(key)] = value
    metadata = {} if record.get("metadata") is None else record["metadata"]
    if not isinstance(metadata, Mapping):
        raise BadInput(f"must be an object, not {type(metadata).__name__}", field="metadata")
    for key in extra.keys() & metadata.keys():
        if canonical_metadata({key: extra[key]}) != canonical_metadata({key: metadata[key]}):
            raise BadInput("stands in the metadata with another value; give it once", field=key)
    return Chunk(**values, metadata={**extra, **metadata})


def is_readable(principals: tuple[str, ...], allowed: frozenset[str]) -> bool:
    """Whether a caller with `allowed` may read what is restricted to `principals`."""
    return not principals or not allowed.isdisjoint(principals)
