"""From files to a store: walk, load, chunk, write. No searching, no assembling, no printing."""

from foveate.ingest.chunk import Piece
from foveate.ingest.enrich import Enrich
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.run import ingest
from foveate.ingest.run_state import Report
from foveate.ingest.walk import Failure

__all__ = ["Enrich", "Failure", "Limits", "Piece", "Report", "ingest"]
