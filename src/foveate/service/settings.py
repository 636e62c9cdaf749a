"""The operator's settings: from flags, the environment and a TOML file, in that order.

An environment variable is `FOVEATE_SERVE_` and the name in capitals; lists and tables are written
as JSON there. An unknown name is refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from foveate.core.errors import BadOption, UnknownName
from foveate.pipeline.text_files import read_toml_file
from foveate.service.auth.keys import KEY_FILE

PREFIX = "FOVEATE_SERVE_"
MEGABYTE = 1_000_000


class Settings(BaseSettings):
    """All of the service's settings; frozen, and handed on to every worker process."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8020, ge=0, le=65_535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(1, ge=1, le=256, description="Number of processes that share the port.")

    store: str = Field(
        ".foveate",
        description="URL of the store, '' for none; with {tenant} in it, each tenant has "
        "its own store.",
    )
    create: bool = Field(False, description="Create stores that do not exist.")
    embedder: str = Field("wordllama", description="Embedder of new stores, '' for none.")
    principals: tuple[str, ...] = Field(
        (), description="Principals of every caller if no keys are in use."
    )
    cache: str = Field(
        "memory:", description="Cache of contexts: memory: or a Redis URL; '' for none."
    )
    originals: str = Field(
        "memory:",
        description="File of the originals that expand reads; memory: keeps them in each process, "
        "so name a file for several workers.",
    )
    originals_bytes: int = Field(
        256 * MEGABYTE, ge=1_000, description="Size of all originals together, in bytes."
    )
    originals_days: float = Field(30.0, gt=0, description="Days that an original is kept.")
    images: str = Field(
        "",
        description="Folder for the images of uploaded files, '' for none; with {tenant} in it, "
        "each tenant has its own.",
    )
    open_stores: int = Field(64, ge=1, description="Number of stores kept open, one per tenant.")
    recipe: str = Field("default", description="Recipe for requests that name none.")
    models: dict[str, str] = Field(
        default_factory=dict,
        description="Models that requests may name, as a table of name to model (written "
        "as in `foveate ask`). The first is the default.",
    )
    windows: dict[str, int] = Field(
        default_factory=dict,
        description="Context windows of these models in tokens, where the registry is wrong.",
    )
    tokenizers: tuple[str, ...] = Field(
        (), description="Tokenizers that requests may name in addition to the built-in ones."
    )
    recipes: tuple[str, ...] = Field(
        (), description="TOML files with recipes that requests may name."
    )
    taxonomy: Path | None = Field(
        None, description="A TOML file of side knowledge; none if unset (docs/side-knowledge.md)."
    )
    reranker: str = Field(
        "", description="Reranker of search results before assembly, by its plugin's name."
    )
    compressor: str = Field(
        "",
        description="Model that writes shorter versions for recipes that ask for them, written "
        "as in `foveate ask`.",
    )
    languages: tuple[str, ...] = Field(
        ("de", "en", "es", "fr", "it", "nl", "pt"), description="Languages of the texts."
    )
    plugin_stages: bool = Field(
        False, description="Let inline recipes use stages and formats of other packages."
    )

    body_bytes: int = Field(16 * MEGABYTE, ge=1_000, description="Largest body.")
    candidates: int = Field(10_000, ge=1, description="Most candidates of a request.")
    threads: int = Field(1, ge=1, le=64, description="Requests that compute at once, a process.")
    waiting: int = Field(32, ge=0, description="Requests that wait for one of these.")
    writers: int = Field(4, ge=2, le=64, description="Tenants that write at once, a process.")
    asking: int = Field(32, ge=1, description="Answers that each model writes at once, a process.")
    seconds: float = Field(30.0, gt=0, description="Longest time for one request.")
    answer_seconds: float = Field(120.0, gt=0, description="Longest time for a model's answer.")
    grace: float = Field(60.0, ge=0, description="Seconds to finish open requests after SIGTERM.")

    keys: Path = Field(KEY_FILE, description="File of API keys; see `foveate keys`.")
    hosts: tuple[str, ...] = Field(
        (), description="Additional host names that the service answers to."
    )
    origins: tuple[str, ...] = Field(
        (),
        description="Origins whose pages may send requests (CORS), such as "
        "https://app.example.com.",
    )
    rate: str = Field(
        "6000/minute", description="Rate limit of each key in each process; '' for no limit."
    )
    key_requests: int = Field(
        64, ge=1, description="Concurrent requests of one key in each process."
    )
    requests: int = Field(
        256, ge=1, description="Concurrent requests of all callers in each process."
    )
    bodies_bytes: int = Field(
        128 * MEGABYTE,
        ge=1_000,
        description="Size of all request bodies together in each process, in bytes.",
    )
    body_seconds: float = Field(
        30.0, gt=0, description="Time limit for receiving a body, in seconds."
    )
    header_bytes: int = Field(
        16_384, ge=1_024, description="Largest size of headers and URL in bytes."
    )
    mcp: bool = Field(True, description="Serve the tools for agents at /mcp.")
    mcp_budget: int = Field(4_000, ge=1, description="Default token budget of a tool call.")
    mcp_most: int = Field(32_000, ge=1, description="Largest token budget of a tool call.")
    log_format: Literal["auto", "json", "plain"] = Field(
        "auto", description="Format of log lines; auto: plain on a terminal, JSON otherwise."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Lowest level that is logged; requests are INFO."
    )
    log_content: bool = Field(
        False, description="Include questions, contexts and answers in logs and traces."
    )
    log_audit: bool = Field(
        False, description="Also log who read which state of the store: key, tenant and hashes."
    )
    otlp: str = Field(
        "",
        description="URL of the trace collector, such as http://collector:4318; if unset, "
        "the OTEL_ variables apply.",
    )

    size: int = Field(350, ge=16, description="Largest size of a chunk in tokens.")
    overlap: int = Field(70, ge=0, description="Tokens that a chunk repeats of the one before.")
    chunks: int = Field(20_000, ge=1, description="Largest number of chunks of a document.")
    questions: bool = Field(True, description="Also index chunks by the questions they answer.")
    summaries: bool = Field(False, description="Give each document a summary of its own sentences.")

    @property
    def has_tenant_stores(self) -> bool:
        """Whether each tenant has a store of its own."""
        return "{tenant}" in self.store


