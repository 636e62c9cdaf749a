"""The questions that a piece of a document answers, taken from its own words. Pure; no model.

What is asked in so many words (headings and sentences that end with a question mark, "How to …"),
and what a heading stands for, under the document's title. The form of the latter has no words of
its own ("Boiler: opening pressure?"), so that it does for every language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foveate.core.text.blocks import block_spans
from foveate.core.text.sentences import unit_spans

__all__ = ["extract_questions"]

_SHORTEST, _LONGEST = 8, 200  # characters of a question
_SHORTEST_UNSPACED = 4
_MARKUP = re.compile(r"^[\s#>*_`|-]+|[\s#*_`|]+$|[*_`]{2,}")
_LABEL = re.compile(r"^(?:Q|F|Question|Frage|Vraag)\s*\d*\s*[:.)]\s*", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[A-Z][.)])\s+")
_HOW_TO = re.compile(r"^how to\s+(.+?)[.:]?$", re.IGNORECASE)
_MARKS = ("?", "？", "؟", "՞")


def extract_questions(
    text: str, *, title: str = "", section: str = "", language: str = "en", most: int = 5
) -> tuple[str, ...]:
    r"""At most so many questions, distinct, those in so many words first; one names the title.

    `section`: the heading path that the piece begins under.

    >>> extract_questions("## How to bleed the pump\n\nOpen the valve. Is it hot?")
    ('How do I bleed the pump?', 'Is it hot?')
    >>> extract_questions("It opens at 4 bar.", title="Boiler", section="Boiler > Opening pressure")
    ('Boiler: Opening pressure?',)
    """
    headings, sentences = [part for part in [section.rpartition(" > ")[2]] if part], list[str]()
    for span, kind in block_spans(text):
        if kind == "heading":
            headings.append(text[span[0] : span[1]].partition("\n")[0])
        elif kind in ("paragraph", "list"):
            sentences += _question_sentences(text, unit_spans(text, span, kind, language))
    bare = list(dict.fromkeys(_strip_markup(each) for each in headings))
    asked = [each for each in (*map(_question_from_heading, bare), *sentences) if _is_usable(each)]
    kept = list(dict.fromkeys(asked))[:most]
    made = [
        each
        for each in bare
        if not _question_from_heading(each) and each.casefold() != title.casefold()
    ]
    kept += [f"{title}: {each}?" for each in made if title and each][: most - len(kept)]
    if title and not any(title.casefold() in each.casefold() for each in kept):
        kept[most - 1 :] = [f"{title}?"]
    return tuple(kept)


def _question_from_heading(heading: str) -> str:
    """The heading as a question where it is one; else empty."""
    if heading.endswith(_MARKS):
        return heading
    found = _HOW_TO.match(heading)
    return f"How do I {found[1]}?" if found else ""


def _question_sentences(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    for start, end in spans:
        sentence = _strip_markup(text[start:end])
        if sentence.endswith(_MARKS):
            yield sentence


def _strip_markup(text: str) -> str:
    """Without the marks of a heading or a list, its number, and a label such as `Q:`."""
    bare = _MARKUP.sub("", " ".join(text.split()))
    return _LABEL.sub("", _NUMBER.sub("", bare)).strip()


def _is_usable(question: str) -> bool:
    least = _SHORTEST if question.isascii() else _SHORTEST_UNSPACED
    return least <= len(question) <= _LONGEST
