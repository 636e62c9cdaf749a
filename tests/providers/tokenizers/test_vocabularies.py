"""The promise of the registry's margins, held to the vocabularies of real models.

Those that a development environment has, and those of `make bench-counts` if they were installed.
"""

from __future__ import annotations

import pytest
from bench import bench_counts as bench
from bench.count_texts import CONTENTS, series

from foveate import observed
from foveate.models import Model
from foveate.providers.tokenizers import load_tokenizer

DRAWN = [name for name in CONTENTS if name not in {"sources", "documentation", "data files"}]
"""Classes whose texts are not those of whatever happens to be installed."""
INSTALLED = {title: (name, count) for title, name, count in bench.installed()}


@pytest.mark.parametrize("title", [*INSTALLED, "o200k_base"])
def test_no_text_is_counted_too_low(title: str):
    """A7, B4: a model's vocabulary never has more tokens than the registry counts."""
    name, count = INSTALLED.get(title, (bench.UNKNOWN, load_tokenizer("o200k_base").count))
    margin = bench.registered(name)
    low = [
        (content, count(text), margin.count(text))
        for content in DRAWN
        for number in range(6)
        for text in series(content, f"suite {number}", 4)
        if margin.count(text) < count(text)
    ]
    assert low == []
    assert {"Llama 2", "SmolLM2"} <= INSTALLED.keys()


@pytest.mark.parametrize("title", INSTALLED)
@pytest.mark.parametrize("seen", ["prose", "tables", "other scripts"])
def test_what_was_observed_corrects_the_count_of_like_texts(title: str, seen: str):
    """A7: once ten texts were observed, others like them are counted a little too high."""
    name, count = INSTALLED[title]
    counter = bench.registered(name)
    for text in series(seen, "suite", 10):
        message = {"role": "user", "content": text}
        counter = observed({"prompt_tokens": count(text)}, [message], tokenizer=counter)
    like = series(seen, "suite", 20)[10:]
    wasted = sum(map(counter.count, like)) / sum(map(count, like)) - 1
    assert 0 <= wasted < 0.25


def test_an_unknown_model_has_the_largest_margin():
    """B4: nothing is known of it, so it is counted as the strictest vocabulary counts."""
    found = load_tokenizer(Model(name="own", window=8_192).tokenizer)
    for name in ("llama2:7b", "llama3:8b", "qwen3:8b", "mistral", "mistral-nemo", "smollm2:135m"):
        for text in (text for content in DRAWN for text in series(content, "suite", 2)):
            assert found.count(text) >= 0.95 * bench.registered(name).count(text)
