"""Options of the commands, spelled once: those of `assemble`, and what other commands share.

An option is called as the parameter that it stands at, unless it has a name of its own here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from foveate.cli.completion import complete_names

STORE = Path(".foveate")
"""The store of every command, unless --store names another."""

MODEL_SYNTAX = "openai:NAME, anthropic:NAME, ollama:NAME (or …:NAME@URL), gguf:FILE"
"""How `--model` and all other options for models are written."""

Question = Annotated[str | None, typer.Argument(metavar="QUESTION", help="The question.")]
Query = Annotated[str | None, typer.Option(metavar="Q", help="The question, as an option.")]
Chunks = Annotated[
    str | None, typer.Option(metavar="FILE", help="Candidates as JSON Lines; - is stdin.")
]
StoreUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="The store to search (default: .foveate, without --chunks)."),
]
SearchedStore = Annotated[str, typer.Option(metavar="URL", help="The store to search.")]
CaseFiles = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE]...", help="Files of cases, as --dataset.")
]
CaseLimit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Most cases of each set.")]
SearchLimit = Annotated[
    int, typer.Option(metavar="N", min=1, max=100, help="Candidates that a search returns.")
]
RecipeName = Annotated[
    str,
    typer.Option(
        metavar="R",
        help="Recipe: a name, or the path of a TOML file.",
        autocompletion=complete_names("recipes"),
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option(metavar="N", help="Token budget of the context (default: the recipe's)."),
]
TokenizerName = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="Tokenizer for the budget (default: the recipe's).",
        autocompletion=complete_names("tokenizers"),
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(metavar="M", help=f"Model whose tokenizer and window apply: {MODEL_SYNTAX}."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        metavar="F",
        help="Output format (default: the recipe's).",
        autocompletion=complete_names("formats"),
    ),
]
OrderName = Annotated[
    str | None, typer.Option(metavar="O", help="Order of the blocks (default: the recipe's).")
]
CompressorName = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        help="Model that writes shorter versions, if the recipe asks for them (as --model).",
    ),
]
Principals = Annotated[
    list[str] | None,
    typer.Option(
        metavar="P", help="A principal to read as; repeat for several. Other texts are never read."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Print to stderr what happened to every chunk, and why.")
]
Bundle = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write a bundle for `foveate replay`.")
]
EngineName = Annotated[
    str, typer.Option(metavar="local|ray", help="Engine that runs the requests.")
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "--jobs",
        metavar="N",
        help="Parallel workers (default: 1; with ray: the processors).",
    ),
]
RayAddress = Annotated[
    str | None, typer.Option(metavar="A", help="Address of a Ray cluster (default: a local one).")
]
FileLimits = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=N", help="Limit for one file, e.g. pages=9000; repeatable."),
]
TextEncoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Encoding of texts that are not UTF-8 and declare none, e.g. windows-1251.",
    ),
]
ImageFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Also read images of PDF, Word and PowerPoint files, into this folder."
    ),
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Passwords of PDF files, one a line; never stored."),
]
Readers = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "--workers",
        metavar="N",
        min=1,
        help="Processes that read files (default: one for each 32 files, up to 8).",
    ),
]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.toml", help="Side knowledge, used if retrieval is not enough."),
]


def one_question(question: str | None, query: str | None) -> str:
    """The question, which is an argument or --query; raises `BadParameter` for none or both."""
    if (question is None) == (query is None):
        raise typer.BadParameter('give the question once: foveate COMMAND "QUESTION"')
    return question or query or ""


MODEL_VARIABLE = "FOVEATE_MODEL"
WINDOW_ADVICE = "say it with --window N"

AskQuestion = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="The question; without it, a conversation starts."),
]
AskModel = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        envvar=MODEL_VARIABLE,
        show_envvar=False,
        help=f"Model that answers: {MODEL_SYNTAX} (default: FOVEATE_MODEL of the environment).",
    ),
]
PromptName = Annotated[
    str,
    typer.Option(
        metavar="P", help="System prompt: grounded, strict, soft, voice, or a file (.md, .txt)."
    ),
]
Channel = Annotated[
    Literal["text", "voice"],
    typer.Option(help="voice: an answer without markers; its sources are found by their words."),
]
PromptLanguage = Annotated[
    str, typer.Option(metavar="L", help="Language of the prompt: en, nl, de or fr.")
]
AskRecipe = Annotated[
    str | None,
    typer.Option(
        metavar="R",
        help="Recipe: a name, or the path of a TOML file (default: default; in a conversation "
        "agent-session).",
        autocompletion=complete_names("recipes"),
    ),
]
MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Most tokens of the answer.")]
Window = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Context window of the model in tokens (default: the registry's)."
    ),
]
Timeout = Annotated[
    float, typer.Option(metavar="S", min=0.1, help="Time limit for an answer, in seconds.")
]
Temperature = Annotated[
    float, typer.Option(metavar="T", min=0.0, max=2.0, help="Temperature of the model.")
]
AskLimit = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=100, help="Candidates that a search returns (default: 20)."
    ),
]
ConversationFile = Annotated[
    str | None,
    typer.Option(
        "--continue", metavar="FILE", help="Continue the conversation in FILE, or start one."
    ),
]
SummariserName = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        help="Model that summarises older turns of a conversation (default: none; their best "
        "sentences stay).",
    ),
]
