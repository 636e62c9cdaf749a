"""`foveate completion`: the script with which a shell completes commands, options and names by Tab.

The shell runs the program for each completion: the scripts, which typer makes, list no command and
no option, so they stay right after an upgrade.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

SHELL_VARIABLE = "_FOVEATE_COMPLETE"
"""The variable by which a shell says that it wants completions, and which shell it is."""


class Shell(StrEnum):
    """The shells that are spoken to."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def enable_completion() -> None:
    """Let a shell's question be understood, where it is a shell that runs the program.

    Typer would do it by itself, and offer the shell two options that a person cannot use.
    """
    if SHELL_VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()


def complete_names(group: str) -> Callable[[str], list[str]]:
    """A completion by the names of a group of plugins; where none fits, the shell shows files."""

    def fitting(incomplete: str) -> list[str]:
        from foveate.plugins import list_plugins

        # a colon stands in names that go on with a path or a model, which nobody can list
        found = [plugin.name for plugin in list_plugins() if plugin.group == group]
        return [name for name in found if name.startswith(incomplete) and ":" not in name]

    return fitting


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="Your shell.")],
) -> None:
    """Print a script for completion by Tab. For bash: source <(foveate completion bash)."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from foveate.cli import output

    script = get_completion_script(
        prog_name="foveate", complete_var=SHELL_VARIABLE, shell=shell.value
    )
    output.write_line(script)
