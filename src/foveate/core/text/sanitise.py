"""Makes invisible, bidirectional and control characters harmless, and counts them (SPEC R3).

A character is removed unless it has a meaning: ZWJ in an emoji sequence, beside a virama and after
an Arabic letter, ZWNJ between letters of joining scripts, one variation selector behind a base it
applies to, tags in the three registered emoji flags. Selectors behind ideographs are removed: a row
of them could spell words. `sanitise(sanitise(t)[0]) == (sanitise(t)[0], {})`, and plain ASCII comes
back as the same object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from foveate.core.text.words import beyond_ascii

# Default-ignorable and format characters that say nothing by themselves (Unicode 15, DerivedCore),
# and those that lay out hieroglyphs.
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff"
    r"\U000e01f0-\U000e0fff\U00013430-\U0001343f"
)
_BIDI = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_BREAKS = r"\x0b\x0c\x85\u2028\u2029"
_CONTROLS = r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff"
# The noncharacters of the other planes. As one class they are slow to look for, so a single range
# is looked for first.
_LATER = r"\U0001fffe-\U0010ffff"
_NONCHARACTERS = "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 17))
_SOMETIMES = r"\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e007f\U000e0100-\U000e01ef"

# Bases that a joiner or a selector can apply to. Blocks, not exact sets: a superset costs nothing
# but an invisible character that stays in a place where it is expected.
_EMOJI = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935"
    r"\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Mathematical symbols, Myanmar and Phags-pa letters with a registered variant (VS1). The digit zero
# has one too, but a marker `[10]` must not hide behind it.
_SELECTABLE = (
    r"\u2205\u2229\u222a\u2268\u2269\u2272\u2273\u228a\u228b\u2293-\u2295\u2297\u229c\u22da\u22db"
    r"\u2a3c\u2a3d\u2a9d\u2a9e\u2aac\u2aad\u2acb\u2acc\u1000\u1002\u1004\u1010\u1011\u1015\u1019\u101a"
    r"\u101c\u101d\u1022\u1031\u1075\u1078\u107a\u1080\uaa60-\uaa66\uaa6b\uaa6c\uaa6f\uaa7a"
    r"\ua856\ua85c\ua85e-\ua860\ua868"
)
_ARABIC = r"\u0600-\u061b\u061d-\u07ff\u0840-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
_JOINING = (
    _ARABIC + r"\u0900-\u0fff\u1000-\u109f\u1700-\u17b3\u17b6-\u180a\u1810-\u18af\u1a20-\u1aad"
    r"\u1b00-\u1bff\u1c00-\u1c4f\ua800-\ua87f\ua880-\ua8ff\ua900-\uaaff\uabc0-\uabff"
    r"\U00010a00-\U00010a5f\U00011000-\U00011fff"
)
_VIRAMAS = (
    r"\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0f84\u1039\u103a"
    r"\u17d2\u1a60\u1b44\u1baa\u1bab\ua806\ua8c4\ua953\ua9c0\uabed\U00011046\U0001107f\U000110b9"
    r"\U00011133\U00011134\U000111c0\U00011235\U0001134d\U00011442\U000114c2\U000115bf\U0001163f"
)

# ASCII that is as plain as it looks. The others are few, and a class of many is slow to look for.
_ASCII_PLAIN = bytes([9, 10, *range(32, 127)])
# Two patterns: a single class is searched for several times faster than an alternation.
_ODD = rf"[{_BREAKS}{_CONTROLS}{_BIDI}{_INVISIBLE}{_SOMETIMES}{_LATER}]"
_VISIBLE_PATTERN = rf"[^\s{_BREAKS}{_BIDI}{_INVISIBLE}{_SOMETIMES}]"
_LONE = r"\r(?!\n)"
_ALWAYS = (
    rf"(?P<line_break>\r(?!\n)|[{_BREAKS}])"
    rf"|(?P<control>[{_CONTROLS}]|[{_LATER}](?<=[{_NONCHARACTERS}]))"
    rf"|(?P<bidi>[{_BIDI}])|(?P<invisible>[{_INVISIBLE}])"
)
_CONTEXTUAL = (
    # Kept: no named group takes part.
    # England, Scotland, Wales.
    r"(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067"
    r"|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
    rf"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_VIRAMAS}{_ARABIC}])\u200d|(?<=[{_JOINING}])\u200d(?=[{_VIRAMAS}])"
    rf"|(?<=[{_JOINING}])\u200c(?=[{_JOINING}])"
    rf"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)"
    rf"|(?<=[{_SELECTABLE}])\ufe00"
    r"|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
    # Everything else of the kind goes.
    rf"|(?P<tag_characters>[\U000e0000-\U000e007f])|(?P<invisible>[{_SOMETIMES}])"
)
_REASONS = ("line_break", "control", "bidi", "invisible", "tag_characters")


def is_invisible(text: str) -> bool:
    r"""Whether nothing of the text is left to read: white space and hidden characters alone.

    >>> is_invisible("\u200b \n\u3164"), is_invisible("\u200ba")
    (True, False)
    """
    return not ("!" <= text[:1] <= "~" or _compile(_VISIBLE_PATTERN).search(text))


def sanitise(text: str) -> tuple[str, Mapping[str, int]]:
    r"""The text without hidden characters, and how many were changed for which reason.

    Reasons: `line_break` (became a newline), `control` (became its visible picture), `bidi`,
    `invisible` and `tag_characters` (removed). An empty record means that the text is unchanged.

    >>> sanitise("pay\u200bpal\x07")
    ('paypal␇', {'control': 1, 'invisible': 1})
    """
    rest = beyond_ascii(text, _ASCII_PLAIN)
    lone = "\r" in rest and _compile(_LONE).search(text)
    if not lone and not (rest and _compile(_ODD).search(rest)):
        return text, {}
    counts = dict.fromkeys(_REASONS, 0)

    def replace(match: re.Match[str]) -> str:
        reason = match.lastgroup
        if reason is None:
            return match[0]
        counts[reason] += 1
        if reason == "line_break":
            return "\n"
        return _control_picture(match[0]) if reason == "control" else ""

    text = _compile(_CONTEXTUAL).sub(replace, _compile(_ALWAYS).sub(replace, text))
    return text, {reason: count for reason, count in counts.items() if count}


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compiled at first use: plain ASCII never needs it, and an import should cost nothing."""
    return re.compile(pattern)


def _control_picture(control: str) -> str:
    """Control Pictures for C0 and DEL, the replacement character for C1, which has no picture."""
    code = ord(control)
    if code == 0x7F:
        return "\u2421"
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"
