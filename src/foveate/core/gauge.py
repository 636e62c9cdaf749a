"""How much a text weighs in this request: the tokenizer, the renderer's neutralising, a memory.

A verbatim chunk is counted once ever: its count is kept under the hash of its body. Neutralised
and shortened texts are counted as they will stand in the context, under their own hash.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field

from foveate.core.contracts import Tokenizer
from foveate.core.types import Candidate, Chunk, Place, content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """Counts tokens for one request.

    `body(text)`: the text as it will stand in a block. `frame(candidate, place)`: all that stands
    around it there, header and separator. `known` maps a content hash to a count for this
    tokenizer, and outlives the request.
    """

    tokenizer: Tokenizer
    body: Callable[[str], str]
    frame: Callable[[Candidate, Place], str]
    known: MutableMapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def chunk(self, chunk: Chunk) -> int:
        """Tokens of the chunk's whole text as it will be rendered."""
        body = self.body(chunk.text)
        if body is chunk.text or body == chunk.text:
            return self._known(chunk.content_hash, body)
        return self._known(content_hash(body), body)

    def text(self, text: str) -> int:
        """Tokens of any text as it will be rendered in a block."""
        return self.rendered(self.body(text))

    def uncached(self, text: str) -> int:
        """The same without remembering: for texts that are tried once and thrown away."""
        return self.tokenizer.count(self.body(text))

    def rendered(self, text: str) -> int:
        """Tokens of a text that is already in its final form: a header, a body."""
        return self._known(content_hash(text), text) if text else 0

    def _known(self, key: str, text: str) -> int:
        count = self.known.get(key)
        if count is None:
            count = self.known[key] = self.tokenizer.count(text)
        return count
