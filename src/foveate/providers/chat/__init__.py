"""Models that answer, by name: one protocol a file, all behind the same limits (`chat_base.py`)."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Model

if TYPE_CHECKING:
    from foveate.providers.chat.http_provider import HttpProvider

NAMES = ("anthropic:MODEL", "gguf:FILE", "ollama:MODEL", "openai:MODEL")

_PROVIDERS_OF_MODELS = {"claude": "anthropic", "gpt": "openai"}
"""What the name of a hosted model begins with, and who runs it."""

_PLACES = {
    "anthropic": "anthropic:AnthropicProvider",
    "ollama": "ollama:OllamaProvider",
    "openai": "openai:OpenAIProvider",
}


def load_model(name: str) -> Model:
    """The model of this name; nothing is asked of it yet.

    `openai:`, `ollama:` and `anthropic:` take `MODEL@http://HOST` for another address than the
    provider's; `gguf:` takes a file. Raises `UnknownName`, `BadOption` or `BadInput`; a package
    that is missing is `MissingExtra` when the model is first asked.

    >>> load_model("openai:qwen2.5@http://127.0.0.1:8000/v1").name
    'openai:qwen2.5@http://127.0.0.1:8000/v1'
    """
    from foveate.providers.chat.chat_base import ChatModel

    return ChatModel(_load_provider(name))


def registry_name(name: str) -> str:
    """What the model registry calls it: without provider and address.

    >>> registry_name("openai:qwen2.5:3b@http://127.0.0.1:8000/v1"), registry_name("gpt-4o")
    ('qwen2.5:3b', 'gpt-4o')
    """
    from foveate.providers.chat.http_client import split_name

    provider, _, rest = name.partition(":")
    known = {full.partition(":")[0] for full in NAMES}
    return split_name(rest)[0] if provider in known and rest else name


def provider_name(name: str) -> str:
    """Who runs a model or an embedder, as OpenTelemetry's conventions name providers.

    >>> provider_name("anthropic:claude-sonnet-5"), provider_name("my own")
    ('anthropic', '_OTHER')
    """
    provider, colon, _ = name.partition(":")
    return provider if colon else "_OTHER"


def _load_provider(name: str) -> HttpProvider:
    provider, _, rest = name.partition(":")
    known = {full.partition(":")[0]: full for full in NAMES}
    if provider not in known:
        model = name.partition("@")[0]  # a password may follow
        runs = _PROVIDERS_OF_MODELS.get(model.partition("-")[0])
        raise UnknownName("model", model, NAMES, near=[f"{runs}:{model}"] if runs else ())
    if not rest:
        raise BadOption(f"model {name!r}; write {known[provider]}")
    if provider == "gguf":
        from foveate.providers.chat.gguf import get_provider

        return get_provider(rest)
    from foveate.providers.chat.http_client import split_name

    model, url = split_name(rest)
    if not model:
        raise BadOption(f"model {name!r}; write {known[provider]}, the address after it")
    made: HttpProvider = resolve_name(f"{__name__}.{_PLACES[provider]}")(model, url)
    return made
