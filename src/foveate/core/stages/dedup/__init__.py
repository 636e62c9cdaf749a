"""Exact and near duplicates, found without comparing every pair.

`resolve_duplicates.py` is the definition. `containment.py` compares word triples (`triples.py`),
`jaccard.py` sets of words, `semantic.py` embeddings. `similar.py` and `compared_texts.py` decide
whether a text may leave for another. A finder gives exactly what comparing each text with all
others would give. `corroborating.py` decides which sources of duplicates a block may name.
"""
