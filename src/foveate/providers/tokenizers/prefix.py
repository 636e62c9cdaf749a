"""What every tokenizer here needs to cut: well-formed text, and the longest prefix that fits.

Not a tokenizer. Rules: a prefix is always verbatim, `text.startswith(prefix)`, and is never handed
back before it was itself counted; counts of parts do not add up, so nothing is inferred from them.
"""

from __future__ import annotations

from collections.abc import Callable


def replace_surrogates(text: str) -> str:
    """The text with paired surrogates joined and lone ones replaced by U+FFFD.

    For counting only. This is what tiktoken does with such text, so the counts agree.

    >>> replace_surrogates("a" + chr(0xD83D) + chr(0xDE00) + chr(0xD800)) == "a😀�"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def longest_prefix(text: str, n: int, count: Callable[[str], int]) -> str:
    """The longest prefix found that counts at most `n`; one character more counts over `n`.

    Looks at the head of the text only, so that cutting 5 MB to 100 tokens costs like 100 tokens,
    and takes some ten counts: interpolation finds the neighbourhood, halving guarantees the end.
    Counts need not grow evenly with the text: what is handed back was counted and fits.

    >>> longest_prefix("one two three", 2, lambda text: len(text.split()))
    'one two '
    """
    if n < 1:
        return ""
    fits, spent = 0, 0
    size = min(len(text), 8 * n)
    over = count(text[:size])
    while over <= n:
        if size == len(text):
            return text
        fits, spent = size, over
        size = min(len(text), 2 * size)
        over = count(text[:size])
    halve = False
    while size - fits > 1:
        guess = (fits + size) // 2
        if not halve:
            aimed = fits + (size - fits) * (n - spent) // (over - spent)
            guess = min(max(aimed, fits + 1), size - 1)
        halve = not halve
        tokens = count(text[:guess])
        if tokens <= n:
            fits, spent = guess, tokens
        else:
            size, over = guess, tokens
    return text[:fits]
