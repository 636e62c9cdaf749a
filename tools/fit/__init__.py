"""Fits the weights of `core/stages/compress/score.py` to golden cases, each set left out in turn.

gold.py     how much of the evidence each sentence holds
units.py    every sentence of every question: its traits, its cost, its gold
soft.py     what a budget holds, made smooth, and how it moves with the weights
learn.py    from traits and gold to weights
trial.py    the `default` recipe with other weights
folds.py    weights for each set from the others, and what they find there
page.py     the figures as a page of the documentation
"""
