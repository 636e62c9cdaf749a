"""llama.cpp in this process: the weights read, its port locked, and what the port is asked.

The port cannot be closed; nobody who does not know its key gets an answer there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from foveate.core.errors import BadOption, MissingExtra
from foveate.providers.chat.provider_error import (
    AttemptInfo,
    ProviderError,
    connection_error,
    protocol_error,
    status_error,
)

BATCH_TOKENS = 256
"""Tokens that are read between two looks at whether to stop."""
_TIMEOUT_SECONDS = 30.0
"""Seconds; the engine answers this at once, unless the machine stands still."""


def _thread_count() -> int:
    said = os.environ.get("FOVEATE_MODEL_THREADS", "")
    if said and not (said.isdecimal() and int(said) > 0):
        raise BadOption(f"FOVEATE_MODEL_THREADS is {said!r}; give a number of threads, 1 or more")
    return int(said) if said else max(1, (os.cpu_count() or 1) // 2)


def start_engine(path: str, window: int, key: str) -> Any:
    """The engine with the weights; quiet, and its port locked with the key."""
    # Threads that wait would spin, and a busy machine of few cores comes to a crawl.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtra("xllamacpp", "gguf") from None
    options = xllamacpp.CommonParams()
    options.model.path = path
    options.n_ctx = window
    options.n_parallel = 1
    options.n_batch = options.n_ubatch = BATCH_TOKENS
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = _thread_count()
    options.warmup = False
    options.verbosity = -1
    options.api_keys = [key]
    try:
        return xllamacpp.Server(options)
    except Exception as error:  # noqa: BLE001  # the engine's errors have no common kind
        said = f"{type(error).__name__}: {error}"
    raise ProviderError(f"cannot be loaded ({said}); is it a GGUF file?")


def post_json(address: str, path: str, key: str, record: Mapping[str, Any]) -> Any:
    """What the engine's own port answers; on loopback, past whatever proxy is set."""
    place, seen = urlsplit(address), AttemptInfo()
    seen.secrets = (key,)
    door = HTTPConnection(place.hostname or "", place.port, timeout=_TIMEOUT_SECONDS)
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    try:
        door.request("POST", path, json.dumps(record), headers)
        answer = door.getresponse()
        said = answer.read()
    except (OSError, HTTPException) as error:
        raise connection_error(error, seen) from None
    finally:
        door.close()
    if answer.status != 200:
        raise status_error(answer.status, said.decode(errors="replace"), seen)
    try:
        return json.loads(said)
    except ValueError:
        raise protocol_error("said no JSON") from None
