"""The pure core: values in, values out. No I/O, no clock, no randomness, no logging.

To know it, read these files in this order:

1. `types.py`: the values, in the order they flow. `request.py`: the recipe, and what a stage reads.
2. `assemble.py`: the loop over the stages.
3. `stages/floor.py`: a small stage. `balance.py`: the rules that every stage is held to.
4. `stages/pack/__init__.py`: how the budget is spent.
5. `fit.py`: render, count, and the last gate.

The smallest sufficient budget is in `smallest.py`, the built-in recipes are in `recipes.py`, and
texts are neutralised by `text/escape.py` and `text/markers.py`.
"""
