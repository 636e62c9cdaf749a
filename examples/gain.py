"""What foveate gains on the pages of this repository: facts found within a budget of tokens.

    python examples/gain.py

It indexes `docs/` and asks 32 questions whose answers are sentences or table rows of these pages.
Both sides get the same twenty results of the same search, and the same budget. "Joining the top k"
puts the texts together, the best first, up to the last token. A fact counts if its words are there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import foveate
from foveate.providers.tokenizers import load_tokenizer

DOCS = Path(__file__).resolve().parents[1] / "docs"
BUDGETS = (150, 300, 600, 1200)
FACTS = {
    "Which exit code says that the budget is too small?": "4 | the budget is too small",
    "With which code does Ctrl-C end a command?": "Ctrl-C exits with 130",
    "How many tokens do the documents get if I give no budget?": "4,000 tokens",
    "Which file of the store is derived, so that I can delete it?": "`vectors.bin`",
    "Can I put the store on a network drive?": "does not work over network file systems",
    "What must I install for index --watch?": "pip install 'foveate[watch]'",
    "How do I see the traceback of an unexpected error?": "FOVEATE_DEBUG=1",
    "On which address does the service listen?": "http://127.0.0.1:8020",
    "Which version of curl do the commands of the service need?": "curl 7.82",
    "What does DELETE return for a document that was not there?": "`DELETE` returns 204",
    "Which status does the log have when a client went away?": "Status 499",
    "What is the media type of an error of the service?": "application/problem+json",
    "Where do attachments of a mail go?": "`mail.eml#plan.pdf`",
    "How many passwords may the file for PDFs have?": "up to 100",
    "Up to how many characters of a notebook cell's output are read?": "4,000 characters each",
    "Which encoding is taken for old Cyrillic files?": "--encoding windows-1251",
    "When is a scanned PDF read?": "Scanned PDFs** have no text",
    "Which score does Chroma's l2 distance give?": "`1 / (1 + distance)`",
    "What does pgvector's operator <#> give?": "negative inner product",
    "Which field of a candidate is required?": "Only `text` is required",
    "What happens to a candidate with the key scroe?": "misspelled ones (`scroe`) are refused",
    "How are the sources of a spoken answer found?": "spoken_citations(answer, context)",
    "Which budget is good for voice?": "500 to 1,000",
    "In which languages are there system prompts for voice?": "English, Dutch, German or French",
    "When is a record of a JSON list cut?": "more than 4,000 characters",
    "Which records does a row of CSV never stand without?": "the row of names",
    "What are the shortest identifiers?": "one letter and one or two digits",
    "What does vector_only in the metric of searches mean?": "no word of the question was found",
    "Which scope does a key need to read the metrics?": "scope `metrics`",
    "How large is llama.cpp, which runs a model in the process?": "100 MB",
    "What may two tenants have in common?": "each tenant has its own store",
    "How long do documents of an emptied folder stay with --watch?": "until it is back",
}
"""Question → what the context must hold, as the page writes it."""


def joined(texts: list[str], budget: int) -> str:
    """The texts one after another, cut at the budget."""
    return load_tokenizer("cl100k_base").truncate("\n\n".join(texts), budget)


def holds(context: str, fact: str) -> bool:
    """Whether the words of the fact are in the context."""
    return " ".join(fact.split()).lower() in " ".join(context.split()).lower()


def main() -> None:
    """Print the table: for each budget, how many of the facts are found."""
    pages = " ".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    if lost := [fact for fact in FACTS.values() if not holds(pages, fact)]:
        sys.exit(f"no page says: {lost}")
    found = {budget: [0, 0] for budget in BUDGETS}
    with TemporaryDirectory() as folder, foveate.open_store(folder + "/store") as store:
        store.index(DOCS)
        for question, fact in FACTS.items():
            hits = store.search(question, limit=20).candidates
            for budget, counts in found.items():
                naive = joined([hit.text for hit in hits], budget)
                counts[0] += holds(naive, fact)
                counts[1] += holds(store.assemble(question, budget=budget).text, fact)
    print("| tokens | joining the top k | foveate |\n|---|---|---|")
    for budget, (few, ours) in found.items():
        print(f"| {budget:,} | {few} of {len(FACTS)} | {ours} of {len(FACTS)} |")


if __name__ == "__main__":
    main()
