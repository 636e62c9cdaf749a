"""A compaction as plain JSON values, as a bundle to be made again, and one request of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any

from foveate import plugins
from foveate.core.compact.compaction import Compacted, CompactOptions, compact_messages
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadInput, BudgetTooSmall, InvalidRequest, UnknownName
from foveate.core.json_text import compact_json
from foveate.core.replay import Verdict
from foveate.core.seal import content_hash
from foveate.core.typed import read_value
from foveate.core.types import Decision, Number
from foveate.models import Model
from foveate.pipeline.compact import (
    OriginalStore,
    compact,
    token_counter,
)
from foveate.pipeline.reason_messages import format_decision

REQUEST_KEYS = ("id", "messages", "tools", "query", "pinned", "form")


def compacted_to_json(made: Compacted) -> dict[str, Any]:
    """The list with its tokens and decisions; the same shape everywhere."""
    return {
        "messages": made.messages,
        "token_count": made.token_count,
        "decisions": [_decision_to_json("message", one) for one in made.decisions],
        "tools_token_count": made.tools_token_count,
        "tools": list(made.tools) if made.options.tools_budget is not None else None,
        "tool_decisions": [_decision_to_json("tool", one) for one in made.tool_decisions],
        "ledger": made.ledger,
        "handles": sorted(made.originals),
        "notes": dict(made.notes),
        "manifest": asdict(made.manifest),
    }


def _decision_to_json(subject: str, decision: Decision) -> dict[str, Any]:
    name = decision.chunk_id
    return {
        subject: name.removeprefix("tool ") if subject == "tool" else name,
        "action": decision.action,
        "reason": decision.reason,
        "why": format_decision(decision),
        "numbers": dict(decision.numbers),
    }


def compaction_figures(made: Compacted) -> dict[str, Number]:
    """Counts of a compaction for observers: tokens and messages before and after, no texts."""
    return {
        **made.notes,
        "budget": made.options.budget,
        "messages_before": len(made.source),
        "messages_after": len(made.messages),
        "handles": len(made.originals),
    }


def expanded_to_json(handle: str, text: str, tokenizer: Tokenizer) -> dict[str, Any]:
    """What `expand` shows of an original, with its tokens."""
    return {"handle": handle, "text": text, "token_count": token_counter(tokenizer)(text)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactRequests:
    """What all requests of a file share: budgets, what counts, and tools for those without.

    `originals`: where the originals of what leaves are kept.
    """

    budget: int | None
    tokenizer: str | Tokenizer | None = None
    model: str | Model | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    tools_budget: int | None = None
    originals: OriginalStore | None = None

    def answer(self, request: Any) -> dict[str, Any]:
        """The list of one request with its id, or the error that refused it."""
        found = {"id": request.get("id")} if isinstance(request, Mapping) else {"id": None}
        try:
            made = self.compact(request)
        except (InvalidRequest, BudgetTooSmall) as error:
            needed = {"needed": error.needed} if isinstance(error, BudgetTooSmall) else {}
            return {
                **found,
                "error": {"type": type(error).__name__, "message": str(error), **needed},
            }
        if self.originals is not None:
            self.originals.keep(made.originals)
        return {**found, **compacted_to_json(made)}

    def compact(self, request: Any) -> Compacted:
        """The list of one request; raises what is wrong with it."""
        if isinstance(request, list):
            request = {"messages": request}
        if not isinstance(request, Mapping):
            raise BadInput("a request must be a list of messages, or an object with messages")
        for key in request:  # others are the caller's own, unless they are misspelled
            if key not in REQUEST_KEYS and get_close_matches(str(key), REQUEST_KEYS, cutoff=0.8):
                raise UnknownName("key", str(key), REQUEST_KEYS)
        if "messages" not in request:
            raise BadInput("is missing", field="messages")
        messages: Any = request["messages"]
        form: Any = request.get("form")
        return compact(
            messages,
            budget=self.budget,
            tools=check_tools(request.get("tools")) or self.tools,
            tools_budget=self.tools_budget,
            model=self.model,
            tokenizer=self.tokenizer,
            query=read_value(str | None, request.get("query"), "query"),
            pinned=read_value(tuple[Any, ...] | None, request.get("pinned"), "pinned") or (),
            form=form,
        )


def check_tools(tools: Any) -> tuple[Mapping[str, Any], ...]:
    """Tool schemas from JSON: a list of objects, or nothing."""
    return read_value(tuple[Mapping[str, Any], ...] | None, tools, "tools") or ()


KIND = "foveate-compaction"


def compaction_bundle(made: Compacted) -> dict[str, Any]:
    """All that `replay_compaction` needs, as JSON values."""
    return {
        "kind": KIND,
        "messages": list(made.source),
        "tools": list(made.source_tools),
        "options": {**asdict(made.options), "pinned": list(made.options.pinned)},
        "tokenizer": made.tokenizer,
        "manifest": asdict(made.manifest),
        "output": made.messages,
    }


def replay_compaction(bundle: Mapping[str, Any]) -> Verdict:
    """The list made again and compared; raises `BadInput` for what is no such bundle."""
    try:
        known = {f.name for f in fields(CompactOptions)}
        given: dict[str, Any] = {name: bundle["options"][name] for name in known}
        given["pinned"] = tuple(given["pinned"])
        options = CompactOptions(**given)
        tokenizer = plugins.tokenizer(bundle["tokenizer"])
        made = compact_messages(
            bundle["messages"],
            options,
            tokenizer=tokenizer,
            count=tokenizer.count,
            tools=bundle["tools"],
        )
        was, output = dict(bundle["manifest"]), bundle["output"]
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise BadInput(f"the bundle is damaged ({what}); write it again with --bundle") from None
    now = asdict(made.manifest)
    causes = [
        f"{name}: {was.get(name)!r} → {now[name]!r}" for name in now if was.get(name) != now[name]
    ]
    if content_hash(compact_json(output)) != was.get("output_hash"):
        causes.append("the recorded list does not match the recorded output hash")
    return Verdict(
        identical=not causes, stage="" if not causes else "compact", causes=tuple(causes)
    )
