"""Exact and near duplicates, found without comparing every pair.

`near.py` is the definition, `similarity.py` its three measures and `compared_text.py` its rule of
sameness; `candidate_index.py` finds the pairs. `exact.py` finds equal texts. `corroborating.py`
decides which sources of duplicates a block may name.
"""
