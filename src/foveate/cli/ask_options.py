"""Options of `foveate ask` alone."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from foveate.cli.completion import complete_names

MODEL_VARIABLE = "FOVEATE_MODEL"

Question = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="What you want to know; without it, a conversation."),
]
StoreUrl = Annotated[str, typer.Option("--store", metavar="URL", help="The store to answer from.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="M",
        envvar=MODEL_VARIABLE,
        show_envvar=False,
        help="openai:MODEL, ollama:MODEL, anthropic:MODEL, each also as MODEL@URL, or "
        "gguf:FILE; else the environment's FOVEATE_MODEL.",
    ),
]
Prompt = Annotated[
    str,
    typer.Option(
        "--prompt", metavar="P", help="grounded, strict, soft, voice, or a file (.md, .txt)."
    ),
]
Channel = Annotated[
    Literal["text", "voice"],
    typer.Option("--channel", help="voice: no markers, sources are found by what is said."),
]
Language = Annotated[
    str, typer.Option("--language", metavar="L", help="Of the prompt: en, nl, de or fr.")
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="R",
        help="A recipe's name, or a TOML file [default; in a conversation agent-session].",
        autocompletion=complete_names("recipes"),
    ),
]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", metavar="N", min=1, help="Tokens for the answer.")
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window", metavar="N", min=1, help="Tokens that the model holds [the registry's]."
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds for the answer.")
]
ConversationFile = Annotated[
    str | None,
    typer.Option(
        "--continue", metavar="FILE", help="Go on with the conversation in FILE, or begin it."
    ),
]
SummariserName = Annotated[
    str | None,
    typer.Option(
        "--summariser",
        metavar="M",
        help="In a conversation: a model for older turns [their best sentences].",
    ),
]
