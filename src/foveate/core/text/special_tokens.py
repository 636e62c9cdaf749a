"""Rules for text that models read as more than text: special tokens, template tags, role headers.

They cover the tokens in `template_tokens.py`, shapes of token families and words of templates, and
rather neutralise too much, because that is undone exactly. A tail contains its head character as
its last character only, and no backslash or line break; quantifiers are possessive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from foveate.core.text.escape import Rule, inline_rule
from foveate.core.text.template_tokens import TOKENS

_NAMED = re.compile(r"<{1,2}/?(\w[^<>|｜\\]*)>{1,2}")
_BRACKETED = re.compile(r"\[/?([^\[\]|｜\\]+)\]")

# Shapes, as tails.
_PIPE = "[|｜]"  # `<|…`
_TO_PIPE = r"[\w/:.-]{1,40}+[|｜]>"  # `<turn|>` of Gemma
_IMAGE = r"\][\w ]{1,40}+\[>\["  # `<]image[>[` of MiniMax, behind its first bracket
_PIPES = r"[|｜][\w ]{1,40}+[|｜]"  # `[|user|]`
_MINIMAX = r"~[a-z]{1,4}+\]|~![a-z]{1,4}+\[|![a-z]{1,4}+~\["
_FALCON = r"[A-Z][A-Z\d_]{1,40}+<<"
_SHAPED = re.compile(
    rf"<{_PIPE}.*|<{_TO_PIPE}|\]<{_IMAGE}|\[{_PIPES}\]|\](?:{_MINIMAX})|>>{_FALCON}", re.DOTALL
)

# Names in angle brackets that come with a number, or in large families.
_SERIES = (
    *(r"mask_\d++", r"extra_id_\d++", r"unused_?\d++", r"special_\d++", r"tokens_unused_\d++"),
    *(r"reserved_\w++", r"fim_\w++", r"issue_\w++", r"jupyter_\w++", r"commit_\w++", r"pr_\w++"),
    *(r"start_(?:of|function)_\w++", r"end_(?:of|function)_\w++", r"begin(?:ning)?_of_\w++"),
    *(r"seed:\w++", r"minimax:\w++", r"longcat_\w++", r"loc_?\d++", r"seg_?\d++", r"mask:\d++"),
    *(r"row_\d++_col_\d++",),
)
_ELEMENTS = ("pre",)
"""Elements of HTML that are tokens too in capitals, as `<PRE>` of Code Llama."""
_TEMPLATE = (
    *("think", "thinking", "thought", "reasoning", "scratch_?pad", "tools?", "tool_list"),
    *("tool_calls?", "tool_responses?", "tool_results?", "tool_outputs?", "function", "invoke"),
    *("function_calls?", "function_results?", "function_response", "system", "system_prompt"),
    *("system-reminder", "assistant", "human", "instructions?", "context", "documents?", "chunks?"),
    *("supplements?", "audio", "video", "eot", "bot", "cls_token", "sep_token", "unk_token"),
)


def _names() -> Iterable[str]:
    for token in TOKENS:
        if (found := _NAMED.fullmatch(token)) and not _SHAPED.fullmatch(token):
            yield found[1].lower()


def _by_first_letter(names: Iterable[str]) -> str:
    """One alternation that looks at each first letter once, for a tag that is none of them."""
    first: dict[str, list[str]] = {}
    for name in names:
        first.setdefault(name[0], []).append(name[1:])
    return "|".join(
        f"[{letter}{letter.upper()}](?i:{'|'.join(sorted(rests, reverse=True))})"
        for letter, rests in sorted(first.items())
    )


_SERIAL = re.compile("|".join(_SERIES))
_PLAIN = {
    re.escape(name) for name in _names() if not _SERIAL.fullmatch(name) and name not in _ELEMENTS
}
_NAMES = _by_first_letter({*_PLAIN, *_SERIES, *_TEMPLATE})
_END = r"[ \t]*+/?+[ \t]*+>"
_TAGS = r"(?i:antml:|steptml:|(?:invoke|function|tool_call)[ \t=])"

ANGLE = (
    _PIPE,
    # The same with spaces inside, which no tokenizer but perhaps a model takes for the token.
    r"[ \t]++[|｜][\w \t]{1,40}+[|｜]",
    _TO_PIPE,
    rf"[ \t]*+/?+[ \t]*+(?:(?:{_NAMES}){_END}|{_TAGS})",
    rf"(?:{'|'.join(_ELEMENTS).upper()})>",
    _IMAGE,
)
"""Tails after `<`. Of `<<SYS>>` and `<</SYS>>` the second `<` is the head."""

_SYSTEM = (
    r"inst|sys|system_prompt|available_tools|tool_calls|tool_results|tool_content|think"
    r"|model_settings|begin_audio|transcribe|gmask|smask|call_id"
)
_WORDS = sorted({found[1] for token in TOKENS if (found := _BRACKETED.fullmatch(token))})

# On one line, of any width.
_BLANK = r"(?:\s(?<!\n))"

SQUARE = (
    rf"(?i:[ \t]*+/?+[ \t]*+(?:{_SYSTEM})[ \t]*+\])",
    # Words that prose and usage lines put in brackets too: as the token is written only.
    rf"/?+(?:{'|'.join(map(re.escape, _WORDS))}|(?i:(?:unused_?(?:token_)?|round )\d++))\]",
    _PIPES,
    # What this project itself writes around a context, in every format.
    r"(?i:[ \t]*+supplement[ \t]*+:)",
    rf"(?i:{_BLANK}*+end{_BLANK}++of{_BLANK}++(?:supplements|context){_BLANK}*+(?:\]|］|】|〕))",
)
"""Tails after `[`."""


def split(token: str) -> tuple[str, str] | None:
    """The head of a token that is no name in brackets, and what follows; None: it has no head.

    >>> split("[e~["), split(">>END<<"), split("word")
    (('[', 'e~['), ('>', 'END<<'), None)
    """
    for place, head in enumerate(token[:-1], 1):
        tail = token[place:]
        if not head.isalnum() and head not in "_ \\\n" and head not in tail[:-1]:
            return None if "\\" in tail or "\n" in tail else (head, tail)
    return None


def _literal_rules() -> Iterable[Rule]:
    """Of tokens that neither are names nor have a shape, such as `/nothink`."""
    tails: dict[str, list[str]] = {}
    for token in TOKENS:
        known = _NAMED.fullmatch(token) or _BRACKETED.fullmatch(token) or _SHAPED.fullmatch(token)
        if not known and (parts := split(token)):
            tails.setdefault(parts[0], []).append(re.escape(parts[1]))
    return [inline_rule(head, *sorted(found)) for head, found in sorted(tails.items())]


OTHERS: tuple[Rule, ...] = (
    inline_rule("]", _MINIMAX, needle="~"),
    Rule(">>", (_FALCON,), needle="<<"),
    # In full-width signs no tokenizer knows them, but a model may read them so.
    inline_rule("＜", rf"/?+(?:[|｜][\w ./-]{{1,40}}+[|｜]|{_NAMES})＞", needle="＞"),
    *_literal_rules(),
)
"""Rules of tokens with another head: MiniMax, Falcon, and the rest as it is written."""

_SPEAKERS = _by_first_letter(
    (
        *("human", "user", "system", "developer", "assistant", "ai", "tool", "observation"),
        *("gpt4 correct user", "gpt4 correct assistant"),
        *("问", "答", "用户", "使用者", "助手", "助理", "系统", "系統", "工具", "观察"),
        *("指示", "応答", "사용자", "응답"),
        *("ユーザー", "アシスタント", "システム", "пользователь", "ассистент", "система"),
    )
)
_SECTIONS = "instructions?|response|input|output|system prompt"
_COLON = "[ \\t\u00a0]*+[:\uff1a]"
_LISTED = r"(?:(?:[>+•-]|\d{1,3}+[.)])[ \t]*+){0,4}+"
"""Marks of quotations and lists, behind which a line may speak in a role as well."""

ROLES = (
    rf"{_LISTED}[#*_]{{0,6}}+[ \t]*+(?:{_SPEAKERS})[ \t]*+[*_]{{0,3}}+{_COLON}",
    rf"#{{1,6}}+[ \t]*+(?:(?i:{_SECTIONS}){_COLON}|(?:{_SPEAKERS})[^\S\n]*+(?=\n|\Z))",
)
"""What a line starts with (after its indentation) when it speaks in a role."""

SPEAKER = rf"[#*_]{{0,6}}+[ \t]*+(?:{_SPEAKERS})[ \t]*+[*_]{{0,3}}+(?:{_COLON}|[^\S\n]*+\Z)"
"""What a field starts with when the line of a heading that it opens would speak in a role."""
