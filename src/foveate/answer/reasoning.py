"""What a model thought aloud in front of its answer, which is no part of the answer.

Servers that know a model's template keep it apart; others send it in the text, between the marks of
the template. It stands before the answer, in one block or several. A template may have the opening
mark in the prompt, so that the text begins inside.
"""

from __future__ import annotations

import re

MARKS = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "reasoning")),
    *((f"<{name}>", f"</{name}>") for name in ("seed:think", "longcat_think")),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel|>commentary<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
)
"""By template, how reasoning begins and ends; `core/text/template_tokens.py` has the sources."""
HEADS = (
    *("<|start|>assistant", "<|channel|>final<|message|>", "<|START_RESPONSE|>"),
    "<|begin_of_solution|>",
)
"""What may stand between the reasoning and the answer."""
TAILS = ("<|return|>", "<|end|>", "<|END_RESPONSE|>", "<|end_of_solution|>")
"""What may stand behind the answer."""
_ENDS = "|".join(re.escape(close) for _, close in MARKS if close != "<|end|>")
_QUOTES = "`\"'“”‘’«»„"
_END = re.compile(rf"(?<![{_QUOTES}])(?:{_ENDS})(?![{_QUOTES}])")
_GOES_ON = re.compile(r"[ \t]+[a-zß-öø-ÿа-я]")


def split_reasoning(text: str) -> tuple[int, int]:
    r"""From where to where the answer stands in the text; nothing, if the reasoning never ends.

    >>> text = "<think>Nine or ten?</think>\n\nAt nine [1]."
    >>> first, last = split_reasoning(text)
    >>> text[first:last]
    'At nine [1].'
    """
    reader = ReasoningFilter()
    shown = reader.feed(text) + reader.finish()
    first = len(text) - len(shown)
    if not first and (end := _end_of_begun(text)):
        first = end + len(text[end:]) - len(text[end:].lstrip())
    last = len(text)
    while first and (tail := next((t for t in TAILS if text.endswith(t, first, last)), "")):
        last -= len(tail)
    return first, last


def _end_of_begun(text: str) -> int:
    """Where reasoning ends in which the text begins; 0 if it does not.

    A mark in code, in quotes or inside of a sentence is spoken of.
    """
    for mark in _END.finditer(text):
        spoken_of = text[mark.start() - 1 : mark.start()] == " " and _GOES_ON.match(
            text, mark.end()
        )
        if not spoken_of and text.count("```", 0, mark.start()) % 2 == 0:
            return mark.end()
    return 0


class ReasoningFilter:
    """Pieces of an arriving text in, those of the answer out.

    A mark that is cut in two is held back. Where the text begins inside of the reasoning, that is
    known when it ends, and what has come before is out.
    """

    def __init__(self) -> None:
        self._held = ""
        self._close = ""
        self._settled = False
        self._found = False

    def feed(self, piece: str) -> str:
        """What of the answer is known by now."""
        if self._settled:
            return piece
        self._held += piece
        while self._step():
            pass
        return self._release() if self._settled else ""

    def finish(self) -> str:
        """What was held back; nothing if the reasoning never ended."""
        return "" if self._settled or self._close else self._release()

    def _step(self) -> bool:
        """Read one mark; false where the next is not there yet, or none will come."""
        if self._close:
            end = self._held.find(self._close)
            if end < 0:
                self._held = self._held[-len(self._close) :]
                return False
            self._held, self._close = self._held[end + len(self._close) :], ""
            return True
        start = self._held.lstrip()
        for begin, close in (*MARKS, *((head, "") for head in HEADS)):
            if start.startswith(begin):
                self._held, self._close, self._found = start[len(begin) :], close, True
                return True
        waits = any(begin.startswith(start) for begin in (*(m[0] for m in MARKS), *HEADS))
        self._settled = not waits
        return False

    def _release(self) -> str:
        """What is held, without the white space behind the reasoning."""
        shown, self._held = (self._held.lstrip() if self._found else self._held), ""
        return shown
