"""Public data sets → golden cases, one format a file. Each reads what one downloads, as it is.

| name | input | evidence |
|---|---|---|
| `hotpotqa` | distractor JSON | the supporting sentences |
| `musique` | JSON Lines | in each supporting paragraph the sentence with that hop's answer |
| `squad` | version 1 or 2 JSON (XQuAD too) | the sentence with the answer |
| `nq` | JSON Lines as of "Lost in the Middle" | in the gold passage the sentence with the answer |
| `beir` | the folder, or corpus, queries and qrels | the relevant documents |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from foveate.evals.converters import beir, hotpotqa, musique, nq, squad
from foveate.evals.converters.source import SourceDataset

Converter = Callable[[Sequence[str], str, str], SourceDataset]
"""(files, name of the set, language of its texts) → what is in them."""

FORMATS: Mapping[str, Converter] = {
    "beir": beir.read_beir,
    "hotpotqa": hotpotqa.read_hotpotqa,
    "musique": musique.read_musique,
    "nq": nq.read_nq,
    "squad": squad.read_squad,
}
