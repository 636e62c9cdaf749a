"""What is checked before the port is opened, and what is loaded before the process is ready."""

from __future__ import annotations

import logging
from dataclasses import replace

from foveate import plugins
from foveate.core.errors import BadInput, BadOption, FoveateError
from foveate.pipeline.assembler import Assembler
from foveate.service.app_state import AppState
from foveate.service.settings import Settings
from foveate.stores import open_store
from foveate.stores.caches import open_cache
from foveate.stores.lazy import StoreNotFound

_SAID = "The pump starts at one bar. Its filter is cleaned every spring."
_WARM_UP = tuple({"text": f"{_SAID * (n % 4)} Page {n}, “Café”."} for n in range(1, 51))
"""So many that the stages take the ways of a request of fifty, and short, for a start waits."""

log = logging.getLogger("foveate.service")


def check_start(settings: Settings) -> None:
    """Raise `BadOption` for a model that cannot be asked, `BadInput` for a store that is not there.

    `BadOption` also if tenants with stores of their own would share a folder of images.

    A server that cannot be reached now may be there later: that is logged, and no error.
    """
    for name, spelled in settings.models.items():
        try:
            check = getattr(plugins.model(spelled), "check", None)
            if check is not None:
                check()
        except FoveateError as error:
            raise BadOption(f"models: {name!r}: {error}") from error
    if settings.images and settings.has_tenant_stores and "{tenant}" not in settings.images:
        raise BadOption("images: each tenant has a store of its own; put {tenant} into the folder")
    if not settings.store or settings.has_tenant_stores or settings.create:
        return
    try:
        open_store(settings.store, create=False).close()
    except BadInput as error:
        more = "; or start with --create to make an empty one"
        advice = more if isinstance(error, StoreNotFound) else ""
        raise BadInput(f"store: {error}{advice}") from error
    except FoveateError as error:
        log.warning("the store cannot be opened now: %s", error)


def warm_up(state: AppState) -> None:
    """Load what the first request would wait for: store, embedder, tokenizer, stages."""
    options = state.request_options.options()
    shared = bool(state.settings.store) and not state.settings.has_tenant_stores
    try:
        Assembler(options=options).assemble("When does the pump start?", _WARM_UP)
        if shared:
            with state.assembler("default", options) as assembler:
                cache = open_cache("memory:1")
                unseen = replace(
                    assembler, observers=None, cache=cache, reranker=None, compressor=None
                )
                unseen.assemble("When does the pump start?")
    except Exception as error:  # a request says it to its caller, and to the log
        log.warning("not warm at the start: %s", type(error).__name__, exc_info=error)
