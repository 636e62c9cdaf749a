"""Small stand-ins: a tokenizer one can count by eye, a model that says what it is told to say.

No mocks: everything here keeps the contracts of the real thing. Words are tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.core.contracts import Tokenizer
from foveate.core.request import Request
from foveate.core.token_counter import TokenCounter
from foveate.core.types import BlockPosition, Candidate, Chunk, Origin
from foveate.core.zones import Budget
from foveate.ports import Message, Reply, Usage, text_from_content
from foveate.providers.chat.request import check_request


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTokenizer:
    """One token a word, words being what white space separates.

    >>> WordTokenizer().count("two words"), WordTokenizer().truncate("one two three", 2)
    (2, 'one two')
    """

    name: str = "words"
    fingerprint: str = "words-1"

    def count(self, text: str) -> int:
        """Number of words."""
        return len(text.split())

    def truncate(self, text: str, n: int) -> str:
        """The text up to the end of its nth word."""
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        return text if len(ends) <= n else text[: ends[n - 1] if n > 0 else 0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedModel:
    """A model that says what `says` makes of the messages; words are its tokens.

    >>> model = ScriptedModel(says=lambda messages: str(messages[-1]["content"]).upper())
    >>> reply = model.complete([{"role": "user", "content": "nine metres deep"}], max_tokens=2)
    >>> reply.text, reply.finish, reply.usage.completion
    ('NINE METRES', 'length', 2)
    """

    says: Callable[[Sequence[Message]], str]
    name: str = "told"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> Reply:
        """Up to `max_tokens` words of it, and nothing from the first of `stop` on."""
        check_request(messages, max_tokens, temperature, timeout)
        said = self.says(messages)
        ends = [at for mark in stop if (at := said.find(mark)) >= 0]
        said = said[: min(ends)] if ends else said
        words = WordTokenizer()
        text = words.truncate(said, max_tokens)
        read = sum(words.count(text_from_content(message["content"])) for message in messages)
        return Reply(
            text=text,
            finish="stop" if text == said else "length",
            usage=Usage(prompt=read, completion=words.count(text)),
            model=self.name,
        )

    def stream(self, messages: Sequence[Message], **options: Any) -> Iterator[str | Reply]:
        """Word by word, then the reply; `options` as of `complete`."""
        reply = self.complete(messages, **options)
        yield from re.findall(r"\S+\s*|\s+", reply.text)
        yield reply


def identity_body(text: str) -> str:
    """A body that neutralises nothing."""
    return text


def no_header(candidate: Candidate, place: BlockPosition) -> str:
    """No header, no separator."""
    return ""


def request(
    query: str = "what fits?",
    *,
    budget: Budget | int = 1_000,
    tokenizer: Tokenizer | None = None,
    body: Callable[[str], str] = identity_body,
    frame: Callable[[Candidate, BlockPosition], str] = no_header,
    **fields: Any,
) -> Request:
    """A request that needs nothing from outside; an integer budget is tokens for documents.

    `fields`: others of `Request`.
    """
    if isinstance(budget, int):
        budget = Budget(documents=budget, window=None)
    counter = TokenCounter(tokenizer=tokenizer or WordTokenizer(), body=body, header=frame)
    return Request(query=query, budget=budget, token_counter=counter, **fields)


def candidate(
    text: str = "some text",
    score: float = 0.0,
    *,
    start: int | None = None,
    semantic_score: float | None = None,
    origin: Origin = "retrieved",
    **fields: Any,
) -> Candidate:
    """A candidate in one line; `end` follows from `start`. `fields`: others of its `Chunk`."""
    end = None if start is None else start + len(text)
    chunk = Chunk(text=text, start=start, end=end, **fields)
    return Candidate(chunk=chunk, score=score, semantic_score=semantic_score, origin=origin)
