"""Stitch: consecutive chunks of one document become one passage without repetition.

Two neighbours in reading order are joined if

1. their offsets touch or overlap, and their texts agree wherever both speak;
2. or their sequences follow on each other and the tail of one is the head of the next, for more
   than `min_overlap` characters;
3. or their sequences follow on each other in one section and nothing is known of what lies between:
   a blank line is put there. Rows of a table are not joined in this way.

A known gap is never closed, and chunks with different principals stay apart. The passage has the
first piece's id and place in the document, the earliest place in the present order, and the best of
each score. If rule 1 alone made it, `document[start:end] == passage.text`. Renditions of the pieces
are not kept, so stitch before compressing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, TypeAlias, TypeVar

from foveate.core.errors import BadOption
from foveate.core.grouping import document_offset, place_in_document
from foveate.core.request import Request
from foveate.core.types import Candidate, Chunk, Decision, Duplicate, Part, Step

_BREAK = "\n\n"

T = TypeVar("T", Part, Duplicate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stitch:
    """Join consecutive chunks of a document, each repeat once.

    `min_overlap`: without offsets, a repeat counts from one character more than this.
    """

    min_overlap: int = 20

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.min_overlap < 0:
            raise BadOption(f"stitch: min_overlap is {self.min_overlap!r}; it must be 0 or more")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Put a passage for each run of pieces: the first `changed`, the others `merged` into it.

        The numbers: `overlap`, in characters that were there twice; on the first also `parts`.
        """
        found = find_runs(candidates, self.min_overlap)
        if not found:
            return Step(candidates=candidates)
        slots: list[Candidate | None] = list(candidates)
        places = {candidate.chunk.id: place for place, candidate in enumerate(candidates)}
        decisions: list[Decision] = []
        for run in found:
            taken = [places[piece.candidate.chunk.id] for piece, _ in run]
            for place in taken:
                slots[place] = None
            slots[min(taken)] = made = build_passage(run)
            decisions += _build_decisions(run, made)
        left = tuple(candidate for candidate in slots if candidate is not None)
        return Step(candidates=left, decisions=tuple(decisions))


class Seam(NamedTuple):
    """A join `back` characters from the end, `exact` by offsets, with `glue` between."""

    back: int
    exact: bool
    glue: str = ""


_FIRST = Seam(back=0, exact=True)


class PassagePiece(NamedTuple):
    """A candidate, the chunk that it begins with, and where that says that it stands."""

    candidate: Candidate
    head: Chunk
    start: int | None


JoinedPiece: TypeAlias = tuple[PassagePiece, Seam]
"""A piece and its seam with the pieces before it."""


def find_runs(candidates: Iterable[Candidate], min_overlap: int) -> list[list[JoinedPiece]]:
    """The runs of two or more pieces that belong together, by document id, as they read.

    What is shown in part stays, and what `pack` chose in full is joined with its like.
    """
    documents: dict[tuple[str, bool], list[Candidate]] = {}
    for candidate in candidates:
        shown = candidate.shown
        if candidate.origin != "supplement" and (shown is None or shown.kind == "verbatim"):
            own = candidate.chunk.document_id, shown is None
            documents.setdefault(own, []).append(candidate)
    found: list[list[JoinedPiece]] = []
    for _, pieces in sorted([pair for pair in documents.items() if len(pair[1]) > 1]):
        found += [run for run in _split_runs(sort_pieces(pieces), min_overlap) if len(run) > 1]
    return found


def sort_pieces(candidates: list[Candidate]) -> list[PassagePiece]:
    """One document's pieces by page, then by offsets where all are known, else by sequence."""
    pieces = []
    for candidate in candidates:
        head = candidate.parts[0].chunk if candidate.parts else candidate.chunk
        pieces.append(PassagePiece(candidate, head, document_offset(head)))
    inner = [part.chunk for one in candidates if one.parts for part in one.parts]
    known = None not in [piece.start for piece in pieces]
    keys: list[tuple[int | str, ...]]
    if known and None not in map(document_offset, inner):
        keys = [(h.page or 0, s or 0, -len(h.text), h.sequence, h.id) for _, h, s in pieces]
    else:
        keys = [(*place_in_document(h), h.id) for _, h, s in pieces]
    return [pieces[n] for n in sorted(range(len(pieces)), key=keys.__getitem__)]


def _split_runs(pieces: list[PassagePiece], min_overlap: int) -> list[list[JoinedPiece]]:
    """Cut the pieces of a document where two do not join.

    Each piece is tried on the chunk that reaches furthest in the run, so the work is bounded.
    """
    found: list[list[JoinedPiece]] = []
    tail: Chunk | None = None
    before: int | None = None
    for piece in pieces:
        joint = None if tail is None else find_seam(tail, before, piece, min_overlap)
        if joint is None:
            found.append([(piece, _FIRST)])
        else:
            found[-1].append((piece, joint))
        if joint is None or joint.back <= len(piece.candidate.chunk.text):
            tail, before = _last_chunk(piece)
    return found


def find_seam(
    tail: Chunk, before: int | None, piece: PassagePiece, min_overlap: int
) -> Seam | None:
    """The seam between the piece and a run that ends with `tail`; None if they do not join."""
    candidate, head, start = piece
    if tail.principals != head.principals:
        return None
    claimed = before is not None and start is not None
    if before is not None and start is not None:
        end = before + len(tail.text)
        if start > end:
            return None
        if is_consistent_at(tail.text, candidate.chunk.text, start - before):
            return Seam(back=end - start, exact=True)
    if head.sequence != tail.sequence + 1:
        return None
    shared = overlap(tail.text, head.text, more_than=min_overlap)
    if shared:
        return Seam(back=shared, exact=False)
    rows = tail.row is not None or head.row is not None
    if claimed or rows or tail.section != head.section:
        return None
    return Seam(back=0, exact=False, glue=_BREAK)


