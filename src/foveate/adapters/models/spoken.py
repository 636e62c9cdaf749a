"""A protocol behind the port: time limits, attempts, the key kept out of what is said.

Rules: no call takes longer than its `timeout`, whatever the other side does; an attempt is made
again only while nothing of the answer was handed over, and only if the time that is left allows;
an answer that is far longer than was asked for is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from random import uniform
from statistics import fmean

from foveate.adapters.models.asked import Asked, Limits, Scored, Speaker, check_asked, taken
from foveate.adapters.models.thread import pumped
from foveate.adapters.models.trouble import Trouble, failure
from foveate.core.errors import BadInput, OutsideFailure
from foveate.ports import Likelihood, Message, Reply

_CLOSING = 1.0
"""Seconds for closing a connection that is no longer wanted."""


_TRIAL: tuple[Message, ...] = ({"role": "user", "content": "Say yes."},)


class SpokenModel:
    """A model that is asked over one protocol; sync, and without blocking the event loop."""

    def __init__(self, speaker: Speaker, limits: Limits | None = None) -> None:
        self._speaker = speaker
        self._limits = limits or Limits()

    def __repr__(self) -> str:
        return f"SpokenModel({self.name!r})"

    @property
    def name(self) -> str:
        """Provider and model, as one types them."""
        return self._speaker.name

    @property
    def at_home(self) -> bool:
        """Whether it is asked at its provider's own address, where list prices hold."""
        return self._speaker.at_home

    @property
    def takes(self) -> frozenset[str]:
        """The types of content parts that messages may have."""
        return self._speaker.takes

    def check(self) -> None:
        """Raise `OutsideFailure` where it is known, before anything is asked, that nothing can be.

        A package that is not installed, a key that the provider wants and nobody has set.
        """
        self._speaker.check()

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> Reply:
        """The whole answer; raises `OutsideFailure`."""
        asked = self._asked(messages, max_tokens, temperature, stop, timeout)
        *_, reply = self._pumped(asked, timeout, whole=True)
        return _reply(reply)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> Iterator[str | Reply]:
        """The answer in pieces, the `Reply` last; raises `OutsideFailure`, also midway."""
        asked = self._asked(messages, max_tokens, temperature, stop, timeout)
        return self._pumped(asked, timeout, whole=False)

    @property
    def scores(self) -> bool:
        """Whether it says how likely a given answer is; may do so, before `find_out` has asked."""
        return self._speaker.scores is not False

    def find_out(self, *, timeout: float = 120.0) -> None:
        """Ask it whether it says how likely a text is, where only asking tells."""
        if self._speaker.scores is None:
            self.likelihood(_TRIAL, "yes", timeout=timeout)

    def likelihood(
        self, messages: Sequence[Message], answer: str, *, timeout: float = 120.0
    ) -> Likelihood | None:
        """How likely the answer is as the next message; None where this model does not say."""
        if not answer:
            raise BadInput("is empty; give the text whose probability is asked for", field="answer")
        if self._speaker.scores is False:
            return None
        asked = self._asked(messages, len(answer.encode()), 0.0, (), timeout)
        *_, found = self._pumped(replace(asked, forced=answer), timeout, whole=True)
        assert isinstance(found, Scored)
        if not found.logprobs:
            return None
        return Likelihood(
            mean=min(0.0, fmean(found.logprobs)), tokens=len(found.logprobs), usage=found.usage
        )

    async def acomplete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,  # noqa: ASYNC109 (it bounds the attempts together)
    ) -> Reply:
        """`complete` without blocking the event loop."""
        asked = self._asked(messages, max_tokens, temperature, stop, timeout)
        found = [item async for item in self._attempts(asked, timeout, whole=True)]
        return _reply(found[-1])

    def astream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> AsyncIterator[str | Reply]:
        """`stream` without blocking the event loop."""
        asked = self._asked(messages, max_tokens, temperature, stop, timeout)
        return self._attempts(asked, timeout, whole=False)

    def _asked(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float,
        stop: Sequence[str],
        timeout: float,
    ) -> Asked:
        check_asked(messages, max_tokens, temperature, timeout)
        self._speaker.check()
        self._speaker.ready()
        return Asked(
            messages=taken(messages, self._speaker.takes),
            max_tokens=max_tokens,
            temperature=temperature,
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            connect=min(self._limits.connect, timeout),
        )

    def _pumped(self, asked: Asked, timeout: float, *, whole: bool) -> Iterator[str | Reply]:
        try:
            yield from pumped(lambda: self._attempts(asked, timeout, whole=whole), timeout)
            return
        except TimeoutError:
            trouble = _late(timeout)
        raise self._failure(trouble)

    async def _attempts(
        self,
        asked: Asked,
        timeout: float,  # noqa: ASYNC109
        *,
        whole: bool,
    ) -> AsyncIterator[str | Reply]:
        """One attempt after another until there is an answer; `whole`: the `Reply` alone."""
        now = asyncio.get_running_loop().time
        end = now() + timeout
        attempt = 0
        while True:
            handed, pieces = False, self._speaker.speak(asked)
            try:
                async with aclosing(self._within(pieces, asked, timeout, end)) as found:
                    async for piece in found:
                        if isinstance(piece, Reply) or (piece and not whole):
                            handed = True
                            yield piece
                return
            except Trouble as error:
                trouble = error
            finally:
                await _closed(pieces)
            wait = max(trouble.after, uniform(0, self._limits.backoff * 2**attempt))  # noqa: S311
            attempt += 1
            if handed or not trouble.again or attempt > self._limits.retries:
                break
            if now() + wait >= end:
                asks = f"it asks to wait {trouble.after:.0f} s, " if trouble.after >= 1 else ""
                trouble = Trouble(f"{trouble.why} ({asks}no time is left for another attempt)")
                break
            await asyncio.sleep(wait)
        raise self._failure(trouble, attempt)

    async def _within(
        self,
        pieces: AsyncGenerator[str | Reply, None],
        asked: Asked,
        timeout: float,  # noqa: ASYNC109
        end: float,
    ) -> AsyncGenerator[str | Reply, None]:
        """The pieces, each within the time that is left, all of them within the size."""
        patience = self._limits.first or timeout
        first = asyncio.get_running_loop().time() + patience
        length, begun = 0, False
        while True:
            limit = end if begun else min(end, first)
            late = _late(timeout) if begun or end <= first else _silent(patience)
            try:
                async with asyncio.timeout_at(limit):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise late from None
            begun = True
            length += len(piece) if isinstance(piece, str) else 0
            if length > asked.most:
                raise Trouble(f"wrote more than {asked.max_tokens} tokens can hold; is it a model?")
            yield piece

    def _failure(self, trouble: Trouble, attempts: int = 1) -> OutsideFailure:
        if attempts > 1:
            trouble = Trouble(f"{trouble.why} ({attempts} attempts)")
        return failure(self.name, self._speaker.where, trouble, self._speaker.key())


async def _closed(pieces: AsyncGenerator[str | Reply, None]) -> None:
    """Let go of the connection; what goes wrong now is nobody's concern."""
    try:
        async with asyncio.timeout(_CLOSING):
            await pieces.aclose()
    except Exception:  # noqa: BLE001, S110
        pass


def _reply(last: str | Reply) -> Reply:
    assert isinstance(last, Reply)
    return last


def _late(timeout: float) -> Trouble:
    return Trouble(f"did not finish within {timeout:g} s; give it more time, or ask for less")


def _silent(first: float) -> Trouble:
    return Trouble(f"did not begin to answer within {first:g} s; is it loading, or overloaded?")
