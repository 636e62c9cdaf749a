r"""What models read as more than text: special tokens, chat-template tags, role headers.

What it is: data, as regular expressions for `foveate.core.text.escape`. A tail is what follows the
head character `<` or `[`; a line tail is what a line starts with. What it is not: a tokenizer's
vocabulary; the list errs on the side of neutralising too much, for it is undone exactly.

Rules: a tail never contains its own head character, a backslash or a line break; quantifiers are
possessive, so that a failed match costs one scan.

Families: OpenAI, Llama, Qwen, Phi, Granite, Kimi, GLM (`<|…|>`), DeepSeek (`<｜…｜>`), Mistral
(`[INST]` …), Llama 2 (`<<SYS>>`), Gemma (`<start_of_turn>` …), T5, Nemotron (`<extra_id_N>`),
Cohere (`<BOS_TOKEN>` …), Baichuan (`<reserved_N>`), InternLM, StarCoder (`<fim_prefix>` …), Seed
(`<seed:bos>` …), EXAONE (`[|user|]` …), BERT (`[CLS]` …), and the tags that reasoning and tool
templates use.
"""

from __future__ import annotations

# Names in angle brackets, each the start of a regular expression that begins with a letter.
_SEQUENCE = (
    *(
        "s",
        "bos",
        "eos",
        "pad",
        "unk",
        "mask",
        "cls",
        "sep",
        "eod",
        "eop",
        "sop",
        "eot",
        "eoh",
        "eoa",
    ),
    *(
        "bot",
        *(f"{n}_token" for n in ("bos", "eos", "pad", "unk", "cls", "sep", "mask", "eop")),
        r"mask_\d++",
        r"extra_id_\d++",
    ),
    *(
        r"unused_?\d++",
        r"special_\d++",
        r"tokens_unused_\d++",
        r"reserved_\w++",
        "image_soft_token",
    ),
    *(r"start_(?:of|function)_\w++", r"end_(?:of|function)_\w++", r"begin(?:ning)?_of_\w++"),
    *("image", "audio", "video", r"fim_\w++", "file_sep", "repo_?name", "filename", "gh_stars"),
    *("empty_output", r"issue_\w++", r"jupyter_\w++", r"commit_\w++", r"seed:\w++"),
)
_TEMPLATE = (
    *("think", "thinking", "thought", "reasoning", "scratch_?pad", "tools?", "tool_list"),
    *("tool_calls?", "tool_responses?", "tool_results?", "tool_outputs?", "function", "invoke"),
    *("function_calls?", "function_results?", "function_response", "system", "system_prompt"),
    *("system-reminder", "assistant", "human", "instructions?", "context", "documents?", "chunks?"),
    "supplements?",
)


def _by_first_letter(names: tuple[str, ...]) -> str:
    """One alternation that looks at each first letter once, for a tag that is none of them."""
    letters = sorted({name[0] for name in names})
    rests = (("|".join(n[1:] for n in names if n[0] == letter)) for letter in letters)
    return "|".join(f"{letter}(?:{rest})" for letter, rest in zip(letters, rests, strict=True))


_NAMES = _by_first_letter((*_SEQUENCE, *_TEMPLATE))

ANGLE = (
    "[|\uff5c]",
    # The same with spaces inside, which no tokenizer but perhaps a model takes for the token.
    "[ \\t]++[|\uff5c][\\w \\t]{1,40}+[|\uff5c]",
    rf"(?i:[ \t]*+/?+[ \t]*+(?:{_NAMES})[ \t]*+/?+[ \t]*+>)",
    r"(?i:[ \t]*+/?+[ \t]*+(?:antml:|(?:invoke|function|tool_call)[ \t=]))",
    # `<<SYS>>` and `<</SYS>>`: the second `<` is the head.
    r"(?i:[ \t]*+/?+[ \t]*+sys[ \t]*+>)",
)
"""Tails after `<`."""

_SYSTEM = (
    r"inst|sys|system_prompt|available_tools|tool_calls|tool_results|tool_content|think"
    r"|model_settings|begin_audio|transcribe|gmask|smask|call_id"
)
# Words that prose and usage lines put in brackets too: in capitals only.
_CAPITALS = (
    r"CLS|SEP|MASK|PAD|UNK|BOS|EOS|EOT|PREFIX|MIDDLE|SUFFIX|ARGS|IMG|IMG_BREAK|IMG_END|AUDIO|REF"
)

SQUARE = (
    rf"(?i:[ \t]*+/?+[ \t]*+(?:{_SYSTEM})[ \t]*+\])",
    rf"/?+(?:{_CAPITALS})\]",
    "[|\uff5c][\\w ]{1,40}+[|\uff5c]",
    # What this project itself writes before a context, in every format.
    r"(?i:[ \t]*+supplement[ \t]*+:)",
    r"(?i:[ \t]*+end[ \t]++of[ \t]++supplements[ \t]*+\])",
)
"""Tails after `[`."""

_SPEAKERS = r"(?i:human|assistant)|U(?:ser|SER)|S(?:ystem|YSTEM)|D(?:eveloper|EVELOPER)|AI"
_SECTIONS = r"instructions?|response|input|output|user|system|system prompt"
_COLON = "[ \\t]*+[:\uff1a]"

ROLES = (
    rf"(?:#{{1,6}}+[ \t]*+|[*_]{{1,3}}+)?+(?:{_SPEAKERS})[ \t]*+[*_]{{0,3}}+{_COLON}",
    rf"#{{1,6}}+[ \t]*+(?i:{_SECTIONS}){_COLON}",
)
"""What a line starts with (after its indentation) when it speaks in a role."""
