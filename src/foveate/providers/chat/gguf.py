"""A model file on this machine, run in this process by xllamacpp: `gguf:/path/to/file.gguf`.

It is asked over the engine's own port, in OpenAI's protocol. `FOVEATE_MODEL_THREADS`: threads, by
default half of the processors.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from foveate.core.errors import BadInput, MissingExtra
from foveate.ports import Reply, Usage
from foveate.providers.chat.engine import count_tokens, measure_template, start_engine
from foveate.providers.chat.http_client import ProviderError, external_error
from foveate.providers.chat.openai import OPENAI, OpenAIProvider
from foveate.providers.chat.request import ChatRequest

T = TypeVar("T")
CONTEXT_TOKENS = 8192
"""Tokens of prompt and answer; what they need in memory grows with it."""


class GgufProvider(OpenAIProvider):
    """The weights are read when the first answer is asked for, and kept."""

    vendor = replace(OPENAI, name="gguf", home="", takes=frozenset())

    def __init__(self, path: str, *, window: int = CONTEXT_TOKENS) -> None:
        super().__init__(path)
        if not Path(path).is_file():
            raise BadInput(f"model {self.name}: no such file")
        self._path, self._window = path, window
        self._has_own_url = self.scores = True
        self._server: Any = None
        self._key = secrets.token_hex()
        self._lock = Lock()

    def key(self) -> str:
        """The key that locks the engine's port."""
        return self._key

    def check(self) -> None:
        """The engine's package, and the client's."""
        for package in ("xllamacpp", "openai"):
            if find_spec(package) is None:
                raise MissingExtra(package, "gguf")

    def load(self) -> None:
        """Load engine and weights outside the time limit, since they block Python."""
        self._call_engine(lambda _: None)

    def count(self, text: str) -> int:
        """Tokens of a text by itself; raises `ExternalError`."""
        return self._call_engine(lambda address: count_tokens(address, self._key, text))

    def measure_template(self) -> tuple[int, int]:
        """Tokens that its chat template adds to a message and a request; raises `ExternalError`."""
        return self._call_engine(lambda address: measure_template(address, self._key))

    def fingerprint(self) -> str:
        """Of the file's bytes: its vocabulary is in it."""
        return file_fingerprint(self._path)

    def _call_engine(self, question: Callable[[str], T]) -> T:
        try:
            with self._lock:
                if self._server is None:
                    self._server = start_engine(self._path, self._window, self._key)
                address = self._server.listening_address
            self._url = f"{address}/v1"
            return question(address)
        except ProviderError as error:
            trouble = error
        raise external_error(self.name, "", trouble)

    def _default_url(self) -> str:
        return ""

    @asynccontextmanager
    async def _connect(self, key: str, options: dict[str, Any]) -> AsyncGenerator[Any, None]:
        """Past whatever proxy is set."""
        async with super()._connect(key, {**options, "trust_env": False}) as client:
            yield client

    def _options(self, asked: ChatRequest) -> dict[str, Any]:
        """Signs of life also while it reads, so that it notices when its reader is gone."""
        return {**super()._options(asked), "extra_body": {"return_progress": True}}

    def _reply(self, texts: list[str], finish: str, usage: Usage, model: str, **more: Any) -> Reply:
        return super()._reply(texts, finish, usage, self.name, **more)


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
