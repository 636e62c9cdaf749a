"""What a bracket's words can name in a context: a source shown, or a chunk that was left out."""

from __future__ import annotations

import re

from foveate.core.text.marks import Names
from foveate.core.types import Context

_LEAD = re.compile(r"(?:doc(?:ument)?|source|file|bron|quelle)[ ]*:[ ]*", re.IGNORECASE)


def names_of(context: Context) -> Names:
    """Labels, sources, titles, document ids and chunk ids → markers; what two share names both.

    Corroborating sources count as shown. A chunk that the context does not show gives its own
    name, so that citing it is noticed.
    """
    shown: dict[str, set[int]] = {}
    for one in context.citations:
        label = one.label.removeprefix("[").removesuffix("]")
        copies = [n for c in one.corroborating for n in (c.source, c.document_id, c.chunk_id)]
        for name in (label, one.source, one.title, one.document_id, *one.chunk_ids, *copies):
            if name:
                shown.setdefault(name.casefold(), set()).add(one.marker)
    gone = left_out(context)

    def named(words: str) -> tuple[int, ...] | str | None:
        for name in (words.casefold(), _LEAD.sub("", words, count=1).casefold()):
            if name in shown:
                return tuple(sorted(shown[name]))
            if name in gone:
                return words
        return words if _LEAD.match(words) else None

    return named


def left_out(context: Context) -> dict[str, str]:
    """Ids, in small letters, of candidates that the context does not show → stage and reason.

    What was merged into another and is not shown shares the fate of that other.
    """
    shown = {name for block in context.blocks for name in block.chunk_ids}
    found: dict[str, str] = {}
    hosts: dict[str, str] = {}
    for stage in context.trace:
        for decision in stage.decisions:
            if decision.action in ("dropped", "merged") and decision.chunk_id not in shown:
                found[decision.chunk_id] = f"{stage.stage}: {decision.reason}"
                if decision.action == "merged":
                    hosts[decision.chunk_id] = decision.by
    for name, by in hosts.items():
        seen, host = {name}, by
        while host in hosts and host not in seen:
            seen.add(host)
            host = hosts[host]
        found[name] = found.get(host, found[name])
    return {name.casefold(): reason for name, reason in found.items()}
