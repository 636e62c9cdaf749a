"""How a budget is spent: one policy a file. The stage in `stages/pack.py` chooses among them.

- `scale.py`: what a candidate costs, shown one way or another
- `pieces.py`: a passage in part
- `choice.py`: what a policy hands back
- `walk.py`: policies that go through candidates in an order and take what fits
- `value.py`: chunk and rendition chosen together, worth per token, with a bound
- `basket.py`, `evidence.py`: sentences chosen over the whole pool, each thing said once
- `coverage.py`: the same with diminishing returns for what is already said
- `cut.py`: a text shortened at a sentence, word and grapheme end
"""
