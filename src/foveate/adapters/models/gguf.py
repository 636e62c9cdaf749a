"""A model file on this machine: `gguf:/path/to/file.gguf`, run in this process by llama.cpp.

The engine is xllamacpp. It also opens a port on this machine, which cannot be closed; nobody who
does not know the key drawn at random for it gets an answer there. One thread runs well beside
other work: `FOVEATE_MODEL_THREADS` says how many, by default half of the processors.
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
from threading import Lock
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from foveate.adapters.models.asked import Asked, Scored
from foveate.adapters.models.engine import served
from foveate.adapters.models.forced import forced_by, logprobs_of, tokens_of
from foveate.adapters.models.framed import count_of, frame_of
from foveate.adapters.models.trouble import Trouble, cut_off, failure
from foveate.core.errors import BadInput, MissingExtra
from foveate.ports import Reply, Usage

T = TypeVar("T")
_FINISH: dict[str, Literal["stop", "length"]] = {"stop": "stop", "length": "length"}
WINDOW = 8192
"""Tokens of prompt and answer; what they need in memory grows with it."""


class GgufSpeaker:
    """The weights are read when the first answer is asked for, and kept."""

    def __init__(self, path: str, *, window: int = WINDOW) -> None:
        if not Path(path).is_file():
            raise BadInput(f"model gguf:{path}: no such file")
        self._path = path
        self._window = window
        self._server: Any = None
        self._key = secrets.token_hex()
        self._lock = Lock()

    @property
    def name(self) -> str:
        """`gguf:` and the file."""
        return f"gguf:{self._path}"

    @property
    def where(self) -> str:
        """Here."""
        return ""

    @property
    def at_home(self) -> bool:
        """No: nobody publishes what it costs."""
        return False

    @property
    def takes(self) -> frozenset[str]:
        """None: a message is a text."""
        return frozenset()

    @property
    def scores(self) -> bool:
        """Yes: it writes the tokens that it is told to."""
        return True

    def key(self) -> str:
        """None: nothing is sent anywhere."""
        return ""

    def check(self) -> None:
        """The engine's package."""
        if find_spec("xllamacpp") is None:
            raise MissingExtra("xllamacpp", "gguf")

    def ready(self) -> None:
        """Engine and weights, outside the time limit: Python stands still while they load."""
        try:
            self._loaded()
        except Trouble as error:
            trouble = error
        else:
            return
        raise failure(self.name, "", trouble)

    async def speak(self, asked: Asked) -> AsyncGenerator[str | Reply, None]:
        """One attempt; the engine runs on a worker thread and soon stops where it is told to."""
        loop = asyncio.get_running_loop()
        box: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        told = _Told()

        def hand(item: Mapping[str, Any] | None) -> None:
            loop.call_soon_threadsafe(box.put_nowait, item)

        work = loop.run_in_executor(None, self._run, asked, hand, told)
        try:
            async with aclosing(_pieces(box, self.name, scored=bool(asked.forced))) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            told.stop = True
            work.add_done_callback(_heard)

    def _run(self, asked: Asked, hand: Any, told: _Told) -> None:
        try:
            server = self._loaded()
            options = self._forced(server, asked.forced) if asked.forced else {}
            if options is None:
                hand({"choices": [{"finish_reason": "other"}]})
            elif not told.stop:
                request = json.dumps(_request(asked) | options)
                server.handle_chat_completions(request, partial(_hand, hand, told))
        except Trouble as trouble:
            hand({"trouble": trouble})
        except Exception as error:  # noqa: BLE001  # it must reach the one who waits
            hand({"trouble": Trouble(f"failed: {type(error).__name__}: {error}")})
        finally:
            hand(None)

    def count(self, text: str) -> int:
        """Tokens of a text that stands for itself; raises `OutsideFailure`."""
        return self._ask(lambda server: count_of(server.listening_address, self._key, text))

    def frame(self) -> tuple[int, int]:
        """What its chat template adds to a message, and to a request; raises `OutsideFailure`."""
        return self._ask(lambda server: frame_of(server.listening_address, self._key))

    def fingerprint(self) -> str:
        """Of the file's bytes: its vocabulary is in it."""
        return print_of(self._path)

    def _ask(self, question: Callable[[Any], T]) -> T:
        try:
            return question(self._loaded())
        except Trouble as error:
            trouble = error
        raise failure(self.name, "", trouble)

    def _forced(self, server: Any, text: str) -> dict[str, Any] | None:
        """Options under which this text is written; None where its tokens cannot be forced."""
        tokens = tokens_of(server.listening_address, self._key, text)
        return None if tokens is None else forced_by(tokens)

    def _loaded(self) -> Any:
        with self._lock:
            if self._server is None:
                self._server = served(self._path, self._window, self._key)
            return self._server


class _Told:
    """Whether the engine should stop."""

    stop = False


def _hand(hand: Any, told: _Told, item: Any) -> bool:
    hand(json.loads(item) if isinstance(item, str | bytes) else item)
    return told.stop


def _heard(work: asyncio.Future[None]) -> None:
    """What it raised after all was given up concerns nobody."""
    if not work.cancelled():
        work.exception()


def _request(asked: Asked) -> dict[str, Any]:
    return {
        "messages": list(asked.messages),
        "max_tokens": asked.max_tokens,
        "temperature": asked.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # also while it reads, so that it can be told to stop
        **({"stop": list(asked.stop)} if asked.stop else {}),
    }


async def _pieces(
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
            raise Trouble(f"refused: {why}; give it less to read")
        if item.get("usage"):
            usage = _usage(item["usage"])
        for choice in item.get("choices", ()):
            text = choice.get("delta", {}).get("content") or ""
            finish = choice.get("finish_reason") or finish
            said += [text] if text else []
            logprobs += logprobs_of(choice)
            yield text
    if not finish:
        raise cut_off()
    text = "".join(said)
    reply = Reply(text=text, finish=_FINISH.get(finish, "other"), usage=usage, model=model)
    if not scored:
        yield reply
        return
    if len(logprobs) != (usage.completion or 0):
        raise Trouble(f"gave {len(logprobs)} log-probabilities for {usage.completion} tokens")
    yield Scored(text=text, finish=reply.finish, usage=usage, model=model, logprobs=tuple(logprobs))


def _usage(said: Mapping[str, Any]) -> Usage:
    return Usage(
        prompt=said.get("prompt_tokens"),
        completion=said.get("completion_tokens"),
        cached=(said.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


_SPEAKERS: WeakValueDictionary[str, GgufSpeaker] = WeakValueDictionary()
_MAKING = Lock()


def speaker_of(path: str) -> GgufSpeaker:
    """One for a file, as long as anybody has it: who counts and who answers share the weights."""
    with _MAKING:
        found = _SPEAKERS.get(path)
        if found is None:
            found = _SPEAKERS[path] = GgufSpeaker(path)
        return found


def print_of(path: str) -> str:
    """The hash of a file, taken again when it was replaced."""
    stat = Path(path).stat()
    return _hashed(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _hashed(path: str, _changed: int, _size: int) -> str:
    from blake3 import blake3

    return f"gguf-1:{blake3(max_threads=blake3.AUTO).update_mmap(path).hexdigest(16)}"
