"""What a bare install must do: import, help, one case assembled, a clear word about extras.

Run by `make smoke` with the interpreter of an environment that has no extras, from an empty
folder, so that only the built package can be found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOVEATE = Path(sys.executable).with_name("foveate")
CHUNKS = [
    {"id": "a", "source": "well.md", "text": "The well is nine metres deep.", "score": 0.9},
    {"id": "b", "source": "mill.md", "text": "The mill was built of oak.", "score": 0.5},
]


def run(*args: str, expect: int = 0) -> str:
    """The program's output; the exit code must be the expected one.

    What stands in PYTHONPATH would be found before what is installed, so it is not handed on.
    """
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(FOVEATE), *args], capture_output=True, text=True, encoding="utf-8", check=False,
        env=alone,
    )  # fmt: skip
    if done.returncode != expect:
        sys.exit(f"foveate {args[0]}: exit {done.returncode}, not {expect}\n{done.stderr}")
    return done.stdout if expect == 0 else done.stderr


def main() -> None:
    """Each check prints one line; the first that fails ends the run."""
    import foveate

    where = Path(foveate.__file__).resolve()
    assert "site-packages" in where.parts, f"the installed package must be used, not {where}"
    print(f"import foveate {foveate.__version__}: ok")

    assert "assemble" in run("--help")
    assert run("--version") == f"foveate {foveate.__version__}\n"
    print("foveate --help, --version: ok")

    with tempfile.TemporaryDirectory() as folder:
        chunks = Path(folder, "chunks.jsonl")
        chunks.write_text("".join(json.dumps(c) + "\n" for c in CHUNKS), encoding="utf-8")
        out = run(
            "assemble", "--query", "How deep is the well?", "--chunks", str(chunks),
            "--recipe", "naive", "--budget", "200", "--json",
        )  # fmt: skip
        context = json.loads(out)
        assert "nine metres" in context["text"]
        assert 0 < context["token_count"] <= 200
        print(f"foveate assemble: ok, {context['token_count']} tokens")

        Path(folder, "page.md").write_text("# Well\n\nNine metres.\n", encoding="utf-8")
        said = run("index", str(Path(folder, "page.md")), expect=5)
        assert "pip install 'foveate[local]'" in said, said
        said = run("search", "--query", "x", "--store", "postgresql://u@/d", expect=5)
        assert "pip install 'foveate[postgres]'" in said, said
        print("foveate index and search without their extras: say the install line")


if __name__ == "__main__":
    main()
