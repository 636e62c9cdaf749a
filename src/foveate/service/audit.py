"""The audit: log lines that say who read which state of the store, and which context was made.

With the setting `log_audit`, the logger `foveate.audit` writes one line for each request whose
caller was let in: the key's id, tenant, principals, the endpoint's pattern, the status, the state
root, and the hashes of recipe, inputs and output. It never holds a text, a question, a document's
id or a key.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.types import Scope

from foveate.service.auth.caller import Caller
from foveate.service.limits.asgi import is_public

HASHES = ("recipe_hash", "inputs_hash", "output_hash")
UNAUDITED_PATHS = frozenset({"/metrics", "/openapi.json"})
"""Polled by machines; they concern no documents."""
AUDIT_LOG = logging.getLogger("foveate.audit")


def add_audit_fields(
    scope: Scope,
    *manifests: Mapping[str, Any],
    state_root: str | None = None,
    principals: Iterable[str] | None = None,
) -> None:
    """Note what a response is made of; a route calls it before it responds.

    `manifests` are those of `core/context_json.py`; `state_root` is for a response without one;
    `principals` is for a request with fewer than the key has.
    """
    found: dict[str, Any] = scope["state"].setdefault("audit", {})
    if principals is not None:
        found["principals"] = list(principals)
    if state_root is not None:
        found["state_root"] = state_root
    for manifest in manifests:
        found.setdefault("state_root", manifest["state_root"])
        made = found.setdefault("manifests", [])
        found["manifests"] = [*made, {name: manifest[name] for name in HASHES}]


def log_audit(scope: Scope, route: str, status: int) -> None:
    """Write the line of a request, at its end."""
    state = scope.get("state", {})
    caller: Caller | None = state.get("caller")
    if caller is None or is_public(scope["path"]) or scope["path"] in UNAUDITED_PATHS:
        return
    fields = {
        "key": caller.key_id,
        "tenant": caller.tenant,
        "principals": list(caller.principals),
        "endpoint": f"{scope['method']} {route}",
        "status": status,
        **state.get("audit", {}),
    }
    AUDIT_LOG.info("audit", extra={"fields": fields})
