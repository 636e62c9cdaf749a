"""What is mutilated in a finished context, by the candidates and the blocks alone.

| fault | counted |
|---|---|
| list_item | items of a list of which a block shows a part only |
| code_line | lines of code of which a block shows a part only |
| table_row | rows of a table of which a block shows a part only |
| quotation | quotations of which a block shows a part only |
| unmarked_cut | ends of a block at which its passage goes on, without a mark |
| no_match | extracts without a word of the question and without a chunk of a high score |
| out_of_order | blocks whose pieces are not in reading order |

For `no_match`, two words are one if their first letters are the same, capitals and accents apart,
and short words count if they mean something. The head of a table, or of records, counts as matching
if another block is of its document: it is shown for that.

Nothing of the stages is used, so that the check does not share their errors. A piece is looked for
in the chunks that its block names, and in those joined by their offsets. A piece whose text was
changed is not found there, and is passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from unicodedata import combining, normalize

from foveate.core.text.shapes.gaps import PATTERN as GAP_MARK
from foveate.core.text.terms import STOP_WORDS
from foveate.core.types import Block, Candidate, Chunk, Span

FAULTS = (
    *("list_item", "code_line", "table_row", "quotation"),
    *("unmarked_cut", "no_match", "out_of_order"),
)

_MARK = re.compile(rf"\s*{GAP_MARK.pattern}\s*")
_STARTS_CUT = re.compile(rf"…|{GAP_MARK.pattern}")
_ENDS_CUT = re.compile(rf"(?:…|{GAP_MARK.pattern})\Z")
_STEM = 5
"""Letters by which two forms of a word are taken for one."""
_SHORTEST_WORD = 4
_LIGHT = frozenset().union(*STOP_WORDS.values())
"""Of shorter words, those that say nothing in one language or another about what is asked."""
_BEST_CHUNKS = 3

_HIDDEN = re.compile("[\u200b-\u200d\u2060\ufeff]")
_BULLET = r"[ \t]*(?:[-*+•‣▪◦]|\d{1,3}[.)])[ \t]+(?!\|)\S"
_LIST = re.compile(rf"^{_BULLET}.*(?:\n(?![ \t]*$|{_BULLET})[ \t]+.*)*", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*\n((?:.*\n)*?)[ \t]*\1", re.MULTILINE)
_INDENTED_CODE = re.compile(r"^(?: {4}|\t)(?=.*[{}()=;<>]).*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_OPENS = re.compile(r"[\[{(:]\s*\Z")
_QUOTATIONS = (
    r'(?<![\w"])"(?=[^\s"])[^"\n]{2,600}?(?<=\S)"(?![\w"])',
    r"“[^“”\n]{2,600}?”",
    r"„[^„“”\n]{2,600}?[“”]",
    r"«[^«»\n]{2,600}?»",
    r"「[^「」\n]{2,600}?」",
)
_QUOTATION = re.compile("|".join(_QUOTATIONS))
_CJK = "\u30a0-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[^\W_\u3040-\u309f{_CJK}]+")
_CJK_PAIR = re.compile(f"(?=([{_CJK}]{{2}}))")
_CJK_SINGLE = re.compile(f"(?<![{_CJK}])[{_CJK}](?![{_CJK}])")


def find_faults(
    question: str, candidates: Sequence[Candidate], blocks: Sequence[Block]
) -> Mapping[str, int]:
    """How often each fault occurs; faults that do not occur are left out."""
    chunks = {candidate.id: candidate.chunk for candidate in candidates}
    high = _high_scored(candidates)
    words = _stems(question)
    found: Counter[str] = Counter()
    for block in blocks:
        if block.kind != "chunk":
            continue
        named = [chunks[name] for name in block.chunk_ids if name in chunks]
        found += _cuts(block, named)
        matches = (
            words & _stems(block.text)
            or high.intersection(block.chunk_ids)
            or _is_head(block, blocks)
        )
        found["no_match"] += block.rendition == "extract" and not matches
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


def _is_head(block: Block, blocks: Sequence[Block]) -> bool:
    """Whether the block is the head of rows or records alone that another block may show.

    Such a head stands for what a later chunk of its document has, which cannot be read without it.
    """
    pieces = [piece for piece in _MARK.split(block.text) if piece.strip()]
    others = [b for b in blocks if b is not block and b.document_id == block.document_id]
    lines = [line for piece in pieces for line in piece.splitlines() if line.strip()]
    if len(pieces) == 1 and all(map(_ROW.fullmatch, lines)):
        return any(_ROW.search(other.text) for other in others)
    return bool(others) and all(map(_OPENS.search, lines))


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


def _high_scored(candidates: Sequence[Candidate]) -> frozenset[str]:
    """The best chunks, copies apart, and those in the upper half of the scores' range.

    A chunk whose text is inside of a better one's is a copy, and one that holds all of a high one
    is as high.
    """
    ranked = sorted(candidates, key=lambda candidate: -candidate.score)
    if not ranked:
        return frozenset()
    best: list[Candidate] = []
    for candidate in ranked:
        if len(best) == _BEST_CHUNKS:
            break
        text = candidate.text.strip()
        if not any(text in other.text or other.text.strip() in text for other in best):
            best.append(candidate)
    least = min((ranked[0].score + ranked[-1].score) / 2, best[-1].score)
    high = [candidate.text.strip() for candidate in candidates if candidate.score >= least]
    return frozenset(c.id for c in candidates if any(text in c.text for text in high))


def _stems(text: str) -> set[str]:
    """The beginnings of its words, and its Chinese and Japanese words.

    Of words shorter than `_SHORTEST_WORD`, those that carry meaning of their own. An English plural
    is taken for its singular. A Chinese or Japanese word is a pair of characters, or one that
    stands alone between letters of another kind.
    """
    plain = "".join(c for c in normalize("NFKD", text.casefold()) if not combining(c))
    words = {
        _singular(word)[:_STEM]
        for word in _WORD.findall(plain)
        if len(word) >= _SHORTEST_WORD or word.isdecimal() or (len(word) > 1 and word not in _LIGHT)
    }
    return words | set(_CJK_PAIR.findall(text)) | set(_CJK_SINGLE.findall(text))


def _singular(word: str) -> str:
    """The word without the ending of an English plural; `lease` loses its e, as `leases` does."""
    if word.endswith("se"):
        return word[:-1]
    if len(word) < _SHORTEST_WORD or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ses", "xes", "ches", "shes")) else word[:-1]
