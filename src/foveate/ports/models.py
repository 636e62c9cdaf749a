"""Who reads: an embedder, a reranker, and a model that answers, with what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypedDict


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

    Both raise `OutsideFailure` where no answer can be had. `max_tokens` limits what is written,
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
        `BadInput` for an empty one, `OutsideFailure` where the model does not answer.
        """
