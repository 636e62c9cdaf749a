"""From files to a store: walk, load, chunk, write. No searching, no assembling, no printing."""

from foveate.ingest.chunk import Piece, chunk
from foveate.ingest.run import Failure, Report, ingest

__all__ = ["Failure", "Piece", "Report", "chunk", "ingest"]
