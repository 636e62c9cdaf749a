"""What an operator settles: from flags, from the environment, from a TOML file, in that order.

An environment variable is `FOVEATE_SERVE_` and the name in capitals; lists and tables are written
as JSON there. A name that does not exist is refused, wherever it stands.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from foveate.core.errors import BadInput, BadOption, UnknownName
from foveate.service.auth.keyfile import KEY_FILE

PREFIX = "FOVEATE_SERVE_"
MEGABYTE = 1_000_000


class Settings(BaseSettings):
    """All of the service's settings; frozen, and handed on to every worker process."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: int = Field(8020, ge=0, le=65_535, description="The port; 0 takes a free one.")
    workers: int = Field(1, ge=1, le=256, description="Processes that share the port.")

    store: str = Field(
        ".foveate",
        description="The store's URL, '' for none; {tenant} in it gives each tenant its own.",
    )
    create: bool = Field(True, description="Make a store that is not there yet.")
    embedder: str = Field("wordllama", description="What a store that is made gets, '' for none.")
    principals: tuple[str, ...] = Field((), description="Who asks where there are no keys.")
    cache: str = Field("memory:", description="Where contexts are kept, '' for nowhere.")
    open_stores: int = Field(64, ge=1, description="Stores held open, one for each tenant.")
    recipe: str = Field("default", description="The recipe of a request that names none.")
    models: dict[str, str] = Field(
        default_factory=dict,
        description="Models that answer: the name in requests → the model as `foveate ask` takes "
        "it. The first one is the default.",
    )
    windows: dict[str, int] = Field(
        default_factory=dict,
        description="Tokens that a model of these holds, where the registry is wrong about it.",
    )
    tokenizers: tuple[str, ...] = Field(
        (), description="Tokenizers that requests may name besides the built-in ones."
    )
    recipes: tuple[str, ...] = Field(
        (), description="TOML files of recipes that requests may name, by the names in them."
    )
    languages: tuple[str, ...] = Field(
        ("de", "en", "es", "fr", "it", "nl", "pt"), description="Languages of texts."
    )
    plugin_stages: bool = Field(
        False, description="Inline recipes may use stages and formats of other packages."
    )

    body_bytes: int = Field(16 * MEGABYTE, ge=1_000, description="Largest body, unpacked.")
    candidates: int = Field(10_000, ge=1, description="Most candidates of a request.")
    threads: int = Field(1, ge=1, le=64, description="Requests that compute at once, a process.")
    waiting: int = Field(32, ge=0, description="Requests that wait for one of these.")
    asking: int = Field(32, ge=1, description="Answers that models write at once, a process.")
    seconds: float = Field(30.0, gt=0, description="Longest time for one request.")
    answer_seconds: float = Field(120.0, gt=0, description="Longest time for a model's answer.")
    drain: float = Field(
        5.0, ge=0, description="Seconds between 'not ready' and taking no more requests."
    )
    grace: float = Field(60.0, ge=0, description="Seconds to finish what was taken.")

    keys: Path = Field(KEY_FILE, description="The file of API keys; see foveate keys.")
    hosts: tuple[str, ...] = Field((), description="Names that the service answers to as well.")
    origins: tuple[str, ...] = Field(
        (), description="Origins whose pages may ask, as https://app.example.com (CORS)."
    )
    proxies: tuple[str, ...] = Field(
        (), description="Addresses or networks of proxies whose X-Forwarded-For counts."
    )
    rate: str = Field("6000/minute", description="Requests of one key; '' for no limit.")
    rate_unknown: str = Field(
        "120/minute", description="Requests without a key, of one address; '' for no limit."
    )
    rate_store: str = Field(
        "", description="A Redis URL in which replicas count together; '' for each process alone."
    )
    key_requests: int = Field(64, ge=1, description="Requests of one key at once, a process.")
    requests: int = Field(256, ge=1, description="Requests of all callers at once, a process.")
    bodies_bytes: int = Field(
        128 * MEGABYTE, ge=1_000, description="Bodies of all requests together, a process."
    )
    body_seconds: float = Field(30.0, gt=0, description="Longest time for a body to arrive.")
    header_bytes: int = Field(16_384, ge=1_024, description="Largest headers and address.")
    header_seconds: float = Field(10.0, gt=0, description="Longest time for headers to arrive.")
    write_seconds: float = Field(
        30.0, gt=0, description="Longest time in which a client takes nothing of its answer."
    )
    connections: int = Field(512, ge=1, description="Connections held open, a process.")
    audit: Path | None = Field(None, description="Where to keep who asked for what; none if unset.")
    audit_sync: bool = Field(
        False, description="Bring each line of the audit to the disk before the answer goes out."
    )

    mcp: bool = Field(True, description="Serve the tools for agents at /mcp.")
    mcp_budget: int = Field(4_000, ge=1, description="Tokens of a tool's context, unasked.")
    mcp_most: int = Field(32_000, ge=1, description="Tokens that a tool's call may ask for.")
    log_format: Literal["auto", "json", "plain"] = Field(
        "auto", description="Log lines; auto: plain on a terminal, else JSON."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="The least that is logged; requests are INFO."
    )
    log_content: bool = Field(
        False, description="Questions, contexts and answers may stand in logs and on spans."
    )
    otlp: str = Field(
        "",
        description="Where traces go, as http://collector:4318; unset: as OTEL_ variables say.",
    )

    size: int = Field(350, ge=16, description="Tokens of a chunk, at the most.")
    overlap: int = Field(70, ge=0, description="Tokens of it that the next one repeats.")
    questions: bool = Field(True, description="Index chunks under the questions they answer too.")
    summaries: bool = Field(False, description="Give each document a summary of its own words.")

    @property
    def many_tenants(self) -> bool:
        """Whether each tenant has a store of its own."""
        return "{tenant}" in self.store


def settings_from(path: str | Path | None = None, **given: Any) -> Settings:
    """The settings of a file, over which stands the environment, over which stands what is given.

    Raises `BadInput` for the file, `UnknownName` and `BadOption` for what it says.
    """
    values = _in_file(Path(path)) if path is not None else {}
    _refuse_unknown(values)
    _refuse_unknown(
        name.removeprefix(PREFIX).lower() for name in os.environ if name.startswith(PREFIX)
    )
    try:
        environment = EnvSettingsSource(Settings)()
        return Settings(**{**values, **environment, **given})
    except ValidationError as error:
        raise BadOption(f"settings: {_said(error)}") from None
    except ValueError as error:  # a list in the environment that is no JSON
        raise BadOption(f"settings: {error}; lists and tables are written as JSON") from None


def described() -> Mapping[str, tuple[str, str]]:
    """Each setting: its default as one types it in TOML, and what it is for."""
    fields = Settings.model_fields
    return {name: (_typed(f.get_default(call_default_factory=True)), f.description or "")
            for name, f in fields.items()}  # fmt: skip


def _in_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML: {error}") from None


def _refuse_unknown(names: Any) -> None:
    for name in names:
        if name not in Settings.model_fields:
            raise UnknownName("setting", name, Settings.model_fields)


def _said(error: ValidationError) -> str:
    """Each wrong setting with what is wrong; never its value, which may hold a password."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_typed, value))}]"
    return str(value) if value != {} else "{}"
