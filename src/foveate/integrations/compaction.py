"""What the faces for agents share: the options of `foveate.compact`, and a list there and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from foveate.core.compact.compaction import Compacted
from foveate.core.contracts import Tokenizer
from foveate.models import Model
from foveate.pipeline.compact import compact
from foveate.stores.originals import OriginalStore

Item = TypeVar("Item")


@dataclass(kw_only=True, eq=False)
class CompactionOptions:
    """Options of `foveate.compact`, as every face for agents takes them.

    `originals`: where the texts behind handles are kept, for `tenant` and `principals`.
    `on_compact`: called with each result: its decisions and figures, and what a bundle is made of.
    """

    budget: int | None = None
    model: str | Model | None = None
    tokenizer: str | Tokenizer | None = None
    query: str | None = None
    slack: int | None = None
    originals: OriginalStore | None = field(default=None, repr=False)
    tenant: str = ""
    principals: tuple[str, ...] = ()
    on_compact: Callable[[Compacted], None] | None = field(default=None, repr=False)


def _message_from_mapping(item: Any, place: int) -> Mapping[str, Any]:
    """A message as it is; one that is a model of a client's package as a mapping."""
    dump = getattr(item, "model_dump", None)
    found: Mapping[str, Any] = dump(mode="json", exclude_none=True) if dump is not None else item
    return found


def _message_as_it_is(_item: Any, message: Mapping[str, Any]) -> Any:
    return message


def compact_items(
    options: CompactionOptions,
    items: Iterable[Item],
    *,
    form: str,
    read: Callable[[Item, int], Mapping[str, Any]] = _message_from_mapping,
    write: Callable[[Item | None, Mapping[str, Any]], Item] = _message_as_it_is,
    beside: Iterable[Mapping[str, Any]] = (),
    pinned: Sequence[int] = (),
) -> list[Item]:
    """The items that fit; those that stay unchanged are the objects that came.

    `read`: an item and its place as a message of `form`. `write`: an item with the text of a
    changed message; the ledger and what takes a turn have no item. Without them the items are
    mappings, or models of a client's package. `beside`: what is sent beside
    the list within the same budget, such as tools and instructions. Raises as `foveate.compact`.
    """
    known = list(items)
    made = compact(
        [read(item, place) for place, item in enumerate(known)],
        budget=options.budget,
        tools=beside,
        model=options.model,
        tokenizer=options.tokenizer,
        query=options.query,
        slack=options.slack,
        pinned=pinned,
        form=form,
    )
    if options.originals is not None and made.originals:
        options.originals.keep(made.originals, tenant=options.tenant, principals=options.principals)
    if options.on_compact is not None:
        options.on_compact(made)
    return [
        known[place]
        if place >= 0 and message is made.source[place]
        else write(known[place] if place >= 0 else None, message)
        for place, message in zip(made.places, made.messages, strict=True)
    ]


def chat_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A call of a tool as OpenAI's chat has it."""
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def tool_schema(name: str, description: str | None, parameters: Any) -> dict[str, Any]:
    """A tool as it is counted, whatever a framework calls its parts."""
    return {"name": name, "description": description, "parameters": parameters}