def build_passage(run: list[JoinedPiece]) -> Candidate:
    """The run as one candidate that knows where each of its chunks stands in it."""
    parts: list[Part] = []
    duplicates: list[Duplicate] = []
    length, exact = 0, True
    for (piece, _, start), (back, agrees, glue) in run:
        at = length + len(glue) - back
        end = at + len(piece.chunk.text)
        if piece.parts:
            parts += [_shift(part, at) for part in piece.parts]
            start = document_offset(piece.chunk)  # noqa: PLW2901
        else:
            parts.append(
                Part(
                    chunk=piece.chunk,
                    span=(at, end),
                    origin=piece.origin,
                    score=piece.score,
                    scored=piece.scored,
                )
            )
        duplicates += [_shift(duplicate, at) for duplicate in piece.duplicates]
        exact = exact and agrees and start is not None
        length = max(length, end)
    start = document_offset(run[0][0].candidate.chunk) if exact else None
    chunk = replace(
        run[0][0].candidate.chunk,
        text=_merge_texts(run),
        start=start,
        end=None if start is None else start + length,
        embedding=None,
    )
    pieces = [piece.candidate for piece, _ in run]
    return _build_candidate(pieces, chunk, tuple(parts), tuple(duplicates))


def _merge_texts(run: list[JoinedPiece]) -> str:
    fragments: list[str] = []
    length = 0
    for (piece, _, _), (back, _, glue) in run:
        text = piece.chunk.text
        at = length + len(glue) - back
        fragments += (glue, text[length - at :] if length > at else text)
        length = max(length, at + len(text))
    return "".join(fragments)


def _build_candidate(
    pieces: list[Candidate],
    chunk: Chunk,
    parts: tuple[Part, ...],
    duplicates: tuple[Duplicate, ...],
) -> Candidate:
    origins = [piece.origin for piece in pieces]
    best = max(pieces, key=lambda piece: piece.score)
    return Candidate(
        chunk=chunk,
        score=best.score,
        scored=best.scored,
        semantic_score=_best_score([piece.semantic_score for piece in pieces]),
        lexical_score=_best_score([piece.lexical_score for piece in pieces]),
        rerank_score=_best_score([piece.rerank_score for piece in pieces]),
        origin="retrieved" if "retrieved" in origins else origins[0],
        parts=parts,
        duplicates=duplicates,
    )


def _best_score(scores: list[float | None]) -> float | None:
    return max([score for score in scores if score is not None], default=None)


def _shift(value: T, by: int) -> T:
    start, end = value.span
    return replace(value, span=(start + by, end + by)) if by else value


def _last_chunk(piece: PassagePiece) -> tuple[Chunk, int | None]:
    """The last chunk that reaches the end of the text, and where it says that it stands."""
    candidate, head, start = piece
    if not candidate.parts:
        return head, start
    length = len(candidate.chunk.text)
    ends = (part.chunk for part in reversed(candidate.parts) if part.span[1] == length)
    chunk = next(ends, candidate.parts[-1].chunk)
    return chunk, document_offset(chunk)


def _build_decisions(run: list[JoinedPiece], made: Candidate) -> list[Decision]:
    shared = [min(joint.back, len(piece.candidate.chunk.text)) for piece, joint in run]
    own = made.chunk.id
    merged = [
        Decision(
            chunk_id=piece.candidate.chunk.id,
            action="merged",
            reason="stitched",
            by=own,
            numbers={"overlap": characters},
        )
        for (piece, _), characters in zip(run[1:], shared[1:], strict=True)
    ]
    numbers = {"parts": len(made.parts), "overlap": sum(shared)}
    decision = Decision(chunk_id=own, action="changed", reason="stitched", numbers=numbers)
    return [decision, *merged]


_PROBE = 16
_TRIES = 16


def overlap(left: str, right: str, *, more_than: int = 0) -> int:
    """Length of the longest tail of `left` that is the head of `right`; 0 unless over `more_than`.

    >>> overlap("Bring your card.", "your card. Then wait.")
    10
    >>> overlap("Bring your card.", "your card. Then wait.", more_than=10)
    0
    """
    room = min(len(left), len(right))
    if room <= more_than:
        return 0
    # Any tail that is long enough ends in these characters, so only their places in `right` count.
    probe = left[-min(_PROBE, more_than + 1) :]
    for _ in range(_TRIES):
        at = right.rfind(probe, 0, room)
        length = at + len(probe)
        if at < 0 or length <= more_than:
            return 0
        if left.endswith(right[:length]):
            return length
        room = length - 1
    # So many false starts mean a repetitive text: from here on no guess is tried twice.
    length = _matched_length(left[len(left) - room :], right[:room])
    return length if length > more_than else 0


def is_consistent_at(left: str, right: str, at: int) -> bool:
    """Whether `right`, laid on `left` from character `at`, says the same wherever both speak.

    >>> (
    ...     is_consistent_at("the bird sings", "bird sings loud", 4),
    ...     is_consistent_at("the bird sings", "third", 4),
    ... )
    (True, False)
    """
    return 0 <= at <= len(left) and left.startswith(right[: len(left) - at], at)


def _matched_length(left: str, right: str) -> int:
    """How much of `right` is matched at the end of `left` (Knuth, Morris and Pratt, 1977)."""
    fall_back = [0] * len(right)
    length = 0
    for i in range(1, len(right)):
        while length and right[i] != right[length]:
            length = fall_back[length - 1]
        length += right[i] == right[length]
        fall_back[i] = length
    length = 0
    for character in left:
        while length and character != right[length]:
            length = fall_back[length - 1]
        length += character == right[length]
    return length
