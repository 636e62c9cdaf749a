"""Which sentences of a pool are likely to hold the evidence for a question. No model is asked.

    units.py    what may be shown on its own, and what it leans on
    index.py    a text's units as search terms, kept by content hash
    pool.py     the units of all candidates beside one another, and their words
    traits.py   what speaks for a unit: words asked for, title, neighbours, the retriever's order
    bridge.py   titles that the best sentences of other documents name
    worth.py    the traits as one number

`stages/compress.py` offers what comes out of it; `pack/evidence.py` spends the budget on it.
"""
