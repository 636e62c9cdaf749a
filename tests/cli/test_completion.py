"""Completion by Tab, in the shells that are installed; bash always is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from source_tree import PACKAGE

SCRIPT = {
    "bash": "source <(_FOVEATE_COMPLETE=source_bash foveate)",
    # what the line editor would call is replaced by what prints its arguments
    "zsh": 'compdef() { :; }; _arguments() { print -r -- "$@"; }; '
    "source <(_FOVEATE_COMPLETE=source_zsh foveate)",
    "fish": "env _FOVEATE_COMPLETE=source_fish foveate | source",
}
ASKING = {
    "bash": "COMP_WORDS=(%(words)s '%(last)s'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
    '_foveate_completion foveate; printf "%%s\\n" "${COMPREPLY[@]}"',
    "zsh": 'words=(%(words)s "%(last)s"); CURRENT=$#words; _foveate_completion',
    "fish": "complete -C '%(words)s %(last)s'",
}
HERE = [shell for shell in ASKING if shutil.which(shell)]


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """A folder with `foveate` of this source, for the search path of a shell."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "foveate"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m foveate "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return folder


def by_tab(program: Path, shell: str, *begun: tuple[str, str]) -> str:
    """What the shell gets for each last word, begun, after the words before it."""
    asked = [ASKING[shell] % {"words": words, "last": last} for words, last in begun]
    where = {"PATH": f"{program}{os.pathsep}{os.environ['PATH']}", "HOME": str(program)}
    done = subprocess.run(
        [str(shutil.which(shell)), "-c", "\n".join((SCRIPT[shell], *asked))],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=program,
        env={**where, "PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.stderr == ""
    return done.stdout


def test_bash_completes_commands_options_and_files(program):
    """F2: what is offered for a begun command and option is what there is; no name hides files."""
    begun = (("foveate", "assem"), ("foveate assemble", "--rec"), ("foveate", "--"))
    options = ["--version", "--install-completion", "--show-completion", "--help"]
    offered = by_tab(program, "bash", *begun).split()
    assert offered == ["assemble", "assemble-batch", "--recipe", *options]

    assert by_tab(program, "bash", ("foveate assemble --recipe", "./mine")) == "\n"


@pytest.mark.parametrize("shell", HERE)
def test_a_shell_completes_names(program, shell):
    """F2: in each shell that is here, the recipes that there are."""
    assert "factual-qa" in by_tab(program, shell, ("foveate recipes show", "fa"))
