"""From files to a store: walk, load, chunk, write. No searching, no assembling, no printing."""

from foveate.ingest.chunk import Piece, chunk
from foveate.ingest.enrich import Enrich
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.run import Failure, Report, ingest

__all__ = ["Enrich", "Failure", "Limits", "Piece", "Report", "chunk", "ingest"]
