"""What an assembly costs: candidates, tokenizer calls and time, for each recipe.

Counts of work are the same on every machine; times are not, and are printed for the eye.
A second run over the same candidates shows what the counts that are remembered save.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random

from foveate.core.assemble import assemble
from foveate.core.candidates import candidates_from_items
from foveate.core.contracts import Tokenizer
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Inputs
from foveate.core.types import Candidate
from foveate.core.zones import Budget
from foveate.providers.tokenizers import load_tokenizer

QUERY = "Which gate of the lock opens first?"
BUDGET = Budget(documents=4_000, window=None)
TEXT = """the lock keeper opens the lower gate first and the water level falls so that a boat
rises slowly past the upper paddle in winter and spring under the canal bridge of the toll house"""
WORDS = TEXT.split()


@dataclass(slots=True)
class Counted:
    """A tokenizer that notes how often it is asked, and for how many characters."""

    inner: Tokenizer
    name: str = "cl100k_base"
    fingerprint: str = "counted"
    calls: int = 0
    characters: int = 0
    known: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int:
        """Count, and note it."""
        self.calls += 1
        self.characters += len(text)
        return self.inner.count(text)

    def truncate(self, text: str, n: int) -> str:
        """Cut, and note it."""
        self.calls += 1
        self.characters += len(text)
        return self.inner.truncate(text, n)


def pool(size: int, seed: int = 7) -> tuple[Candidate, ...]:
    """Chunks of about 200 words in documents of ten, a tenth of them copies."""
    dice = Random(seed)  # noqa: S311
    rows: list[dict[str, object]] = []
    for number in range(size):
        sentences = (" ".join(dice.choices(WORDS, k=12)).capitalize() for _ in range(16))
        copy = rows and dice.random() < 0.1
        rows.append(
            {
                "id": f"c{number}",
                "source": f"d{number // 10}.md",
                "sequence": number % 10,
                "text": dice.choice(rows)["text"] if copy else ". ".join(sentences) + ".",
                "score": round(dice.random(), 3),
            }
        )
    return candidates_from_items(rows)


def main() -> None:
    """One line a recipe and size."""
    exact = load_tokenizer("cl100k_base")
    print(f"{'recipe':16} {'in':>5} {'out':>4} {'calls':>6} {'again':>6} {'ms':>7} {'again':>7}")
    for size in (100, 1_000):
        candidates = pool(size)
        for name, recipe in builtin_recipes().items():
            inputs = Inputs(query=QUERY, candidates=candidates, recipe=recipe, budget=BUDGET)
            tokenizer = Counted(inner=exact)
            figures = []
            for _ in range(2):
                before, start = tokenizer.calls, time.perf_counter()
                context = assemble(inputs, tokenizer, tokenizer.known)
                figures.append((tokenizer.calls - before, 1000 * (time.perf_counter() - start)))
            (calls, cold), (fewer, warm) = figures
            print(
                f"{name:16} {size:5} {len(context.blocks):4} {calls:6} {fewer:6} "
                f"{cold:7.1f} {warm:7.1f}"
            )


if __name__ == "__main__":
    main()
