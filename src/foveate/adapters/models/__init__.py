"""Models that answer, by name: one protocol a file, all behind the same limits (`spoken.py`)."""

from __future__ import annotations

from foveate.adapters.models.asked import Limits, Speaker
from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Model

NAMES = ("anthropic:MODEL", "gguf:FILE", "ollama:MODEL", "openai:MODEL")


def load(name: str, *, limits: Limits | None = None) -> Model:
    """The model of this name; nothing is asked of it yet.

    `openai:`, `ollama:` and `anthropic:` take `MODEL@http://HOST` for another address than the
    provider's; `gguf:` takes a file. Raises `UnknownName`, `BadOption` or `BadInput`; a package
    that is missing is `MissingExtra` when the model is first asked.

    >>> load("openai:qwen2.5@http://127.0.0.1:8000/v1").name
    'openai:qwen2.5@http://127.0.0.1:8000/v1'
    """
    from foveate.adapters.models.spoken import SpokenModel

    return SpokenModel(_speaker(name), limits)


def bare(name: str) -> str:
    """What the model registry calls it: without provider and address.

    >>> bare("openai:qwen2.5:3b@http://127.0.0.1:8000/v1"), bare("gpt-4o")
    ('qwen2.5:3b', 'gpt-4o')
    """
    from foveate.adapters.models.wire import split_name

    provider, _, rest = name.partition(":")
    known = {full.partition(":")[0] for full in NAMES}
    return split_name(rest)[0] if provider in known and rest else name


def _speaker(name: str) -> Speaker:
    provider, _, rest = name.partition(":")
    known = {full.partition(":")[0]: full for full in NAMES}
    if provider not in known:
        raise UnknownName("model", name.partition("@")[0], NAMES)  # a password may follow
    if not rest:
        raise BadOption(f"model {name!r}; write {known[provider]}")
    if provider == "gguf":
        from foveate.adapters.models.gguf import speaker_of

        return speaker_of(rest)
    from foveate.adapters.models.wire import split_name

    model, url = split_name(rest)
    if not model:
        raise BadOption(f"model {name!r}; write {known[provider]}, the address after it")
    if provider == "ollama":
        from foveate.adapters.models.ollama import OllamaSpeaker

        return OllamaSpeaker(model, url)
    if provider == "anthropic":
        from foveate.adapters.models.anthropic import AnthropicSpeaker

        return AnthropicSpeaker(model, url)
    from foveate.adapters.models.openai import OpenAISpeaker

    return OpenAISpeaker(model, url)
