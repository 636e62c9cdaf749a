"""A chat model over any provider: sync and async calls, time limits, attempts, and answer sizes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from random import uniform
from statistics import fmean
from threading import Thread
from time import monotonic
from typing import Any, TypedDict, TypeVar, Unpack

from foveate.core.errors import BadInput, ExternalError
from foveate.ports import Likelihood, Message, Reply
from foveate.providers.chat.http_client import ProviderError, external_error
from foveate.providers.chat.http_provider import HttpProvider
from foveate.providers.chat.request import (
    ChatRequest,
    ScoredReply,
    adapt_messages,
    check_request,
)

T = TypeVar("T")

RETRIES = 3
BACKOFF_SECONDS = 0.5
"""The longest wait before the second attempt, doubled each time; the wait is random."""
GRACE_SECONDS = 0.5
"""Seconds after which a limit that the iterator should have kept itself is kept for it."""


def iterate_in_thread(make: Callable[[], AsyncIterator[T]], timeout: float) -> Iterator[T]:
    """The items in this thread; `TimeoutError` if it hangs, cancelled if the reader stops early."""
    box: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    async def main() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        running.append((loop, task))
        loop.set_exception_handler(lambda *_: None)  # errors of a client's cleanup are not logged
        end: BaseException = StopAsyncIteration()
        try:
            async for item in make():
                box.put((item, None))
        except BaseException as error:  # noqa: BLE001  # raised again in the reader's thread
            end = error
        # Before the loop is closed: that waits for threads, such as a name being looked up.
        box.put((None, end))

    work = partial(copy_context().run, lambda: asyncio.run(main()))
    Thread(target=work, daemon=True, name="foveate-model").start()
    limit = monotonic() + timeout + GRACE_SECONDS
    try:
        while True:
            try:
                item, end = box.get(timeout=max(GRACE_SECONDS, limit - monotonic()))
            except Empty:
                raise TimeoutError from None
            if isinstance(end, StopAsyncIteration):
                return
            if end is not None:
                raise end
            yield item
    finally:
        for loop, task in running:
            with suppress(RuntimeError):  # the loop is closed: it came to its end
                loop.call_soon_threadsafe(task.cancel)


_CLOSE_SECONDS = 1.0
"""Seconds for closing a connection that is no longer wanted."""


_TRIAL_MESSAGES: tuple[Message, ...] = ({"role": "user", "content": "Say yes."},)


class CallOptions(TypedDict, total=False):
    """The options of `foveate.ports.Model`, with the same defaults (1024, 0.0, none, 120.0)."""

    max_tokens: int
    temperature: float
    stop: Sequence[str]
    timeout: float


class ChatModel:
    """A model that is asked over one protocol; sync, and without blocking the event loop."""

    def __init__(self, provider: HttpProvider) -> None:
        self._provider = provider

    def __repr__(self) -> str:
        return f"ChatModel({self.name!r})"

    @property
    def name(self) -> str:
        """Provider and model, as one types them."""
        return self._provider.name

    @property
    def at_home(self) -> bool:
        """Whether it is asked at its provider's own address, where list prices hold."""
        return self._provider.at_home

    @property
    def takes(self) -> frozenset[str]:
        """The types of content parts that messages may have."""
        return self._provider.takes

    def check(self) -> None:
        """Raise `ExternalError` for a missing package or key, before any request."""
        self._provider.check()

    def complete(self, messages: Sequence[Message], **options: Unpack[CallOptions]) -> Reply:
        """The whole answer; raises `ExternalError`."""
        asked = self._build_request(messages, **options)
        *_, reply = self._iterate_sync(asked, whole=True)
        assert isinstance(reply, Reply)
        return reply

    def stream(
        self, messages: Sequence[Message], **options: Unpack[CallOptions]
    ) -> Iterator[str | Reply]:
        """The answer in pieces, the `Reply` last; raises `ExternalError`, also midway."""
        asked = self._build_request(messages, **options)
        return self._iterate_sync(asked, whole=False)

    @property
    def scores(self) -> bool:
        """Whether it says how likely a given answer is; may do so, before `find_out` has asked."""
        return self._provider.scores is not False

    def find_out(self, *, timeout: float = 120.0) -> None:
        """Ask it whether it says how likely a text is, where only asking tells."""
        if self._provider.scores is None:
            self.likelihood(_TRIAL_MESSAGES, "yes", timeout=timeout)

    def likelihood(
        self, messages: Sequence[Message], answer: str, *, timeout: float = 120.0
    ) -> Likelihood | None:
        """How likely the answer is as the next message; None where this model does not say."""
        if not answer:
            raise BadInput("is empty; give the text whose probability is asked for", field="answer")
        if self._provider.scores is False:
            return None
        asked = self._build_request(messages, max_tokens=len(answer.encode()), timeout=timeout)
        *_, found = self._iterate_sync(replace(asked, forced=answer), whole=True)
        assert isinstance(found, ScoredReply)
        if not found.logprobs:
            return None
        return Likelihood(
            mean=min(0.0, fmean(found.logprobs)), tokens=len(found.logprobs), usage=found.usage
        )

    def astream(
        self, messages: Sequence[Message], **options: Unpack[CallOptions]
    ) -> AsyncIterator[str | Reply]:
        """`stream` without blocking the event loop."""
        asked = self._build_request(messages, **options)
        return self._attempts(asked, whole=False)

    def _build_request(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        timeout: float = 120.0,
    ) -> ChatRequest:
        check_request(messages, max_tokens, temperature, timeout)
        self._provider.check()
        self._provider.load()
        return ChatRequest(
            messages=adapt_messages(messages, self._provider.takes),
            max_tokens=max_tokens,
            temperature=temperature,
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            timeout=timeout,
        )

    def _iterate_sync(self, asked: ChatRequest, *, whole: bool) -> Iterator[str | Reply]:
        attempts = partial(self._attempts, asked, whole=whole)
        try:
            yield from iterate_in_thread(attempts, asked.timeout)
            return
        except TimeoutError:
            failure = _timeout_error(asked.timeout)
        raise self._external_error(failure)

    async def _attempts(self, asked: ChatRequest, *, whole: bool) -> AsyncIterator[str | Reply]:
        """One attempt after another until there is an answer; `whole`: the `Reply` alone."""
        now = asyncio.get_running_loop().time
        end = now() + asked.timeout
        attempt = 0
        while True:
            handed, pieces = False, self._provider.stream_attempt(asked)
            try:
                async with aclosing(self._enforce_limits(pieces, asked, end)) as found:
                    async for piece in found:
                        if isinstance(piece, Reply) or (piece and not whole):
                            handed = True
                            yield piece
                return
            except ProviderError as error:
                failure = error
            finally:
                await _close_quietly(pieces)
            wait = max(failure.after, uniform(0, BACKOFF_SECONDS * 2**attempt))  # noqa: S311
            attempt += 1
            if handed or not failure.again or attempt > RETRIES:
                break
            if now() + wait >= end:
                asks = f"it asks to wait {failure.after:.0f} s, " if failure.after >= 1 else ""
                failure = ProviderError(
                    f"{failure.why} ({asks}no time is left for another attempt)"
                )
                break
            await asyncio.sleep(wait)
        raise self._external_error(failure, attempt)

    async def _enforce_limits(
        self, pieces: AsyncGenerator[str | Reply, None], asked: ChatRequest, end: float
    ) -> AsyncGenerator[str | Reply, None]:
        """The pieces, each within the time that is left, all of them within the size."""
        length = 0
        while True:
            try:
                async with asyncio.timeout_at(end):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise _timeout_error(asked.timeout) from None
            length += len(piece) if isinstance(piece, str) else 0
            if length > asked.max_characters:
                raise ProviderError(
                    f"wrote more than {asked.max_tokens} tokens can hold; is it a model?"
                )
            yield piece

    def _external_error(self, failure: ProviderError, attempts: int = 1) -> ExternalError:
        if attempts > 1:
            failure = ProviderError(f"{failure.why} ({attempts} attempts)")
        return external_error(self.name, self._provider.address, failure, self._provider.key())


async def _close_quietly(pieces: AsyncGenerator[str | Reply, None]) -> None:
    """Close the connection and ignore errors."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await pieces.aclose()
    except Exception:  # noqa: BLE001, S110
        pass


def _timeout_error(timeout: float) -> ProviderError:
    return ProviderError(f"did not finish within {timeout:g} s; give it more time, or ask for less")
