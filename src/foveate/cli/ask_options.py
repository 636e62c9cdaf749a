"""Options of `foveate ask` alone."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from foveate.cli.completion import complete_names
from foveate.cli.options import MODEL_SYNTAX

MODEL_VARIABLE = "FOVEATE_MODEL"

Question = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="The question; without it, a conversation starts."),
]
StoreUrl = Annotated[str, typer.Option("--store", metavar="URL", help="The store to search.")]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="M",
        envvar=MODEL_VARIABLE,
        show_envvar=False,
        help=f"Model that answers: {MODEL_SYNTAX} (default: FOVEATE_MODEL of the environment).",
    ),
]
Prompt = Annotated[
    str,
    typer.Option(
        "--prompt",
        metavar="P",
        help="System prompt: grounded, strict, soft, voice, or a file (.md, .txt).",
    ),
]
Channel = Annotated[
    Literal["text", "voice"],
    typer.Option(
        "--channel", help="voice: an answer without markers; its sources are found by their words."
    ),
]
Language = Annotated[
    str, typer.Option("--language", metavar="L", help="Language of the prompt: en, nl, de or fr.")
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        metavar="R",
        help="Recipe: a name, or the path of a TOML file (default: default; in a conversation "
        "agent-session).",
        autocompletion=complete_names("recipes"),
    ),
]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", metavar="N", min=1, help="Most tokens of the answer.")
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="N",
        min=1,
        help="Context window of the model in tokens (default: the registry's).",
    ),
]
Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="S", min=0.1, help="Time limit for the answer, in seconds."),
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
        "--summariser",
        metavar="M",
        help="Model that summarises older turns of a conversation (default: none; their best "
        "sentences stay).",
    ),
]
