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
    """One line of the tables. `what`: what it is, in a few words; `ours`: not a peer."""

    name: str
    module: str
    adapter: str
    environment: str
    what: str
    ours: bool = False

    def load(self) -> Adapter:
        """The adapter, not yet started."""
        module = import_module(f"bench.peers.adapters.{self.module}")
        adapter: Adapter = getattr(module, self.adapter)()
        return adapter


def _system(name: str, where: str, environment: str, what: str, *, ours: bool = False) -> System:
    module, adapter = where.split(".")
    return System(
        name=name, module=module, adapter=adapter, environment=environment, what=what, ours=ours
    )


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        _system("naive_topk", "naive.TopK", "plain", "tutorial: top k, joined"),
        _system("naive_greedy", "naive.Greedy", "plain", "tutorial: counted, joined until full"),
        _system("blog", "blog.Blog", "plain", "blog post: MD5, cosines, greedy, both ends"),
        _system("langchain", "langchain.Filter", "langchain", "redundant filter, reorder, stuff"),
        _system("langchain_k", "langchain.Pipeline", "langchain", "compressor pipeline with k"),
        _system("llama_index", "llama_index.Compact", "llama_index", "reorder, compact"),
        _system("haystack", "haystack.Parts", "haystack", "joiner, ranker, builder by hand"),
        _system("haystack_run", "haystack.Pipeline", "haystack", "the same by Pipeline.run"),
        _system("floor_lazy", "floor.Lazy", OWN, "by hand, stops when full", ours=True),
        _system("floor_full", "floor.Full", OWN, "by hand, all decided", ours=True),
        _system("foveate", "foveate.Foveate", OWN, "default recipe", ours=True),
        _system("foveate_whole", "foveate.FoveateWhole", OWN, "whole chunks", ours=True),
        _system("foveate_cold", "foveate.FoveateCold", OWN, "default, nothing kept", ours=True),
        _system(
            "foveate_whole_unread", "foveate.FoveateWholeUnread", OWN, "whole, counted", ours=True
        ),
    )
}
