"""A command, a flag or a kind of file that foveate no longer has: one line with what to use."""

from __future__ import annotations

from pathlib import Path

import pytest

from foveate.core.removed import REMOVED

NAMES = [
    (kind, name, REMOVED[f"{kind} {name}"])
    for kind in ("command", "flag", "file")
    for name in (key.partition(" ")[2] for key in REMOVED if key.startswith(f"{kind} "))
]


@pytest.mark.parametrize(("kind", "name", "instead"), NAMES)
def test_what_went_is_refused_with_what_to_use_instead(kind, name, instead, run) -> None:
    """X1: the advice of the table, on stderr, and the exit code of a usage error or a bad file."""
    if kind == "file":
        Path(f"page{name}").write_bytes(b"{\\rtf1 The valve opens.}")
        done = run("index", f"page{name}", "--store", "store", "--embedder", "hashing")
    else:
        done = run(name) if kind == "command" else run("assemble", name)

    assert done.code == (3 if kind == "file" else 2)
    assert " ".join(f"{done.out} {done.err}".split()).count(instead) == 1


SETTINGS = [name.partition(" ")[2] for name in REMOVED if name.startswith("setting ")]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_went_is_refused_however_it_is_given(name, run, monkeypatch) -> None:
    """X1: as a flag of `foveate serve`, as a variable and in a file, before anything listens."""
    Path("serve.toml").write_text(f"{name} = 9\n", encoding="utf-8")
    flag = f"--{name.replace('_', '-')}"
    done = [run("serve", flag, "9"), run("serve", "--settings", "serve.toml")]
    monkeypatch.setenv(f"FOVEATE_SERVE_{name.upper()}", "9")
    done.append(run("serve"))

    for one in done:
        assert one.code == 2
        assert " ".join(one.err.split()).count(REMOVED[f"setting {name}"]) == 1
