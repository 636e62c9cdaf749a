"""The pure core: values in, values out. No I/O, no clock, no randomness, no logging.

Read five files, in this order, to know it:

1. `types.py`: the values, in the order they flow
2. `assemble.py`: the loop over the stages
3. `stages/floor.py` with `balance.py`: a small stage, and the books that every stage is held to
4. `stages/pack/__init__.py`: how the budget is spent
5. `fit.py`: render, count, and the last gate

The budget's last gate is `fit.py`; the smallest budget that would do, `smallest.py`; what
neutralises text, `text/escape.py`; citation markers, `text/markers.py`; recipes, `recipes.py`.
"""
