"""The distributed store: Lance in a folder or on object storage. See `store.LanceStore`."""

from foveate.stores.lance.part import Part
from foveate.stores.lance.store import LanceStore

__all__ = ["LanceStore", "Part"]
