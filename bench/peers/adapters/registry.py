"""All systems by name: where the adapter is, and which environment it runs in.

`own` is the environment that foveate itself runs in; the others are made from the files in
`bench/peers/requirements`, one environment a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from bench.peers.adapters.job import Adapter

OWN = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One line of the tables."""

    name: str
    module: str
    adapter: str
    environment: str

    def load(self) -> Adapter:
        """The adapter, not yet started."""
        module = import_module(f"bench.peers.adapters.{self.module}")
        adapter: Adapter = getattr(module, self.adapter)()
        return adapter


SYSTEMS: dict[str, System] = {
    name: System(name=name, module=module, adapter=adapter, environment=environment)
    for name, module, adapter, environment in (
        ("naive_greedy", "naive", "Greedy", "plain"),
        ("langchain", "langchain", "Filter", "langchain"),
        ("llama_index", "llama_index", "Compact", "llama_index"),
        ("haystack", "haystack", "Parts", "haystack"),
        ("floor_full", "floor", "Full", OWN),
        ("foveate", "foveate", "Foveate", OWN),
        ("foveate_cold", "foveate", "FoveateCold", OWN),
        ("foveate_whole_unread", "foveate", "FoveateWholeUnread", OWN),
    )
}
