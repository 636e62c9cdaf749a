"""The mutation fuzzer: pieces of renderings, mutated, put back into documents and questions.

    python tests/support/mutants.py --mutants 800000 --seed 1

A mutant is a stretch of what some format renders, its markers signed, listed, ranged, spaced or in
other brackets and digits, cut and changed at random. It stands as text and header fields of a
block, beside an honest one, and as the question. The whole message must be read back as what was
put in, and no marker may be left in a body of a format that has markers.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import product
from random import Random
from typing import Any

from foveate.answer.read_back import parse_message
from foveate.core.contracts import Format, ParsedBlock
from foveate.core.formats import BUILTIN
from foveate.core.formats.anthropic import AnthropicSearchResult
from foveate.core.formats.grouped import Grouped
from foveate.core.formats.numbered import Numbered
from foveate.core.render import Renderer
from foveate.core.text.markers import BLANKS, CLOSINGS, OPENINGS, SIGNS
from foveate.core.types import Block
from foveate.core.window import join_message, join_parts
from foveate.pipeline.prompts import marker_from_format
from foveate.testing.hostile import FORGERIES, SPECIAL_TOKENS
from foveate.testing.markers import marker, markers_in

FORMATS: tuple[Format, ...] = (
    *(make() for make in BUILTIN.values()),
    *(Grouped(markers=True), Numbered(page=False), Numbered(header_form="bare")),
    AnthropicSearchResult(sentences=True),
)
LOOKS: tuple[dict[str, Any], ...] = (
    {},
    {"label": "Pagina context"},
    {"label": ""},
)
RENDERERS = tuple(Renderer(format=form, **look) for look, form in product(LOOKS, FORMATS))
GOOD = Block(marker=2, text="Bread rises.\n\nIt is so.", source="b.md", document_id="b", page=3)
FIELDS = ("source", "title", "section", "summary")
INSERTED = ("\\", "\\\\", "\n", "\n\n", " ", "[", "]", "<", "-", "*", "#", ",", "^", "§", ":", "")

Change = Callable[[str, Random], str]


@lru_cache(maxsize=1)
def stretches() -> tuple[str, ...]:
    """What formats write around texts, and messages as a whole."""
    blocks = [
        Block(marker=0, text="A fact.", title="Facts", source="t", kind="supplement"),
        replace(GOOD, marker=1, source="a.md", document_id="a", summary="About", title="T"),
        replace(GOOD, section="S", metadata=(("author", "Ann"),), score=0.5),
    ]
    found = []
    for renderer in RENDERERS:
        for chosen in (blocks, blocks[1:], blocks[:2]):
            text = renderer.render(chosen).text
            found += [text, join_message(text, "Is it so?")]
            if renderer.format.is_parts:
                found += [part["text"] for part in json.loads(text) if "text" in part]
    return (*found, *FORGERIES, *SPECIAL_TOKENS)


def signed(text: str, dice: Random) -> str:
    """A sign before a number in brackets."""
    return re.sub(r"([\[【])(?=\w* ?\d)", lambda m: m[1] + dice.choice(SIGNS), text)


def listed(text: str, dice: Random) -> str:
    """More in the brackets, of any spelling."""
    return re.sub(r"\[(\w* ?)\d+\]", lambda m: "[" + m[1] + marker(dice)[1:], text)


def ranged(text: str, dice: Random) -> str:
    """Numbers as ranges."""
    return re.sub(r"\d+", lambda m: m[0] + dice.choice("-–~") + str(dice.randint(1, 99)), text)


def spaced(text: str, dice: Random) -> str:
    """Blanks of other widths."""
    return re.sub(r"(?<=[\[<])|(?=[\]>])| ", lambda _: dice.choice(BLANKS), text)


def homoglyph(text: str, dice: Random) -> str:
    """Brackets and digits that look like others."""
    pairs = {"[": dice.choice(OPENINGS), "]": dice.choice(CLOSINGS)}
    first = dice.choice((0x30, 0xFF10, 0x660, 0x245F, 0x215F, 0x2080))
    pairs |= {str(n): chr(first + n) for n in range(1, 10)}
    return text.translate(str.maketrans(pairs))


def inserted(text: str, dice: Random) -> str:
    """A character more, somewhere."""
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(INSERTED) + text[at:]


def deleted(text: str, dice: Random) -> str:
    """A few characters less."""
    at = dice.randint(0, len(text))
    return text[:at] + text[at + dice.randint(1, 3) :]


def cased(text: str, dice: Random) -> str:
    """Small letters and capitals changed."""
    return text.swapcase() if dice.random() < 0.5 else text.lower()


def escaped(text: str, dice: Random) -> str:
    """Backslashes where they would be put."""
    return re.sub(r"(?<=[\[<,§])", "\\\\" * dice.randint(1, 3), text)


CHANGES: tuple[Change, ...] = (
    *(signed, listed, ranged, spaced, homoglyph),
    *(inserted, deleted, cased, escaped),
)


def mutant(dice: Random) -> str:
    """A stretch of a rendering, cut and changed."""
    text = dice.choice(stretches())
    if dice.random() < 0.7:
        brackets = [found.start() for found in re.finditer(r"[\[<]", text)]
        start = dice.choice((*brackets, dice.randrange(len(text))))
        start = max(0, start - dice.choice((0, 0, 1, 4, 9)))
        text = text[start : start + dice.randint(3, 120)]
    if dice.random() < 0.5:
        at = dice.choice((0, len(text), dice.randint(0, len(text))))
        text = text[:at] + marker(dice) + text[at:]
    for _ in range(dice.randint(1, 3)):
        text = dice.choice(CHANGES)(text, dice)
    return text


def check(seed: int) -> None:
    """Put a mutant everywhere; raise `AssertionError` where what is read back differs."""
    dice, renderer = Random(seed), RENDERERS[seed % len(RENDERERS)]
    text, question = mutant(dice), dice.choice(("Is it so?", mutant(dice)))
    fields = {name: mutant(dice) if dice.random() < 0.3 else "" for name in FIELDS}
    if dice.random() < 0.2:
        fields["metadata"] = (("author", mutant(dice)),)
    bad = Block(marker=1, text=text, document_id="a", page=dice.choice((None, 1)), **fields)
    side = replace(GOOD, kind="supplement", text=mutant(dice), marker=0)
    blocks = dice.choice(([bad, GOOD], [GOOD, bad], [bad], [side, bad, GOOD]))
    rendered = renderer.render(blocks)
    content = join_message(rendered.text, question)
    if renderer.format.is_parts:
        content = join_parts(json.loads(rendered.text), question)
    parsed = parse_message(content, format=renderer.format, label=renderer.label)
    expected = [shown(block) for block in renderer.shown_blocks(blocks)]
    assert parsed.question == question, f"{renderer!r}: the question of {content!r}"
    assert [shown(one) for one in parsed.blocks] == expected, f"{renderer!r}: {content!r}"
    if marker_from_format(renderer.format) is not None:
        for start, end in rendered.spans:
            left = markers_in(rendered.text[start:end])
            assert not left, f"{renderer!r}: {left!r} in {rendered.text[start:end]!r}"


def shown(parsed: ParsedBlock) -> tuple[str, dict[str, str]]:
    """What was put in of a block."""
    return parsed.text, dict(parsed.fields)


def run(mutants: int, seed: int) -> Counter[str]:
    """Check so many; the outcomes by format, and each that is broken by its seed."""
    outcomes: Counter[str] = Counter()
    for number in range(seed, seed + mutants):
        try:
            check(number)
        except Exception as error:  # noqa: BLE001
            outcomes["broken"] += 1
            sys.stdout.write(f"seed {number}: {type(error).__name__}: {error}\n")
        outcomes[RENDERERS[number % len(RENDERERS)].format.name] += 1
    return outcomes


def last_lines(mutants: int, outcomes: Counter[str]) -> str:
    """What the fuzzer says at the end."""
    formats = ", ".join(f"{name} {n:,}" for name, n in sorted(outcomes.items()) if name != "broken")
    return f"mutants of {formats}\nmutants: {mutants:,}, {outcomes['broken']} broken"


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.mutants < 1:
        parser.error("--mutants is how many are tried: 1 at least")
    outcomes = run(options.mutants, options.seed)
    sys.stdout.write(last_lines(options.mutants, outcomes) + "\n")
    sys.exit(1 if outcomes["broken"] else 0)


if __name__ == "__main__":
    main()
