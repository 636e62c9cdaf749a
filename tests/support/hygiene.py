"""What is mutilated in a finished context, by the candidates and the blocks alone.

| fault | counted |
|---|---|
| list_item | items of a list of which a block shows a part only |
| code_line | lines of code of which a block shows a part only |
| table_row | rows of a table of which a block shows a part only |
| quotation | quotations of which a block shows a part only |
| unmarked_cut | ends of a block at which its passage goes on, without a mark |
| out_of_order | blocks whose pieces are not in reading order |

Nothing of the stages is used, so that the check does not share their errors. A piece is looked for
in the chunks that its block names, and in those joined by their offsets. A piece whose text was
changed is not found there, and is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from foveate.core.text.shapes.gaps import PATTERN as GAP_MARK
from foveate.core.types import Block, Candidate, Chunk, Span

FAULTS = (
    *("list_item", "code_line", "table_row", "quotation"),
    *("unmarked_cut", "out_of_order"),
)

_MARK = re.compile(rf"\s*{GAP_MARK.pattern}\s*")
_STARTS_CUT = re.compile(rf"…|{GAP_MARK.pattern}")
_ENDS_CUT = re.compile(rf"(?:…|{GAP_MARK.pattern})\Z")

_HIDDEN = re.compile("[\u200b-\u200d\u2060\ufeff]")
_BULLET = r"[ \t]*(?:[-*+•‣▪◦]|\d{1,3}[.)])[ \t]+(?!\|)\S"
_LIST = re.compile(rf"^{_BULLET}.*(?:\n(?![ \t]*$|{_BULLET})[ \t]+.*)*", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*\n((?:.*\n)*?)[ \t]*\1", re.MULTILINE)
_INDENTED_CODE = re.compile(r"^(?: {4}|\t)(?=.*[{}()=;<>]).*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_QUOTATIONS = (
    r'(?<![\w"])"(?=[^\s"])[^"\n]{2,600}?(?<=\S)"(?![\w"])',
    r"“[^“”\n]{2,600}?”",
    r"„[^„“”\n]{2,600}?[“”]",
    r"«[^«»\n]{2,600}?»",
    r"「[^「」\n]{2,600}?」",
)
_QUOTATION = re.compile("|".join(_QUOTATIONS))


def find_faults(candidates: Sequence[Candidate], blocks: Sequence[Block]) -> Mapping[str, int]:
    """How often each fault occurs; faults that do not occur are left out."""
    chunks = {candidate.id: candidate.chunk for candidate in candidates}
    found: Counter[str] = Counter()
    for block in blocks:
        if block.kind == "chunk":
            found += _cuts(block, [chunks[name] for name in block.chunk_ids if name in chunks])
    return {name: found[name] for name in FAULTS if found[name]}


def _cuts(block: Block, named: Sequence[Chunk]) -> Counter[str]:
    """The faults of what the block shows of its passage; the fewest where it may stand in several.

    A piece may occur twice, and only one of the places is the one that is shown.
    """
    pieces = [piece for piece in _MARK.split(block.text) if piece.strip()]
    found = [
        _cuts_of(block, passage, spans)
        for passage in _passages(named)
        if (spans := _locate(passage, pieces)) is not None
    ]
    return min(found, key=Counter.total, default=Counter())


def _cuts_of(block: Block, passage: str, spans: Sequence[Span]) -> Counter[str]:
    found = Counter(kind for kind, atom in _atoms(passage) if _is_cut(passage, atom, spans))
    shown = block.text.strip()
    before = passage[: min(a for a, _ in spans)].strip()
    after = passage[max(b for _, b in spans) :].strip()
    found["unmarked_cut"] = bool(before and not _STARTS_CUT.match(shown)) + bool(
        after and not _ENDS_CUT.search(shown)
    )
    found["out_of_order"] = int(any(b[0] < a[1] for a, b in pairwise(spans)))
    return found


def _passages(chunks: Sequence[Chunk]) -> Iterator[str]:
    """Each chunk's text, the texts that offsets join, and all of these as they follow each other.

    Contexts leave hidden characters out, and so do these.
    """
    yield from (_HIDDEN.sub("", chunk.text) for chunk in chunks)
    placed = sorted((c.start, c.text) for c in chunks if c.start is not None)
    joined: list[tuple[int, str]] = []
    for start, text in placed:
        if joined and joined[-1][0] + len(joined[-1][1]) >= start:
            first, before = joined.pop()
            joined.append((first, before + text[max(first + len(before) - start, 0) :]))
        else:
            joined.append((start, text))
    texts = [_HIDDEN.sub("", text) for _, text in joined]
    yield from texts
    if len(texts) > 1:
        yield "\n\n".join(texts)


def _locate(passage: str, pieces: Sequence[str]) -> list[Span] | None:
    """Where the pieces are, each after the one before it if it occurs there; None: not all are.

    One that the passage ends with stands there if it is the last.
    """
    found: list[Span] = []
    for n, piece in enumerate(pieces, 1):
        after = found[-1][1] if found else 0
        at = passage.find(piece, after)
        if at < 0:
            at = passage.find(piece)
        elif n == len(pieces) and passage.rstrip().endswith(piece.rstrip()):
            at = passage.rfind(piece)
        if at < 0:
            return None
        found.append((at, at + len(piece)))
    return found or None


def _atoms(text: str) -> Iterator[tuple[str, Span]]:
    """What must be shown whole or not at all, with the fault that a part of it is."""
    code = [match.span(2) for match in _FENCED.finditer(text)]
    for start, end in code:
        yield from (
            ("code_line", (start + m.start(), start + m.end()))
            for m in re.finditer(".+", text[start:end])
        )
    for kind, pattern in (
        ("code_line", _INDENTED_CODE),
        ("table_row", _ROW),
        ("list_item", _LIST),
        ("quotation", _QUOTATION),
    ):
        for match in pattern.finditer(text):
            if not any(start <= match.start() < end for start, end in code):
                yield kind, match.span()


def _is_cut(text: str, atom: Span, shown: Sequence[Span]) -> bool:
    """Whether a shown span begins or ends inside the atom, and not all of the atom is shown."""
    start, end = atom
    edges = {edge for span in shown for edge in span if start < edge < end}
    if not any(text[start:edge].strip() and text[edge:end].strip() for edge in edges):
        return False
    hidden = set(range(start, end)).difference(*(range(a, b) for a, b in shown))
    return any(not text[i].isspace() for i in hidden)
