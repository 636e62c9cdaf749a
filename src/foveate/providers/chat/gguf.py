"""A model file on this machine, run in this process by xllamacpp: `gguf:/path/to/file.gguf`.

`FOVEATE_MODEL_THREADS`: threads, by default half of the processors.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from foveate.core.errors import BadInput, MissingExtra
from foveate.ports import Reply, Usage
from foveate.providers.chat.engine import (
    count_tokens,
    fetch_tokens,
    forcing_options,
    measure_template,
    parse_logprobs,
    start_engine,
)
from foveate.providers.chat.http_client import ProviderError, external_error, truncated_error
from foveate.providers.chat.request import ChatProvider, ChatRequest, ScoredReply

T = TypeVar("T")
_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}
CONTEXT_TOKENS = 8192
"""Tokens of prompt and answer; what they need in memory grows with it."""


class GgufProvider(ChatProvider):
    """The weights are read when the first answer is asked for, and kept."""

    scores = True

    def __init__(self, path: str, *, window: int = CONTEXT_TOKENS) -> None:
        if not Path(path).is_file():
            raise BadInput(f"model gguf:{path}: no such file")
        self.name = f"gguf:{path}"
        self._path = path
        self._window = window
        self._server: Any = None
        self._key = secrets.token_hex()
        self._lock = Lock()

    def check(self) -> None:
        """The engine's package."""
        if find_spec("xllamacpp") is None:
            raise MissingExtra("xllamacpp", "gguf")

    def load(self) -> None:
        """Load engine and weights outside the time limit, since they block Python."""
        self._call_engine(lambda _: None)

    async def stream_attempt(self, asked: ChatRequest) -> AsyncGenerator[str | Reply, None]:
        """One attempt; the engine runs on a worker thread and stops soon after its reader."""
        loop = asyncio.get_running_loop()
        box: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        stop = Event()

        def hand(item: Mapping[str, Any] | None) -> None:
            loop.call_soon_threadsafe(box.put_nowait, item)

        work = loop.run_in_executor(None, self._run, asked, hand, stop)
        try:
            async with aclosing(
                _stream_pieces(box, self.name, scored=bool(asked.forced))
            ) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            stop.set()
            work.add_done_callback(_ignore_outcome)

    def _run(self, asked: ChatRequest, hand: Any, stop: Event) -> None:
        try:
            server = self._load_engine()
            options = self._forcing_options(server, asked.forced) if asked.forced else {}
            if options is None:
                hand({"choices": [{"finish_reason": "other"}]})
            elif not stop.is_set():
                request = json.dumps(_build_request(asked) | options)
                server.handle_chat_completions(request, partial(_deliver, hand, stop))
        except ProviderError as trouble:
            hand({"trouble": trouble})
        except Exception as error:  # noqa: BLE001  # it must reach the one who waits
            hand({"trouble": ProviderError(f"failed: {type(error).__name__}: {error}")})
        finally:
            hand(None)

    def count(self, text: str) -> int:
        """Tokens of a text by itself; raises `ExternalError`."""
        return self._call_engine(
            lambda server: count_tokens(server.listening_address, self._key, text)
        )

    def measure_template(self) -> tuple[int, int]:
        """Tokens that its chat template adds to a message and a request; raises `ExternalError`."""
        return self._call_engine(
            lambda server: measure_template(server.listening_address, self._key)
        )

    def fingerprint(self) -> str:
        """Of the file's bytes: its vocabulary is in it."""
        return file_fingerprint(self._path)

    def _call_engine(self, question: Callable[[Any], T]) -> T:
        try:
            return question(self._load_engine())
        except ProviderError as error:
            trouble = error
        raise external_error(self.name, "", trouble)

    def _forcing_options(self, server: Any, text: str) -> dict[str, Any] | None:
        """Options under which this text is written; None where its tokens cannot be forced."""
        tokens = fetch_tokens(server.listening_address, self._key, text)
        return None if tokens is None else forcing_options(tokens)

    def _load_engine(self) -> Any:
        with self._lock:
            if self._server is None:
                self._server = start_engine(self._path, self._window, self._key)
            return self._server


def _deliver(hand: Any, stop: Event, item: Any) -> bool:
    hand(json.loads(item) if isinstance(item, str | bytes) else item)
    return stop.is_set()


def _ignore_outcome(work: asyncio.Future[None]) -> None:
    """Ignore an error that was raised after the attempt was cancelled."""
    if not work.cancelled():
        work.exception()


def _build_request(asked: ChatRequest) -> dict[str, Any]:
    return {
        "messages": list(asked.messages),
        "max_tokens": asked.max_tokens,
        "temperature": asked.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # also while it reads, so that it can be told to stop
        **({"stop": list(asked.stop)} if asked.stop else {}),
    }


async def _stream_pieces(
    box: asyncio.Queue[Mapping[str, Any] | None], model: str, *, scored: bool
) -> AsyncGenerator[str | Reply, None]:
    said: list[str] = []
    logprobs: list[float] = []
    finish, usage = "", Usage()
    while (item := await box.get()) is not None:
        if "trouble" in item:
            raise item["trouble"]
        if "error" in item:
            why = item["error"].get("message", item["error"])
            raise ProviderError(f"refused: {why}; give it less to read")
        if item.get("usage"):
            usage = _parse_usage(item["usage"])
        for choice in item.get("choices", ()):
            text = choice.get("delta", {}).get("content") or ""
            finish = choice.get("finish_reason") or finish
            said += [text] if text else []
            logprobs += parse_logprobs(choice)
            yield text
    if not finish:
        raise truncated_error()
    text = "".join(said)
    reply = Reply(text=text, finish=_FINISH.get(finish, "other"), usage=usage, model=model)
    if not scored:
        yield reply
        return
    if len(logprobs) != (usage.completion or 0):
        raise ProviderError(f"gave {len(logprobs)} log-probabilities for {usage.completion} tokens")
    yield ScoredReply(
        text=text, finish=reply.finish, usage=usage, model=model, logprobs=tuple(logprobs)
    )


def _parse_usage(said: Mapping[str, Any]) -> Usage:
    return Usage(
        prompt=said.get("prompt_tokens"),
        completion=said.get("completion_tokens"),
        cached=(said.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


_PROVIDERS: WeakValueDictionary[str, GgufProvider] = WeakValueDictionary()
_PROVIDERS_LOCK = Lock()


def get_provider(path: str) -> GgufProvider:
    """One for a file, as long as anybody has it: who counts and who answers share the weights."""
    with _PROVIDERS_LOCK:
        found = _PROVIDERS.get(path)
        if found is None:
            found = _PROVIDERS[path] = GgufProvider(path)
        return found


def file_fingerprint(path: str) -> str:
    """The hash of a file, taken again when it was replaced."""
    stat = Path(path).stat()
    return _hash_file(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _hash_file(path: str, _changed: int, _size: int) -> str:
    from blake3 import blake3

    return f"gguf-1:{blake3(max_threads=blake3.AUTO).update_mmap(path).hexdigest(16)}"
