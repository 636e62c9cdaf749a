"""Which texts say the same, found without comparing every pair. The stages in `stages/` use it.

    threshold.py    0.9 means nine tenths: comparison without floats
    weight.py       what a word weighs: light, turning, weighty
    texts.py        what is asked of the texts, remembered by their content
    settle.py       from similarity to who stays and who leaves: the definition all serve
    fold.py         from who leaves to candidates and decisions

    containment.py  shared word triples over the smaller text's
    signature.py    a text's triples as numbers
    meet.py         which texts share enough of them to be looked at
    crowds.py       the same where very many texts share a triple
    aligned.py      whether one text says in place all of weight that another says

    jaccard.py      shared words over all words
    semantic.py     cosine, and words that agree enough
    bags.py         many sets of words as numbers, the rarest first
    prefix.py       which words find every set that shares enough; postings.py: who has them
    sketch.py       how different two sets are at least, from a few bits
    guard.py        whose facts and words of weight must agree
    mutual.py       from similar texts to who may leave for whom

A finder knows the texts by their place in the order of preference; it must say exactly what
comparing each with all would.
"""
