"""Exact duplicates: of texts that are the same once white space is folded, one stays.

Not for texts that nearly agree; that is `dedup_near`. Rules: the best-ranked copy stays, with the
others' sources beside it; side knowledge is not compared; the order stays; linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from foveate.core.errors import BadOption
from foveate.core.near.fold import Copy, fold
from foveate.core.text.normalise import normalise
from foveate.core.types import Candidate, Request, Step, rank

Key = Literal["normalised", "verbatim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupExact:
    """Keep the best copy of each text, and where the other copies came from.

    `key`: what must be the same: `normalised` text (NFC, white space folded, trimmed) or the
    text as it is, `verbatim`.
    """

    key: Key = "normalised"

    keeps_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a key that is not one."""
        if self.key not in get_args(Key):
            raise BadOption(f"dedup_exact: key is {self.key!r}; use one of {get_args(Key)}")

    def __call__(self, candidates: tuple[Candidate, ...], request: Request) -> Step:
        """Drop copies as `merged` (`exact_duplicate`); what stays for them is `corroborated`."""
        return fold(candidates, exact_copies(candidates, self.key), reason="exact_duplicate")


def exact_copies(candidates: tuple[Candidate, ...], key: Key) -> dict[str, Copy]:
    """Every candidate whose text a better-ranked one has, and that one.

    Texts are compared, not hashes of them: the same equality, and nothing to collide.
    """
    first: dict[str, str] = {}
    copies: dict[str, Copy] = {}
    for candidate in sorted(candidates, key=rank):
        if candidate.origin == "supplement":
            continue
        text = normalise(candidate.text) if key == "normalised" else candidate.text
        kept = first.setdefault(text, candidate.id)
        if kept != candidate.id:
            copies[candidate.id] = Copy(by=kept, numbers={})
    return copies
