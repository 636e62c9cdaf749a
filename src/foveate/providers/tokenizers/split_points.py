r"""Where cl100k_base and o200k_base split every text, so that counts of the two sides add up.

Both first cut a text into pieces by a regular expression, and merge bytes inside a piece only. So
counts add up at a place that is always the end of a piece and where the side before it is cut the
same with and without what follows. No alternative of the two expressions looks back, so the side
after it is cut the same in any case. Two such places, read off the alternatives

    letters, with one character before them that is no letter, digit or line break
    up to three digits
    other characters, with a space before and line breaks (o200k: and slashes) after them
    white space up to its last line break; white space but the last; one white space

- after a line feed, before what is neither white space nor a slash: no alternative has a character
  of that kind behind a line break, and white space that ends with one is one piece, at the end of a
  text as inside it;
- after an ASCII letter or digit, before white space: nothing but letters (digits, a contraction)
  follows a letter (digit) in a piece.

Not a promise for other vocabularies, nor for those whose expression differs.
"""

from __future__ import annotations


def is_openai_break(left: str, right: str) -> bool:
    r"""Whether counts add up wherever a text that ends with `left` meets one that begins `right`.

    >>> (
    ...     is_openai_break("one.\n", "two"),
    ...     is_openai_break("one.", "\n"),
    ...     is_openai_break("one", "\n"),
    ... )
    (True, False, True)
    """
    if not left or not right:
        return False
    before, after = left[-1], right[0]
    if before == "\n":
        return after != "/" and not after.isspace()
    return after.isspace() and before.isascii() and before.isalnum()
