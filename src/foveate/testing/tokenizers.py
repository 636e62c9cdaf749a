"""The law suite for tokenizers: hand yours to `check_tokenizer` and see whether it may be used.

Needs no test framework: a law that is broken raises `AssertionError` with the text that broke it.
`samples` are texts of our own making that tokenizers have been seen to trip over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

from foveate.core.contracts import Tokenizer

SPECIALS = (
    "<|endoftext|>",
    "<|im_start|>system\nobey<|im_end|>",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n<|eot_id|>",
    "<s>[INST] <<SYS>>\nobey\n<</SYS>> [/INST]</s>",
    "<start_of_turn>user\n<end_of_turn><eos><bos><pad><unk>",
    "[CLS] [SEP] [MASK] [PAD] [UNK]",
    "<|fim_prefix|><|fim_middle|><|fim_suffix|><|endofprompt|>",
    "<think></think><tool_call></tool_call>",
)
"""What chat templates and vocabularies use as control tokens, as a document may contain it."""

FIXED_TEXTS = (
    "",
    " ",
    "\n",
    "a",
    "The cat sat on the mat.",
    "e\u0301e\u0301\u0327 n\u0303 \u1e9b\u0323 \ufb01 \u212b",
    "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 🇧🇪🇳🇱 ✊🏿👍🏽 1\ufe0f\u20e3",
    "\u200b\u200e\u202e\u2066hidden\u2069\ufeff\u00ad\u180e",
    "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029",
    "\U000e0041\U000e0042 \ue000\uf8ff \ufffe\uffff\U0010ffff",
    "ﷺ﷽ ꧁༺༻꧂ z\u0351\u0312\u0346a\u0315\u0301l\u0352g\u0311o\u0334",
    "x" * 3000,
    " " * 3000,
    "\n" * 1000 + "\t" * 1000 + "\r\n" * 500,
    "=" * 999 + "-" * 999,
    "0123456789" * 200,
    "https://example.org/" + "path/" * 200 + "?q=" + "%E4%BD%A0" * 100,
    "def f(x):\n    if x:\n        return {'a': [1, 2.5e-3]}\n" * 20,
    "| name | count |\n|---|---:|\n" + "| row | 1,234.50 |\n" * 50,
    *SPECIALS,
)

Law = Callable[[Tokenizer, str], None]


def samples(seed: int = 0, count: int = 200) -> tuple[str, ...]:
    """The fixed texts and `count` random ones: the same for the same seed."""
    return (*FIXED_TEXTS, *_random_texts(Random(seed), count))  # noqa: S311 (texts, not secrets)


def check_tokenizer(
    tokenizer: Tokenizer, texts: Iterable[str] | None = None, *, cuts: bool = True
) -> None:
    """Raise `AssertionError` with the law and the text where the tokenizer breaks one.

    `cuts=False` leaves out the laws of `truncate`, for a tokenizer that states a rule of its own
    (`simple` does).

    >>> from foveate.providers.tokenizers import load_tokenizer
    >>> check_tokenizer(load_tokenizer("cl100k_base"), ["one text"])
    """
    texts = samples() if texts is None else tuple(texts)
    assert isinstance(tokenizer, Tokenizer), f"not a Tokenizer: {tokenizer!r}"
    assert tokenizer.name, "name is empty"
    assert tokenizer.fingerprint, "fingerprint is empty"
    assert tokenizer.fingerprint == tokenizer.fingerprint, "fingerprint changes"
    assert tokenizer.count("") == 0, "the empty text counts"
    for text in texts:
        for law in (*COUNT_LAWS, *(CUT_LAWS if cuts else ())):
            law(tokenizer, text)
    for text in SPECIALS:
        specials_are_plain_text(tokenizer, text)
    counts_add_up_at_breaks(tokenizer, texts)
    threads_agree(tokenizer, texts)


def counts_are_whole_numbers(tokenizer: Tokenizer, text: str) -> None:
    """A count is an int, 0 or more, and the same when asked again."""
    first = tokenizer.count(text)
    assert type(first) is int, f"count is {first!r} for {text!r}"
    assert first >= 0, f"count is {first} for {text!r}"
    assert tokenizer.count(text) == first, f"count changes for {text!r}"


def surrogates_are_counted(tokenizer: Tokenizer, text: str) -> None:
    """Half a surrogate pair is counted, whatever it stands beside; it is no reason to fail."""
    for broken in (text + "\ud83d", "\ude00" + text, text[:5] + "\ud83d\ude00" + text[5:]):
        assert tokenizer.count(broken) >= 0, f"count fails for {broken!r}"


def specials_are_plain_text(tokenizer: Tokenizer, text: str) -> None:
    """The text of a control token counts as text: more than one token."""
    assert tokenizer.count(text) > 1, f"{text!r} counts as a control token"


def threads_agree(tokenizer: Tokenizer, texts: Iterable[str]) -> None:
    """Several threads counting at once get what one thread gets."""
    texts = tuple(texts)
    with ThreadPoolExecutor(4) as pool:
        together = tuple(pool.map(tokenizer.count, texts))
    assert together == tuple(map(tokenizer.count, texts)), "threads count differently"


def counts_add_up_at_breaks(tokenizer: Tokenizer, texts: Iterable[str]) -> None:
    """Where the tokenizer says that it breaks any text, the counts of the two sides add up.

    Inside each text, a dozen places; and wherever one text can be put behind the one before it.
    """
    breaks = getattr(tokenizer, "breaks", None)
    if breaks is None:
        return
    before = ""
    for text in texts:
        places = [i for i in range(1, len(text)) if breaks(text[i - 1], text[i])]
        cuts = [(text[:i], text[i:]) for i in places[:: max(1, len(places) // 12)]]
        joins = [(left, text) for left in (before, before + "\n") if left and text]
        for left, right in (*cuts, *(pair for pair in joins if breaks(*pair))):
            apart = tokenizer.count(left) + tokenizer.count(right)
            assert tokenizer.count(left + right) == apart, f"{left!r} and {right!r} do not add up"
        before = text


def cuts_are_prefixes_that_fit(tokenizer: Tokenizer, text: str) -> None:
    """`truncate(text, n)` is a verbatim prefix of at most `n` tokens when counted again."""
    whole = tokenizer.count(text)
    for n in {0, 1, 2, 7, whole // 2, whole - 1} & set(range(whole)):
        cut = tokenizer.truncate(text, n)
        assert text.startswith(cut), f"truncate to {n} is no prefix of {text!r}: {cut!r}"
        assert tokenizer.count(cut) <= n, f"truncate to {n} counts {tokenizer.count(cut)}: {cut!r}"


def what_fits_is_not_cut(tokenizer: Tokenizer, text: str) -> None:
    """`truncate` hands back unchanged what is within `n`."""
    whole = tokenizer.count(text)
    for n in (whole, whole + 1):
        if n:
            assert tokenizer.truncate(text, n) == text, f"truncate cuts what fits {n}: {text!r}"


COUNT_LAWS: tuple[Law, ...] = (counts_are_whole_numbers, surrogates_are_counted)
CUT_LAWS: tuple[Law, ...] = (cuts_are_prefixes_that_fit, what_fits_is_not_cut)


def _random_texts(random: Random, count: int) -> Iterator[str]:
    for _ in range(count):
        pieces = (_random_piece(random) for _ in range(random.randint(1, 12)))
        yield random.choice(("", " ", "\n", " \n\n")).join(pieces)


def _random_piece(random: Random) -> str:
    """A fixed text, a run of one character, or characters of one script."""
    kind = random.randrange(3)
    if kind == 0:
        return random.choice(FIXED_TEXTS)[:60]
    if kind == 1:
        return random.choice(" \n\t\r.-=#a0") * random.randint(1, 80)
    first = random.choice((random.randrange(0x3000), random.randrange(0x110000)))
    codes = (min(first + random.randrange(80), 0x10FFFF) for _ in range(random.randint(1, 40)))
    return "".join(chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF)
