"""The special and chat-template tokens of `tokenizer.json` files, held against those known here.

    python -m tools.template_tokens FILE...            # what each has, and what would pass raw
    python -m tools.template_tokens --write FILE...    # and put what is new into the data module

Of a `tokenizer.json`: the added tokens that are special. Of `tokenizer_config.json` and
`chat_template.jinja` beside it: the special ones among the added tokens, and what looks like a
token in the chat template. An added token that is neither is text, such as the HTML elements that
some vocabularies hold. A token without any sign, such as `sop`, is a word; it is named and left
out. Ends with 1 if a token of a file would pass raw.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from foveate.core.formats.shared.guards import guards
from foveate.core.text import template_tokens
from foveate.core.text.special_tokens import split
from foveate.core.text.template_tokens import FAMILIES, Family

MODULE = Path(template_tokens.__file__)
CONFIG, TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
WIDTH = 100

LOOKS = re.compile(
    r"<{1,2}/?[|｜]?[\w▁:.-]{1,60}[|｜]?>{1,2}|<[|｜][^<>|｜\s]{1,60}>|\[/?[|]?[A-Za-z_]{3,40}[|]?\]"
    r"|\][~!<][^\s'\"]{1,30}[\[\]]|\[e~\[|>>[A-Z_0-9]{2,40}<<|◁/?\w{1,40}▷"
)
"""What looks like a token in the text of a template."""
EXPRESSION = re.compile(r"(?<=[\w\])])\[(?:['\"]|\w+\]|[-\w]*:)|\{#.*?#\}", re.DOTALL)
"""Subscripts of the template's own language, and its comments: `message['role']`, `turns[1:]`."""
ELEMENTS = re.compile(
    r"a|b|br|code|div|em|h[1-6]|hr|i|li|ol|p|pre|span|strong|table|tbody|t[dhr]|thead|ul?"
)
"""HTML in the text of a template."""


def special(described: Iterable[Any]) -> Iterator[str]:
    """The tokens that a vocabulary calls special."""
    for token in described:
        if isinstance(token, dict) and token.get("special") and token.get("content"):
            yield str(token["content"])


def in_template(text: str) -> Iterator[str]:
    """What looks like a token in a chat template, in its order."""
    for found in LOOKS.findall(EXPRESSION.sub(" ", text)):
        if not ELEMENTS.fullmatch(found.strip("</>").lower()):
            yield found


def templates(config: Any) -> Iterator[str]:
    """The chat templates of a configuration: one text, or several by name."""
    given = config.get("chat_template") or ()
    for one in [given] if isinstance(given, str) else given:
        yield one if isinstance(one, str) else str(one["template"])


def tokens_of(file: Path) -> tuple[str, ...]:
    """All tokens of one model, each once, in the order they are found."""
    found = list(special(json.loads(file.read_text(encoding="utf-8")).get("added_tokens") or ()))
    config, template = file.with_name(CONFIG), file.with_name(TEMPLATE)
    if config.is_file():
        known = json.loads(config.read_text(encoding="utf-8"))
        found += special((known.get("added_tokens_decoder") or {}).values())
        for text in templates(known):
            found += in_template(text)
    if template.is_file():
        found += in_template(template.read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(token for token in found if token.strip()))


def passes(token: str) -> bool:
    """Whether the guards of every format leave the token as it is."""
    return token in guards(markers=False).body(token)


def merged(families: tuple[Family, ...], new: Family) -> tuple[Family, ...]:
    """The families with what is new: into the one of that name, or as one more."""
    for place, old in enumerate(families):
        if old.name == new.name:
            tokens = tuple(dict.fromkeys((*old.tokens, *new.tokens)))
            return (*families[:place], old._replace(tokens=tokens), *families[place + 1 :])
    return (*families, new)


def written(families: tuple[Family, ...]) -> str:
    """The data, as it stands in the module."""
    lines = ["FAMILIES = ("]
    for family in families:
        lines += [f"    Family({_quoted(family.name)}, {_quoted(family.model)},"]
        lines += [f"        {_quoted(family.source)},"]
        quoted = [_quoted(token) for token in family.tokens]
        line = f"        ({quoted[0]},"
        for piece in quoted[1:]:
            if _width(line) + _width(piece) + 4 > WIDTH:
                lines.append(line)
                line = " " * 8
            line += f" {piece},"
        lines.append(f"{line if len(quoted) == 1 else line[:-1]})),")
    return "\n".join([*lines, ")\n"])


def _quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'


def _width(text: str) -> int:
    """How wide a line is on a terminal, where full-width characters take two places."""
    return sum(1 + (east_asian_width(c) in "WF") for c in text)


def put(families: tuple[Family, ...], module: Path) -> None:
    """Write the data into the module, between the two comments that keep it as it is."""
    before, rest = module.read_text(encoding="utf-8").split("# fmt: off\n")
    after = rest.split("# fmt: on\n")[1]
    data = f"{before}# fmt: off\n{written(families)}# fmt: on\n{after}"
    module.write_text(data, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Report on each file; 1 where a token would pass raw."""
    parser = argparse.ArgumentParser(prog="template_tokens", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a tokenizer.json")
    parser.add_argument("--family", help="the family's name (default: the folder's)")
    parser.add_argument("--model", help="a public model of the family (default: the folder's name)")
    parser.add_argument("--source", default="tokenizer.json and tokenizer_config.json of the model")
    parser.add_argument("--write", action="store_true", help="put what is new into the data")
    asked = parser.parse_args(arguments)
    families, raw = FAMILIES, 0
    for file in asked.files:
        folder = file.resolve().parent.name
        tokens = tokens_of(file)
        words = [token for token in tokens if split(token) is None]
        new = [token for token in tokens if token not in words and passes(token)]
        raw += len(new)
        print(f"{file}: {len(tokens)} tokens, {len(new)} pass raw")
        print(*[f"  raw: {token}" for token in new], sep="\n", end="\n" if new else "")
        print(
            *[f"  a word, left out: {word!r}" for word in words],
            sep="\n",
            end="\n" if words else "",
        )
        kept = tuple(token for token in tokens if token not in words)
        name = asked.family or folder
        families = merged(families, Family(name, asked.model or folder, asked.source, kept))
    if asked.write:
        put(families, MODULE)
        print(f"wrote {MODULE.name}")
    return 1 if raw and not asked.write else 0


if __name__ == "__main__":
    sys.exit(main())
