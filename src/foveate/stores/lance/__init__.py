"""The distributed store: Lance in a folder or on object storage. See `store.LanceStore`.

`location` stands first: it says which extra is missing.
"""

from foveate.stores.lance.location import SCHEMES
from foveate.stores.lance.store import LanceStore

__all__ = ["SCHEMES", "LanceStore"]
