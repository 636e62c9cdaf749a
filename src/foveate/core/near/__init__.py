"""Which texts say the same, found without comparing every pair. The stages in `stages/` use it.

    threshold.py    0.9 means nine tenths: comparison without floats
    bags.py         many sets of words as numbers, the rarest first
    prefix.py       which items find every set that shares enough
    postings.py     which kept texts hold an item
    sketch.py       how different two sets are at least, from a few bits
    guard.py        whose facts must agree
    jaccard.py      a finder: shared words over all words
    containment.py  a finder: shared word triples over the smaller text's
    semantic.py     a finder: cosine, and words that agree enough
    settle.py       from matches to who stays and who leaves: the definition all finders serve
    fold.py         from who leaves to candidates and decisions

A finder knows the texts by their place in the order of preference. It is told which are kept and
says which kept ones match a text; it must say exactly what comparing with all of them would.
"""
