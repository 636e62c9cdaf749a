"""Fit the margins of `models.toml` to real vocabularies; prints them as the file has them.

    pip install scipy; python -m bench.fit_counts [MODEL=FILE ...]

For each margin, the factors with the least mean waste with which no text of the first half is
counted too low (a linear program), times a cushion for texts that were not among them. As
`bench_counts`, it reads the vocabularies that are installed; MODEL=FILE adds one (Gemma 3's does
not come with a Python package).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np

from bench.bench_counts import Count, installed
from bench.count_texts import CONTENTS, FITTED, series
from foveate.providers.tokenizers import load_tokenizer
from foveate.providers.tokenizers.content_margin import CLASSES, ContentMargin

SERIES, IN_SERIES = 100, 8
TABLES, IN_TABLE = 300, 2
"""Further series of tables, whose styles differ most, and texts of each."""
UNKNOWN = "unknown"
MARGINS = {
    "llama-2": ("cl100k_base", 1.06, 1.12, ["Llama 2"]),
    "llama-3": ("cl100k_base", 1.01, 1.05, ["Llama 3"]),
    "llama-4": ("cl100k_base", 1.04, 1.1, ["Llama 4"]),
    "qwen": ("cl100k_base", 1.01, 1.05, ["Qwen 2.5, 3", "Llama 3"]),
    "qwen-3.6": ("cl100k_base", 1.06, 1.12, ["Qwen 3.6"]),
    "deepseek-v4": ("cl100k_base", 1.06, 1.12, ["DeepSeek V4"]),
    "mistral-7b": ("cl100k_base", 1.1, 1.15, ["Mistral 7B", "Mistral 7B v0.3"]),
    "mistral-nemo": ("cl100k_base", 1.04, 1.1, ["Mistral Nemo"]),
    "gemma-3": ("o200k_base", 1.04, 1.1, ["gemma3:4b"]),
    "smollm2": ("cl100k_base", 1.06, 1.12, ["SmolLM2"]),
    UNKNOWN: ("cl100k_base", 1.06, 1.12, []),
}
"""By name: the tokenizer that counts, the cushion, that of scripts other than Latin, and the
vocabularies whose counts it must reach; that of `unknown` those of all. `qwen` reaches Llama 3's
too, for a name of the registry stands for either."""


def fit(tokens: np.ndarray, really: np.ndarray) -> np.ndarray:
    """The factors with the least mean waste that count no text too low."""
    from scipy.optimize import linprog

    shares = tokens / really[:, None]
    least = -np.ones(len(shares))
    bounds = [(0, 8)] * len(CLASSES)
    found = linprog(shares.mean(0) + 1e-6, A_ub=-shares, b_ub=least, bounds=bounds)
    return np.asarray(found.x)


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each margin."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("more", nargs="*", metavar="MODEL=FILE", help="further vocabularies")
    options = parser.parse_args(argv)
    parts = [(content, n, IN_SERIES) for content in CONTENTS for n in range(SERIES)]
    parts += [("tables", n, IN_TABLE) for n in range(SERIES, SERIES + TABLES)]
    texts = [text for content, n, size in parts for text in series(content, f"s{n}", size, FITTED)]
    counts: dict[str, Count] = {title: count for title, _, count in installed(options.more)}
    really = {title: np.array([*map(count, texts)]) for title, count in counts.items()}
    for name, (base, cushion, beyond_latin, titles) in MARGINS.items():
        margin = ContentMargin.plain(load_tokenizer(base))
        tokens = np.array([margin.composition(text) for text in texts])
        reached = [really[title] for title in titles or really if title in really]
        if len(reached) < len(titles):
            print(f"# {name}: left out, a vocabulary is missing")
            continue
        factors = fit(tokens, np.maximum.reduce(reached)) * ([cushion] * 4 + [beyond_latin] * 2)
        pairs = zip(CLASSES, factors, strict=True)
        spelled = ",".join(f"{one}:{math.ceil(factor * 100) / 100:g}" for one, factor in pairs)
        key = f'"{name}"' if "." in name else name
        print(f'margins.{key} = "{spelled}"', flush=True)


if __name__ == "__main__":
    main()
