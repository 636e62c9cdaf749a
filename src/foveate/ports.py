"""Protocols for what is outside, in plain types, with the values that they exchange.

First what comes in (documents and loaders), then what reads (embedders, rerankers, chat models),
then what keeps (stores and caches). `Tokenizer` is in the core, because the core counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, runtime_checkable

from foveate.core.errors import BadInput
from foveate.core.types import Candidate, Chunk, Vector

QUESTIONS = "canonical_questions"
"""The key in a chunk's metadata under which the questions stand that it answers, as a list.

Stores index a chunk under the terms of its questions too (`stores.rows.indexed_terms`). In a
document's metadata they are those of all its chunks.
"""

INDEXED_SUMMARY = "indexed_summary"
"""The key in a chunk's metadata under which its document's summary stands if it is indexed too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source as the store keeps it. `text` is what the chunks' offsets refer to."""

    id: str
    source: str
    text: str
    title: str = ""
    summary: str = ""
    modified_at: datetime | None = None
    principals: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    content_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading's reach in a loaded text: `text[start:end]` lies under `path`."""

    start: int
    end: int
    path: str
    page: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedImage:
    """An image in a file: its bytes, and the part of the text (a page, a slide) that it is in."""

    data: bytes
    start: int
    end: int
    page: int | None = None
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """What a loader made of a file: one text, and where its sections, pages and rows stand.

    `sections` are in order and apart. `id` is empty where the document is the whole file, the
    document's own with `own_id`, and without it what is put behind the file's name for this part
    of it. `lines`: whether the text's lines are the file's. `principals` empty: whatever the
    caller says of all documents. `front`: so many characters at the beginning are no text of the
    document's; they are counted in every offset, and are in no chunk. `encoding`: of the file, if
    it is not UTF-8 and has no byte order mark. `images`: those of the file, if they were asked for.
    `left_out`: how many things of each kind, named in the plural, the file shows and `text` has
    not.
    """

    text: str
    title: str = ""
    sections: Sequence[Section] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    own_id: bool = True
    source: str = ""
    summary: str = ""
    modified_at: datetime | None = None
    principals: tuple[str, ...] = ()
    lines: bool = True
    front: int = 0
    encoding: str = ""
    images: tuple[LoadedImage, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Loader(Protocol):
    """Turns a file's bytes into documents: texts with positions."""

    def __call__(self, data: bytes, path: Path) -> Iterable[LoadedDocument | BadInput]:
        """Raise `BadInput` where the bytes are not what the name says, at the latest when read.

        Where a part of the file alone is not usable, its `BadInput` stands in its place.
        """


class Embedder(Protocol):
    """Turns texts into vectors. `name` goes into the store's state root.

    Where it has an attribute `copies` that is true, a copy in each of several processes is cheap:
    it can be pickled, is at work within a second, and uses one thread.
    """

    @property
    def name(self) -> str:
        """Model and version."""

    @property
    def dimensions(self) -> int:
        """Length of one vector."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Float32 array of shape (len(texts), dimensions), rows of length 1."""


class Reranker(Protocol):
    """Scores passages for a query by reading both together."""

    @property
    def name(self) -> str:
        """Model and version."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite score a text, higher is better."""


Content: TypeAlias = str | Sequence[Mapping[str, Any]]
"""What a message says: a text, or a provider's content parts, each with a `type`."""


class Message(TypedDict):
    """One chat message, as most clients take it; `role` is system, user or assistant.

    Only models whose attribute `takes` names the parts' types are given parts.
    """

    role: str
    content: Content


def text_from_content(content: Content) -> str:
    r"""The texts that a model reads in it, an empty line between two parts.

    >>> text_from_content(
    ...     [{"type": "text", "text": "[1] mill.md"}, {"type": "text", "text": "How old?"}]
    ... )
    '[1] mill.md\n\nHow old?'
    """
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content or ():  # a message that calls tools may have none
        if part.get("type") == "image":  # its data is no text
            continue
        inner = part.get("content", ())
        source = part.get("source", "")
        found = [part.get("title"), part.get("context"), part.get("text")]
        found.append(source.get("data") if isinstance(source, Mapping) else source)
        found.append(text_from_content(inner) if inner else "")
        texts.append("\n".join(text for text in found if text))
    return "\n\n".join(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the model counts them; None where it does not say.

    `prompt` is all that was read, of which `cached` came from the provider's cache of prefixes.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCitation:
    """A citation that a provider gives by itself, in its own words.

    `span`: the stretch of the reply's text that it is given for, in characters.
    """

    span: tuple[int, int]
    citation: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model wrote. `finish`: it came to its end, or to the limit, or something else was.

    `model` is the name that the other side gives itself; it can say more than what was asked for.
    `quoted`: what the provider cites beside the text, where it does.
    """

    text: str
    finish: Literal["stop", "length", "other"] = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    quoted: tuple[ProviderCitation, ...] = ()


class Model(Protocol):
    """Writes the next message of a chat. `name` is what one types to get it.

    Both raise `ExternalError` where no answer can be had. `max_tokens` limits what is written,
    `timeout` the whole call in seconds, retries included; `stop`: texts that end the answer.
    """

    @property
    def name(self) -> str:
        """Provider and model."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> Reply:
        """The whole answer."""

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> Iterator[str | Reply]:
        """The answer in pieces as it comes, none empty; the last item is the `Reply` of it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """How likely a model finds a text that it was given to write.

    `mean`: natural log-probability a token, 0 at the most; `tokens`: how many of the model's own.
    """

    mean: float
    tokens: int
    usage: Usage = field(default_factory=Usage)


class LikelihoodModel(Protocol):
    """What some models can do besides answering; one that has no `scores` cannot."""

    @property
    def scores(self) -> bool:
        """Whether this one can."""

    def likelihood(
        self, messages: Sequence[Message], answer: str, *, timeout: float = 120.0
    ) -> Likelihood | None:
        """How likely the answer is as the next message; None where that cannot be said.

        The text is taken as it stands, and the end of the message is not counted. Raises
        `BadInput` for an empty one, `ExternalError` where the model does not answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchResult:
    """What a search gave: candidates best first, and how they were found.

    `state_root`: of what the caller may read, in the very state that was searched. `exact`:
    whether every row was compared; where not, `index` says by which indexes some were chosen.
    `notes`: what stood between the search and these candidates, and what could not be done.
    """

    candidates: tuple[Candidate, ...]
    badge: Literal["hybrid", "vector_only"]
    lexical_matches: int
    exact: bool = True
    index: str = ""
    state_root: str = ""
    notes: tuple[tuple[str, int | float | str], ...] = ()

    def __repr__(self) -> str:
        """How many were found, and the best three: what a notebook shows too."""
        best = [f"{c.score:.4f} {c.chunk.source}: {c.text[:50]!r}" for c in self.candidates[:3]]
        many = f"{len(self.candidates)} candidates, {self.badge}"
        return "\n".join([f"<SearchResult: {many}>", *best])


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """How a cache does: answers since it was opened; entries and bytes where it knows them."""

    hits: int = 0
    misses: int = 0
    errors: int = 0
    entries: int | None = None
    bytes: int | None = None


class Cache(Protocol):
    """Keeps bytes under keys for a while. It may forget at any time, and never fails a caller."""

    def get(self, key: str) -> bytes | None:
        """What was put under the key, or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep it, best effort."""

    def stats(self) -> CacheStats:
        """Hits, misses and errors so far."""

    def close(self) -> None:
        """Let go of what it holds open."""


class Store(Protocol):
    """Documents and chunks, searchable; remembers token counts."""

    def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int] = (),
        *,
        fingerprint: str = "",
    ) -> None:
        """Replace one document and its chunks in one transaction.

        `counts`: tokens of each chunk, remembered under the tokenizer's `fingerprint`.
        """

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False if it was not there."""

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id."""

    def search(
        self,
        query: str,
        vector: Vector | None,
        *,
        limit: int = 100,
        depth: int = 50,
        principals: Iterable[str] = (),
        where: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """Vector and BM25 side by side (`depth` each), fused by RRF, the best `limit`."""

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of the (document id, sequence) places, in one round trip."""

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes."""

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort, never an error."""

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content: independent of insertion order, covers the embedder's name.

        With `principals`, of what they may read alone; None is the whole store.
        """

    def close(self) -> None:
        """Let go of files and connections."""


@runtime_checkable
class ListableStore(Protocol):
    """Shows a reader its documents, as the service does."""

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None if it is not there, or not all of it may be read."""

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
