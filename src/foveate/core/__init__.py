"""The pure core: values in, values out. No I/O, no clock, no randomness, no logging.

Read `types.py` (with `request.py`), `assemble.py`, `stages/floor.py` with `balance.py`,
`stages/pack/__init__.py` and `fit.py`, in this order. `smallest.py` searches for the smallest
sufficient budget, `recipes.py` holds the built-in recipes, and `text/escape.py` and
`text/markers.py` neutralise texts.
"""
