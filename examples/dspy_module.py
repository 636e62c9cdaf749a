"""DSPy: a module that retrieves, assembles, predicts, and checks what was said.

    python examples/dspy_module.py openai/gpt-4.1

`retrieve` is any function from a question to candidates: mappings with at least `text`, or what
LangChain, LlamaIndex or Haystack retrieved. The context that the model reads fits the budget, and
the prediction knows what its markers stand for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import dspy

from foveate import assemble, check_answer

NOTES = [
    {"text": "The well is nine metres deep.", "source": "yard.md", "score": 0.9},
    {"text": "The mill was built of oak.", "source": "mill.md", "score": 0.4},
]


class FromContext(dspy.Signature):  # type: ignore[misc]  # DSPy has no types
    """Answer from the context alone; after each statement, write the marker of its source."""

    context: str = dspy.InputField(desc="numbered sources")
    question: str = dspy.InputField()
    answer: str = dspy.OutputField(desc="with markers like [1]")


class Grounded(dspy.Module):  # type: ignore[misc]  # DSPy has no types
    """A question → an answer, its citations, and what is wrong with them."""

    def __init__(self, retrieve: Callable[[str], Any], budget: int = 1000) -> None:
        super().__init__()
        self.retrieve, self.budget = retrieve, budget
        self.answer = dspy.Predict(FromContext)

    def forward(self, question: str) -> dspy.Prediction:
        """Retrieve, assemble, predict, check."""
        context = assemble(question, self.retrieve(question), budget=self.budget)
        said = self.answer(context=context.text, question=question).answer
        checked = check_answer(said, context)
        cited = [one for one in context.citations if one.marker in checked.cited]
        return dspy.Prediction(answer=said, context=context, citations=cited, checked=checked)


def main() -> None:
    """Ask one question of the model that is named."""
    dspy.configure(lm=dspy.LM(sys.argv[1], cache=False))
    found = Grounded(lambda _question: NOTES)(question="How deep is the well?")
    print(found.answer)
    for citation in found.citations:
        print(citation.label, citation.source)


if __name__ == "__main__":
    main()
