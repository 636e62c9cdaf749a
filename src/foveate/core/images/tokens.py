"""Tokens of an image by the formula that its provider publishes; the formulas are data.

A formula is a line of words, as `models.toml` holds one for each model:

- `patches SIDE EDGE MOST EACH`: shrunk to a long edge of EDGE pixels (0: of any length), cut into
  squares of SIDE pixels, at most MOST of them, EACH tokens a square.
- `tiles SIDE EDGE SHORT BASE EACH`: shrunk to a long edge of EDGE and a short one of SHORT, BASE
  tokens and EACH for each square of SIDE pixels.
- `crops SMALL LEAST MOST EACH`: EACH tokens for an image of at most SMALL pixels a side, else EACH
  for each square of two thirds of the short edge, which is at least LEAST and at most MOST pixels.
- `fixed TOKENS`: the same for every image.
- `captions`: the model reads no images; captions stand for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil

from foveate.core.errors import BadOption

CAPTIONS = "captions"
"""The formula of a model that reads no images."""
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")

Sizes = tuple[Fraction, ...]


def count_image_tokens(formula: str, width: int, height: int) -> int:
    """Tokens of an image of this size in pixels; raises `BadOption` for a wrong formula.

    >>> count_image_tokens("tiles 512 2048 768 85 170", 1024, 1024)
    765
    >>> count_image_tokens("patches 28 1568 1568 1", 1000, 1000)
    1296
    >>> count_image_tokens("crops 384 256 768 258", 960, 540)
    1548
    """
    name, numbers = parse_formula(formula)
    return _COUNTERS[name][1](numbers, width, height)


def parse_formula(formula: str) -> tuple[str, Sizes]:
    """The formula's name and numbers; raises `BadOption` for a name or a number that is wrong."""
    name, *numbers = formula.split() if isinstance(formula, str) and formula.strip() else [""]
    if name not in _COUNTERS:
        known = ", ".join(_COUNTERS)
        raise BadOption(f"image formula {formula!r}: begin with one of {known}")
    wanted = _COUNTERS[name][0]
    if len(numbers) != len(wanted) or not all(map(_NUMBER.fullmatch, numbers)):
        spelled = " ".join((name, *wanted))
        raise BadOption(f"image formula {formula!r}: write {spelled!r}, with a number for each")
    found = tuple(map(Fraction, numbers))
    needed = [size for size, what in zip(found, wanted, strict=True) if what not in _MAY_BE_NONE]
    if not all(needed):
        raise BadOption(f"image formula {formula!r}: only {' and '.join(_MAY_BE_NONE)} may be 0")
    return name, found


_MAY_BE_NONE = ("EDGE", "BASE")


def _squares(width: Fraction, height: Fraction, side: Fraction) -> int:
    return ceil(width / side) * ceil(height / side)


def _count_patches(sizes: Sizes, width: int, height: int) -> int:
    side, edge, most, each = sizes
    scale = min(Fraction(1), edge / max(width, height)) if edge else Fraction(1)
    return ceil(min(most, Fraction(_squares(width * scale, height * scale, side))) * each)


def _count_tiles(sizes: Sizes, width: int, height: int) -> int:
    side, edge, short, base, each = sizes
    scale = min(Fraction(1), short / min(width, height))
    scale = min(scale, edge / max(width, height)) if edge else scale
    return ceil(base + each * _squares(width * scale, height * scale, side))


def _count_crops(sizes: Sizes, width: int, height: int) -> int:
    small, least, most, each = sizes
    if max(width, height) <= small:
        return ceil(each)
    side = max(least, min(most, Fraction(min(width, height) * 2 // 3)))
    return ceil(each * _squares(Fraction(width), Fraction(height), side))


_COUNTERS: Mapping[str, tuple[tuple[str, ...], Callable[[Sizes, int, int], int]]] = {
    "patches": (("SIDE", "EDGE", "MOST", "EACH"), _count_patches),
    "tiles": (("SIDE", "EDGE", "SHORT", "BASE", "EACH"), _count_tiles),
    "crops": (("SMALL", "LEAST", "MOST", "EACH"), _count_crops),
    "fixed": (("TOKENS",), lambda sizes, _width, _height: ceil(sizes[0])),
    CAPTIONS: ((), lambda _sizes, _width, _height: 0),
}
"""Name → what its numbers are, and how it counts."""
