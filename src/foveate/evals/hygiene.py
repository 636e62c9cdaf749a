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

For `no_match`, two words are one if their first letters are the same, and short words count if they
mean something. The head of a table counts as matching if another block has rows of its document: it
is shown for those.

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
from foveate.core.text.terms import STOP_WORDS
from foveate.core.types import Block, Candidate, Chunk, Span
from foveate.evals.measures import split_words

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
_BULLET = r"[ \t]*(?:[-*+•‣▪◦]|\d{1,3}[.)])[ \t]+\S"
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
_CJK = "\u30a0-\u30ff\u3400-\u9fff"
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
            or _is_head_of_table(block, blocks)
        )
        found["no_match"] += block.rendition == "extract" and not matches
    return {name: found[name] for name in FAULTS if found[name]}


def _cuts(block: Block, named: Sequence[Chunk]) -> Counter[str]:
    """The faults of what the block shows of its passage."""
    pieces = [piece for piece in _MARK.split(block.text) if piece.strip()]
    for passage in _passages(named):
        spans = _locate(passage, pieces)
        if spans is None:
            continue
        found = Counter(kind for kind, atom in _atoms(passage) if _is_cut(passage, atom, spans))
        shown = block.text.strip()
        # A piece may occur twice: one that the passage begins or ends with stands there.
        whole, first, last = passage.strip(), pieces[0].strip(), pieces[-1].strip()
        before = not whole.startswith(first) and passage[: min(a for a, _ in spans)].strip()
        after = not whole.endswith(last) and passage[max(b for _, b in spans) :].strip()
        found["unmarked_cut"] = bool(before and not _STARTS_CUT.match(shown)) + bool(
            after and not _ENDS_CUT.search(shown)
        )
        found["out_of_order"] = int(any(b[0] < a[1] for a, b in pairwise(spans)))
        return found
    return Counter()


def _is_head_of_table(block: Block, blocks: Sequence[Block]) -> bool:
    """Whether the block is the head of a table alone, and another one has rows of its document.

    Such a head stands for the rows of a later chunk, which cannot be read without it.
    """
    first, *others = _MARK.split(block.text.strip())
    if any(map(str.strip, others)) or not all(map(_ROW.fullmatch, first.splitlines())):
        return False
    return any(
        other is not block and other.document_id == block.document_id and _ROW.search(other.text)
        for other in blocks
    )


def _passages(chunks: Sequence[Chunk]) -> Iterator[str]:
    """Each chunk's text, then the texts that offsets join, the shortest that may do first.

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
    yield from (_HIDDEN.sub("", text) for _, text in joined)


def _locate(passage: str, pieces: Sequence[str]) -> list[Span] | None:
    """Where the pieces are, each after the one before it if it occurs there; None: not all are."""
    found: list[Span] = []
    for piece in pieces:
        after = found[-1][1] if found else 0
        at = passage.find(piece, after)
        if at < 0:
            at = passage.find(piece)
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
    """The best chunks, and those in the upper half of the scores' range."""
    scores = sorted((candidate.score for candidate in candidates), reverse=True)
    if not scores:
        return frozenset()
    least = min((scores[0] + scores[-1]) / 2, scores[min(_BEST_CHUNKS, len(scores)) - 1])
    return frozenset(candidate.id for candidate in candidates if candidate.score >= least)


def _stems(text: str) -> set[str]:
    """The beginnings of its words, and its Chinese and Japanese words.

    Of words shorter than `_SHORTEST_WORD`, those that carry meaning of their own. An English plural
    is taken for its singular. A Chinese or Japanese word is a pair of characters, or one that
    stands alone between letters of another kind.
    """
    words = {
        _singular(word)[:_STEM]
        for word in split_words(text)
        if len(word) >= _SHORTEST_WORD or word.isdecimal() or (len(word) > 1 and word not in _LIGHT)
    }
    return words | set(_CJK_PAIR.findall(text)) | set(_CJK_SINGLE.findall(text))


def _singular(word: str) -> str:
    """The word without the ending of an English plural."""
    if len(word) < _SHORTEST_WORD or not word.endswith("s") or word.endswith("ss"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