def load_settings(path: str | Path | None = None, **given: Any) -> Settings:
    """The settings of a file, overridden by the environment, overridden by `given`.

    Raises `BadInput` for the file, `UnknownName` and `BadOption` for its contents.
    """
    values = read_toml_file(Path(path)) if path is not None else {}
    _refuse_unknown(values)
    _refuse_unknown(
        name.removeprefix(PREFIX).lower() for name in os.environ if name.startswith(PREFIX)
    )
    try:
        environment = EnvSettingsSource(Settings)()
        return Settings(**{**values, **environment, **given})
    except ValidationError as error:
        raise BadOption(f"settings: {_validation_message(error)}") from None
    except ValueError as error:  # a list in the environment that is no JSON
        raise BadOption(f"settings: {error}; lists and tables are written as JSON") from None


def describe_settings() -> Mapping[str, tuple[str, str]]:
    """The default of each setting, as in TOML, and its description."""
    fields = Settings.model_fields
    return {name: (_format_toml(f.get_default(call_default_factory=True)), f.description or "")
            for name, f in fields.items()}  # fmt: skip


def _refuse_unknown(names: Any) -> None:
    for name in names:
        if name not in Settings.model_fields:
            raise UnknownName("setting", name, Settings.model_fields)


def _validation_message(error: ValidationError) -> str:
    """Each wrong setting and its error, without the value, which may be a password."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _format_toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_format_toml, value))}]"
    return str(value) if value != {} else "{}"
