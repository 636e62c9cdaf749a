"""Options of the commands, spelled once: those of `assemble`, and what other commands share.

An option is called as the parameter that it stands at, unless it has a name of its own here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def option(metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option that takes a value: what the value is called, and what the option says.

    `more`: as `typer.Option` takes it, and in the two below.
    """
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(help: str, *names: str, **more: Any) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """A value that is named by its place."""
    return typer.Argument(metavar=metavar, help=help, **more)


def complete_names(group: str) -> Callable[[str], list[str]]:
    """A completion by the names of a group of plugins; where none fits, the shell shows files."""

    def fitting(incomplete: str) -> list[str]:
        from foveate.plugins import list_plugins

        # a colon stands in names that go on with a path or a model, which nobody can list
        found = [plugin.name for plugin in list_plugins() if plugin.group == group]
        return [name for name in found if name.startswith(incomplete) and ":" not in name]

    return fitting


STORE = Path(".foveate")
"""The store of every command, unless --store names another."""

MODEL_SYNTAX = "openai:NAME, anthropic:NAME, ollama:NAME (or …:NAME@URL), gguf:FILE"
"""How `--model` and all other options for models are written."""

Question = Annotated[str | None, argument("QUESTION", "The question.")]
Query = Annotated[str | None, option("Q", "The question, as an option.")]
Chunks = Annotated[str | None, option("FILE", "Candidates as JSON Lines; - is stdin.")]
StoreUrl = Annotated[
    str | None, option("URL", "The store to search (default: .foveate, without --chunks).")
]
SearchedStore = Annotated[str, option("URL", "The store to search.")]
CaseFiles = Annotated[list[str] | None, argument("[FILE]...", "Files of cases, as --dataset.")]
CaseLimit = Annotated[int | None, option("N", "Most cases of each set.", min=1)]
SearchLimit = Annotated[int, option("N", "Candidates that a search returns.", min=1, max=100)]
RecipeName = Annotated[
    str,
    option(
        "R", "Recipe: a name, or the path of a TOML file.", autocompletion=complete_names("recipes")
    ),
]
Tokens = Annotated[
    int | None, option("N", "Token budget of the context (default: the recipe's, or 4,000).")
]
TokenizerName = Annotated[
    str | None,
    option(
        "T",
        "Tokenizer for the budget (default: the recipe's).",
        autocompletion=complete_names("tokenizers"),
    ),
]
ModelName = Annotated[
    str | None, option("M", f"Model whose tokenizer and window apply: {MODEL_SYNTAX}.")
]
FormatName = Annotated[
    str | None,
    option("F", "Output format (default: the recipe's).", autocompletion=complete_names("formats")),
]
ORDERS = "relevance, chronological, bookend, edges, lost_in_middle, document, attention, as_packed"
"""Written out, so that the help imports no stage; a test compares it with the stage."""
OrderName = Annotated[
    str | None, option("O", f"Order of the blocks: {ORDERS} (default: the recipe's).")
]
CompressorName = Annotated[
    str | None,
    option("M", "Model that writes shorter versions, if the recipe asks for them (as --model)."),
]
Principals = Annotated[
    list[str] | None,
    option("P", "A principal to read as; repeat for several. Other texts are never read."),
]
Json = Annotated[bool, flag("Print one JSON object.", "--json")]
Explain = Annotated[
    bool,
    flag("Say on stderr what is shown and left out, and why; --explain=all: all.", "--explain"),
]
ExplainAll = Annotated[bool, flag("As --explain=all.", "--explain-all", hidden=True)]
"""How `--explain=all` arrives: a flag of the command line takes no value (`cli/__init__.py`)."""
Citations = Annotated[
    bool, flag("Print to stderr the source and the place of each marker.", "--citations")
]
Bundle = Annotated[str | None, option("FILE", "Write a bundle for `foveate replay`.")]
EngineName = Annotated[str, option("local|ray", "Engine that runs the requests.")]
Workers = Annotated[
    int | None,
    option("N", "Parallel workers (default: 1; with ray: the processors).", "--workers", "--jobs"),
]
RayAddress = Annotated[str | None, option("A", "Address of a Ray cluster (default: a local one).")]
FileLimits = Annotated[
    list[str] | None, option("NAME=N", "Limit for one file, e.g. pages=9000; repeatable.")
]
TextEncoding = Annotated[
    str, option("NAME", "Encoding of texts that are not UTF-8 and declare none, e.g. windows-1251.")
]
ImageFolder = Annotated[
    Path | None,
    option("DIR", "Also read images of PDF, Word and PowerPoint files, into this folder."),
]
PasswordFile = Annotated[
    Path | None, option("FILE", "Passwords of PDF files, one a line; never stored.")
]
Readers = Annotated[
    int | None,
    option(
        "N",
        "Processes that read files (default: one for each 32 files, up to 8).",
        "--jobs",
        "--workers",
        min=1,
    ),
]
TaxonomyFile = Annotated[
    Path | None, option("FILE.toml", "Side knowledge, used if retrieval is not enough.")
]


def one_question(question: str | None, query: str | None) -> str:
    """The question, which is an argument or --query; raises `BadParameter` for none or both."""
    if question is None and query is None:
        raise typer.BadParameter("give the question, in quotes")
    if question is not None and query is not None:
        raise typer.BadParameter("give the question once, without --query or with it alone")
    return question or query or ""


def check_language(code: str) -> str:
    """The code of a language as it is; raises `BadParameter` for its name."""
    from foveate.core.text.sentences import base_language

    if len(base_language(code)) > LONGEST_LANGUAGE_CODE:
        raise typer.BadParameter(f"{code!r}: write the code of the language, such as de or pt-BR")
    return code


MODEL_VARIABLE = "FOVEATE_MODEL"

AskModel = Annotated[
    str | None,
    option(
        "M",
        f"Model that answers: {MODEL_SYNTAX} (default: FOVEATE_MODEL of the environment).",
        envvar=MODEL_VARIABLE,
        show_envvar=False,
    ),
]
PromptName = Annotated[
    str, option("P", "System prompt: grounded, strict, soft, voice, or a file (.md, .txt).")
]
Channel = Annotated[
    Literal["text", "voice"],
    option(None, "voice: an answer without markers; its sources are found by their words."),
]
LONGEST_LANGUAGE_CODE = 3
Language = Annotated[
    str,
    option(
        "L",
        "Language of the texts and of page summaries' label: en, nl, de, fr, es, it or pt.",
        callback=check_language,
    ),
]
PromptLanguage = Annotated[
    str, option("L", "Language of the prompt and of page summaries' label: en, nl, de or fr.")
]
MaxTokens = Annotated[int, option("N", "Most tokens of the answer.", min=1)]
Window = Annotated[
    int | None,
    option("N", "Context window of the model in tokens (default: the registry's).", min=1),
]
Timeout = Annotated[float, option("S", "Time limit for an answer, in seconds.", min=0.1)]
Temperature = Annotated[float, option("T", "Temperature of the model.", min=0.0, max=2.0)]
