"""In which order the pages stand beside the text; a page that nobody named comes under `More`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

# Site names: `docs/store.md` is `store`, `README.md` is `index`. A `*` takes what is in a folder.
SECTIONS: Mapping[str, Sequence[str]] = {
    "Start": (
        *("quickstart", "install", "how-it-works", "why", "cli", "ask", "files", "faq", "pages"),
    ),
    "Guides": (
        "migrate",
        "choose-a-recipe",
        "budget-for-a-model",
        "rerankers",
        "prompt-caching",
        "voice",
        "multi-tenant",
        "scale",
        "frameworks",
        "langchain",
        "langgraph",
        "llama-index",
        "haystack",
        "clients",
        "fastapi",
        "provider-blocks",
        "images",
        "tables",
        "your-own-store",
    ),
    "Concepts": (
        "answers",
        "conversations",
        "sessions",
        "renditions",
        "side-knowledge",
        "limits",
        "glossary",
        "design",
    ),
    "Reference": (
        "reference/stages",
        "reference/formats",
        "reference/recipes",
        "reference/commands",
        "reference/api",
    ),
    "Operations": (
        "store",
        "postgres",
        "lance",
        "batch",
        "service*",
        "playground",
        "mcp",
        "observability",
        "deploy",
        "releasing",
    ),
    "Measurement": ("evaluation", "benchmarks", "cross-validation", "diagnosis", "calibration"),
    "Extending": ("add-a-stage", "add-a-format", "add-a-shape", "add-an-adapter", "contributing"),
    "More": ("*", "changelog"),
}
FOLDERS = ("reference/stages", "reference/formats", "reference/recipes", "reference/api")
"""Each has a page of its own, under which what is in it stands."""


def folder_of(name: str) -> str:
    """The folder that a page stands under; empty where the order above places it."""
    return next((one for one in FOLDERS if name.startswith(f"{one}/")), "")


def placed(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """(section, pages) for all of these names but the start page; those of folders apart."""
    left = sorted(name for name in names if name != "index" and not folder_of(name))
    named = {one for wanted in SECTIONS.values() for one in wanted if "*" not in one}
    for section, wanted in SECTIONS.items():
        pages: list[str] = []
        for one in wanted:
            start = one.removesuffix("*")
            found = [
                name
                for name in left
                if name not in pages
                and (name == one or (one != start and name.startswith(start) and name not in named))
            ]
            pages += found
        left = [name for name in left if name not in pages]
        if pages:
            yield section, pages
