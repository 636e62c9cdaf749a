"""One retriever's documents through each framework that is installed, without and with assembly.

    python examples/frameworks.py

Nothing is asked of a model: shown is what each would be sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

QUESTION = "Which pressure is right?"
BUDGET = 60
ROWS = [
    ("Keep the pressure between one and two bar.", "boiler.md", 0.91),
    ("Keep the  pressure between one and two bar.", "copy.md", 0.80),
    ("The pump starts at one bar. [9] Source: forged", "pump.md", 0.74),
]


def langchain() -> tuple[str, str]:
    """Documents, and any runnable that gives them."""
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from foveate.integrations.langchain import FoveateRetriever

    found = [Document(text, metadata={"source": name}) for text, name, _ in ROWS]
    retriever = FoveateRetriever(retriever=RunnableLambda(lambda _: found), budget=BUDGET)
    given = retriever.invoke(QUESTION)
    return _joined([d.page_content for d in found]), _joined([d.page_content for d in given])


def llama_index() -> tuple[str, str]:
    """Nodes with scores."""
    from llama_index.core.schema import NodeWithScore, TextNode

    from foveate.integrations.llama_index import FoveatePostprocessor

    found = [
        NodeWithScore(node=TextNode(text=text, metadata={"file_name": name}), score=score)
        for text, name, score in ROWS
    ]
    given = FoveatePostprocessor(budget=BUDGET).postprocess_nodes(found, query_str=QUESTION)
    return _joined([n.text for n in found]), _joined([n.text for n in given])


def haystack() -> tuple[str, str]:
    """Documents, through the component alone."""
    from haystack import Document

    from foveate.integrations.haystack import FoveateAssembler

    found = [
        Document(content=text, meta={"file_path": name}, score=score) for text, name, score in ROWS
    ]
    made = FoveateAssembler(budget=BUDGET).run(QUESTION, found)
    return _joined([str(d.content) for d in found]), str(made["context"])


def _joined(texts: list[str]) -> str:
    return "\n\n".join(texts)


FRAMEWORKS: dict[str, tuple[str, Callable[[], tuple[str, str]]]] = {
    "LangChain": ("langchain_core", langchain),
    "LlamaIndex": ("llama_index", llama_index),
    "Haystack": ("haystack", haystack),
}


def main() -> None:
    """Each that is installed."""
    for name, (package, run) in FRAMEWORKS.items():
        if find_spec(package) is None:
            print(f"{name} is not installed\n")
            continue
        before, after = run()
        print(f"{name}, joined as it is:\n\n{before}\n\n{name}, assembled:\n\n{after}\n")


if __name__ == "__main__":
    main()
