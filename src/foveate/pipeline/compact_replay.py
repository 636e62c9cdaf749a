"""Bundles of compactions: a list with everything it was made of, to be made again anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from foveate import plugins
from foveate.core.compact.compaction import Compacted, CompactOptions, compact_messages
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json
from foveate.core.replay import Verdict
from foveate.core.types import content_hash

KIND = "foveate-compaction"


def compaction_bundle(made: Compacted) -> dict[str, Any]:
    """All that `replay_compaction` needs, as JSON values."""
    return {
        "kind": KIND,
        "messages": list(made.source),
        "tools": list(made.tools),
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
