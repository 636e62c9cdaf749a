"""Names that foveate no longer has, and what to use instead: one table for every face.

A recipe file, a setting, a flag, an environment variable or a bundle that names one of them is
refused with the advice of this table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

REMOVED: Final[Mapping[str, str]] = {
    "command observed": "call foveate.observed(usage, sent) in Python",
    "command calibrate": "`attention` uses a published curve; measure recipes with foveate eval",
    "flag --anew": "each run answers all requests; run the command for the files that have no "
    "answers yet, which are written whole or not at all",
    "flag --from": "foveate eval thresholds takes a list, --thresholds 0.9,0.8,0.7",
    "flag --to": "foveate eval thresholds takes a list, --thresholds 0.9,0.8,0.7",
    "flag --step": "foveate eval thresholds takes a list, --thresholds 0.9,0.8,0.7",
    "flag --examples": "foveate eval thresholds shows three pairs for each threshold",
    "file .rtf": "save it as .docx, .pdf or .txt",
    "keyword *text:": "give one factor behind the star of a tokenizer's name, such as "
    "cl100k_base*1.9, or the tokenizer.json of the model",
    "overflow truncate_last": "use truncate, which cuts what does not fit in its turn",
    "policy coverage": "use policy 'value', worth per token",
    "order attention:": "use attention, which goes by one published curve",
    "option supplement_gate.min_similarity": "pass only the supplements that are similar enough",
    "option dedup_near.guard": "leave it out; what leaves says no more than what stays for it",
    "option divide.contrast": "leave it out; passages are cut where worth changes by four times",
    "option order.curve": "leave it out; attention goes by one published curve",
    "option recipe.shapes": "read the records before, and give each as a candidate with its text",
    "option recipe.spotlight": "leave it out; texts are neutralised by every format",
    "option compress.shares": "leave it out; extracts are offered at 0.6, 0.35 and 0.18 of a text",
    "keyword labels": "give a recipe with a summary_label; supplements stand under [Supplement: …]",
    "flag --label": "give a recipe with a summary_label; supplements stand under [Supplement: …]",
    "option recipe.supplement_label": "leave it out; supplements stand under [Supplement: …]",
    "option recipe.supplements_end": "leave it out; supplements end with [End of supplements]",
    "keyword history": "give verbatim=, the number of last turns that stay as they are",
    "keyword pace": "leave it out; the first turn fills half of the document zone",
    "option postgresql.exact": "leave it out; every vector is compared, in about a second for a "
    "million chunks",
    "option redis.hours": "leave it out; an entry is forgotten a day after it was written",
    "setting audit": "set log_audit, and keep the lines of the logger foveate.audit",
    "setting audit_sync": "set log_audit, and keep the lines of the logger foveate.audit",
    "setting header_seconds": "set client_header_timeout of a proxy in front, as deploy/nginx.conf",
    "setting write_seconds": "set send_timeout of a proxy in front, as deploy/nginx.conf",
    "setting drain": "let what sends SIGTERM wait, as preStop in deploy/kubernetes",
    "setting rate_store": "set limit_req of a proxy in front, as deploy/nginx.conf",
    "setting rate_unknown": "set limit_conn of a proxy in front, as deploy/nginx.conf",
    "setting proxies": "leave it out; the proxy in front counts by address, as deploy/nginx.conf",
    "setting connections": "set limit_conn and worker_connections of a proxy in front, as "
    "deploy/nginx.conf",
}
"""A kind and a name as the user spells it, such as `policy coverage` → what to use instead.

Kinds: `stage`, `option` (as `STAGE.FIELD`), `policy`, `order`, `format`, `recipe`, `keyword` (of a
Python call), `command`, `flag`, `setting`, `package` and `file`.
"""
FORMER_DEFAULTS: Final[Mapping[str, str]] = {
    "Compress.shares": "(0.6, 0.35, 0.18)",
    "DedupNear.guard": "True",
    "Divide.contrast": "4.0",
    "Order.curve": "(75.8, 56.7, 54.0, 55.8, 63.2)",
    "Recipe.spotlight": "False",
    "SupplementGate.min_similarity": "0.0",
}
"""An option that is gone, as `Class.field` → its default as it was typed.

Recipes were recorded in full: what an older bundle says of such an option at its default is passed
over when it is compared.
"""
FORMER_NOTES: Final[Mapping[str, tuple[str, ...]]] = {"pack": ("bound", "gap")}
"""A stage → the figures that its notes had once, which decided nothing."""
_KEYWORDS = ("option", "field", "key", "parameter", "argument")
_KIND_OF_OPTION: Final[Mapping[str, str]] = {"by": "order"}
"""An option with a closed list of names → the kind of those names, where it is called otherwise."""


def advice(kind: str, name: object) -> str | None:
    """Say what to use instead of a name that was removed; None if it never existed.

    `kind` may also be what an error calls it: `pack option` is an option of `pack`, a `field` of a
    request a keyword.

    >>> advice("policy", "never_there") is None
    True
    """
    owner, _, what = kind.rpartition(" ")
    if owner and what in ("option", "key"):
        kind, name = "option", f"{owner}.{name}"
    elif kind in _KEYWORDS and "." not in str(name):
        kind = "keyword"
    before, colon, _ = str(name).partition(":")
    instead = REMOVED.get(f"{kind} {name}") or REMOVED.get(f"{kind} {before}{colon}")
    return instead and f"{kind} {name!r} was removed: {instead}"


def advice_on_value(option: str, value: object) -> str | None:
    """The same of a value that an option had, such as `policy` or `by`."""
    return advice(_KIND_OF_OPTION.get(option, option), value)


def without_removed(typed: str) -> str:
    """A typed recipe or stage without the removed options that have the default they had."""
    for option, default in FORMER_DEFAULTS.items():
        owner, _, name = option.partition(".")
        before = rf"(\b{owner}\((?:[^()]|\([^()]*\))*?)"
        typed = re.sub(rf"{before}\b{name}={re.escape(default)}(?:, |(?=\)))", r"\1", typed)
        typed = re.sub(rf"{before}, (?=\))", r"\1", typed)
    return typed
