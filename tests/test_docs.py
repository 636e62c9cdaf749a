"""The documentation runs: Python blocks, shown commands, links.

Every block that opens with ```python is executed. The blocks of one page share one namespace,
top to bottom, in an empty folder that holds a small manual (`manual/`) and candidates
(`chunks.jsonl`). Where a block has lines that start with `# > `, its output must be exactly those
lines. Commands in blocks that open with ```console run are executed in between, and print what
stands there. Blocks in other languages are not executed; commands in `sh` and `console` must exist.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from command_line import CHUNKS
from foveate import plugins
from foveate.core.spec import recipe_from_toml
from foveate.evals.read import case_from_record
from model_servers import serving
from source_tree import ROOT, short

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<language>\w*)(?P<rest>[^\n]*)\n(?P<text>.*?)^(?P=ticks)\s*?$",
    re.MULTILINE | re.DOTALL,
)
SHOWN = re.compile(r"^ *# ?> ?(.*)$", re.MULTILINE)
FRAMEWORK = re.compile(
    r"^(?:from|import) (?:haystack|lang(?:chain|graph)\w*|llama_index|foveate\.integrations)\b",
    re.MULTILINE,
)
"""In a program that needs a framework; `make newest` runs those, and only those."""
OURS = {"bench", "deploy", "examples", "tests", "tools"}
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")

MANUAL = {
    "boiler.md": (
        "# Boiler\n\nThe boiler holds forty litres of water. Drain it before the first frost.\n\n"
        "## Pressure\n\nKeep the pressure between one and two bar. "
        "Above three bar the valve opens.\n"
    ),
    "pump.md": (
        "# Pump\n\nThe pump starts at one bar. Clean its filter every spring.\n\n"
        "## Noise\n\nA rattling pump has drawn air; bleed it at the upper screw.\n"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its language, its text, the line of the page where the text starts.

    `run`: a console's commands are executed.
    """

    language: str
    run: bool
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, top to bottom."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        language, run = found["language"], found["rest"].strip() == "run"
        yield Block(language=language, run=run, text=found["text"], line=line)


def pages_with(*languages: str, run: bool = False) -> list[Path]:
    """The pages that have blocks in one of these languages; `run`: or whose commands are run."""
    return [
        page
        for page in PAGES
        if any(b.language in languages or (run and b.run) for b in blocks(page))
    ]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """An empty folder with the small manual and the candidates that the pages use."""
    for name, text in MANUAL.items():
        path = tmp_path / "manual" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    lines = "".join(json.dumps(chunk) + "\n" for chunk in CHUNKS[:4])
    (tmp_path / "chunks.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def providers(monkeypatch):
    """Where the providers' own clients find servers that speak their protocols, on loopback."""
    names = {
        "openai": "OPENAI_BASE_URL",
        "anthropic": "ANTHROPIC_BASE_URL",
        "ollama": "OLLAMA_HOST",
    }
    with contextlib.ExitStack() as stack:
        for protocol, name in names.items():
            server = stack.enter_context(serving(protocol))
            version = "/v1" if protocol == "openai" else ""
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.port}{version}")
            monkeypatch.setenv(f"{protocol.upper()}_API_KEY", "none")
        yield


def pages_to_run() -> list[Path]:
    """The pages whose programs this environment has the packages for."""
    wanted = "FOVEATE_FRAMEWORKS" in os.environ
    return [
        page
        for page in pages_with("python", run=True)
        if bool(FRAMEWORK.search(page.read_text(encoding="utf-8"))) is wanted
    ]


@pytest.mark.parametrize("page", pages_to_run(), ids=short)
def test_python_blocks_run(page, workspace, monkeypatch, request):
    """F1: every Python block of a page runs, and prints what the page says it prints."""
    if page.name == "clients.md":
        request.getfixturevalue("providers")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)

    for block in blocks(page):
        if block.run:
            assert on_terminal(block.text) == block.text.rstrip("\n"), f"{short(page)}:{block.line}"
        if block.language != "python":
            continue
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, short(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, module.__dict__)  # the page is ours
        expected = SHOWN.findall(block.text)

        actual = [line.rstrip() for line in printed.getvalue().splitlines()]

        assert not expected or actual == expected, f"{short(page)}:{block.line + 1}"

    assert list(workspace.iterdir()) != []


def test_the_quickstart_gives_the_files_that_its_outputs_are_of():
    """F1: whoever pastes its commands has the manual that the shown commands were run with."""
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    given = re.findall(r"^cat > manual/(\S+) <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)

    assert dict(given) == MANUAL


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The Python blocks of each page as one program, every line where it is on the page."""
    folder = tmp_path_factory.mktemp("programs")
    for page in pages_to_run():
        lines: list[str] = []
        for block in blocks(page):
            if block.language == "python":
                lines += [""] * (block.line - len(lines)) + block.text.splitlines()
        name = re.sub(r"\W", "_", short(page).removesuffix(".md"))
        (folder / f"{name}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def findings(command: list[object]) -> str:
    """What a type checker prints, where it finds something."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_python_programs_pass_mypy(programs):
    """F1: what a page shows is right to `mypy --strict`; packages that are not here are unknown.

    With other options than `make types` has, all of the library would be read anew.
    """
    said = findings([sys.executable, "-m", "mypy", *sorted(programs.glob("*.py"))])
    errors = [line for line in said.splitlines() if ": error: " in line]

    assert [line for line in errors if not line.endswith("[import-not-found]")] == []
    assert not said or said.endswith(f"(checked {len(list(programs.glob('*.py')))} source files)\n")


def test_python_programs_pass_pyright(programs):
    """F1: and to pyright, which editors run."""
    settings = {
        "include": ["."],
        "extraPaths": [str(ROOT / "src")],
        "typeCheckingMode": "standard",
        "reportMissingImports": False,
        "reportMissingModuleSource": False,
    }
    (programs / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    checker = Path(sys.executable).with_name("basedpyright")

    assert findings([checker, "--pythonpath", sys.executable, "-p", programs]) == ""


def on_terminal(text: str) -> str:
    """A terminal's commands with what they print, both streams, 88 columns wide."""
    shown = []
    for line in re.findall(r"^\$ (foveate .*)$", text, re.MULTILINE):
        done = subprocess.run(
            line.replace("foveate", f"{shlex.quote(sys.executable)} -m foveate", 1),
            shell=True,  # what is written down is what is run, `>` too
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "88", "NO_COLOR": "1"},
        )
        shown += [f"$ {line}", *(printed.rstrip() for printed in done.stdout.splitlines())]
    return "\n".join(shown)


def test_the_first_screen_says_what_it_prints():
    """F1: the block with candidates shows its output, so that the test above has it."""
    own = next(b for b in blocks(ROOT / "README.md") if "found = [" in b.text)

    assert re.findall(r"^# > \[1\] boiler.md$", own.text, re.MULTILINE)


def test_the_gain_on_the_first_screen_is_what_its_program_prints():
    """F1: the table is made of this repository's pages, which grow: up to two facts may differ."""
    command = [sys.executable, ROOT / "examples" / "gain.py"]
    made = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    counts = re.compile(r"\| ([\d,]+) \| (\d+) of (\d+) \| (\d+) of \3 \|")
    printed = counts.findall(made)
    shown = counts.findall((ROOT / "README.md").read_text(encoding="utf-8"))

    assert len(printed) == len(shown) > 2
    for (budget, *now), (same, *said) in zip(printed, shown, strict=True):
        assert budget == same
        assert all(abs(int(a) - int(b)) <= 2 for a, b in zip(now, said, strict=True))
        assert int(now[0]) < int(now[2])


def make_targets() -> set[str]:
    """The targets one can name."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def shown_commands(page: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, words) of each command in a page's shell blocks; backslashed lines are joined."""
    for block in blocks(page):
        if block.language not in {"sh", "bash", "console"}:
            continue
        joined = block.text.replace("\\\n", " " * 2)
        for offset, line in enumerate(joined.splitlines(), 1):
            if block.language == "console" and not line.startswith("$ "):
                continue
            for part in re.split(r"\s(?:\||&&|;)\s", line.removeprefix("$ ")):
                words = shlex.split(part, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words:
                    yield block.line + offset, words


def complaint(words: list[str]) -> str:
    """What is wrong with a shown command; empty where it exists as shown."""
    if words[0] == "make":
        missing = {w for w in words[1:] if "=" not in w and w[0] != "-"} - make_targets()
        return f"no such target: {', '.join(sorted(missing))}" if missing else ""
    if words[0] == "foveate":
        return _cli_complaint(words[1:])
    if words[0] == "python":
        return _program_complaint(words[1:])
    if words[:2] == ["pip", "install"]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        asked = {extra for w in words for extra in re.findall(r"^foveate\[(.+)\]", w)}
        missing = {e for extra in asked for e in extra.split(",")} - set(
            project["optional-dependencies"]
        )
        return f"no such extra: {', '.join(sorted(missing))}" if missing else ""
    return ""


def _program_complaint(words: list[str]) -> str:
    """A program of this repository, by its path or as a module, must be there."""
    if words[0] == "-m" and words[1].partition(".")[0] in OURS:
        path = ROOT / words[1].replace(".", "/")
        there = path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
        return "" if there else f"no such module: {words[1]}"
    gone = words[0].endswith(".py") and not (ROOT / words[0]).is_file()
    return f"no such file: {words[0]}" if gone else ""


def _cli_complaint(words: list[str]) -> str:
    """Walk the command tree along the words; every `--option` must be one of the command's."""
    import typer

    from foveate.cli import app

    command = typer.main.get_command(app)
    for word in words:
        children = getattr(command, "commands", {})
        if word.startswith("-") or not children:
            break
        if word not in children:
            return f"no such command: {word}"
        command = children[word]
    # `eval` with flags alone means `eval run`.
    command = getattr(command, "commands", {}).get("run", command)
    known = {"--help"} | {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    unknown = [w for w in words if w.startswith("--") and w.partition("=")[0] not in known]
    return f"no such option: {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("page", pages_with("toml"), ids=short)
def test_recipes_of_pages_can_be_copied(page):
    """P2: a TOML block that has stages and a name is a recipe that is read."""
    texts = [block.text for block in blocks(page) if block.language == "toml"]
    whole = [text for text in texts if "[[stages]]" in text]
    names = [recipe_from_toml(text, plugins.component_registry()).name for text in whole]
    assert all(names)


@pytest.mark.parametrize("page", pages_with("json"), ids=short)
def test_cases_of_pages_can_be_copied(page):
    """E4: a line that shows a case is one that `foveate diagnose` reads."""
    shown = [json.loads(block.text) for block in blocks(page) if block.language == "json"]
    cases = [case_from_record(one, pools="chunks" in one) for one in shown if "evidence" in one]
    assert all(case.evidence for case in cases)


@pytest.mark.parametrize("page", pages_with("sh", "bash", "console"), ids=short)
def test_shown_commands_exist(page):
    """F2: the targets, commands, options and extras that a page shows are there."""
    found = [
        f"{short(page)}:{line}: {' '.join(words)}: {wrong}"
        for line, words in shown_commands(page)
        if (wrong := complaint(words))
    ]

    assert found == []


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        ("make bench-nothing", "no such target: bench-nothing"),
        ("make bench-answers LIMIT=6 -j2", ""),
        ("python -m tools.gone FILE", "no such module: tools.gone"),
        ("python -m tools.fit sets", ""),
        ("python bench/gone.py", "no such file: bench/gone.py"),
        ("foveate assemble --gone", "no such option: --gone"),
        ("pip install 'foveate[gone]'", "no such extra: gone"),
    ],
)
def test_what_is_shown_and_not_there_is_named(shown, wrong):
    """F2: a target with a hyphen, a module and a file are looked for as commands are."""
    assert complaint(shlex.split(shown)) == wrong


PROGRAM = re.compile(r"python (-m [\w.]+\w|[\w/]+\.py)|(make [a-z-]+[a-z])")


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_programs_named_in_the_text_exist(page):
    """F2: what a sentence or a table says to run with make or python is there."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    spans = re.findall(r"`([^`\n]+)`", text)
    named = [match[0] for span in spans for match in PROGRAM.finditer(span)]

    assert [f"{one}: {wrong}" for one in named if (wrong := complaint(one.split()))] == []


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_links_resolve(page):
    """Every relative link of a page leads to a file and a heading that exist."""
    broken = []
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name) if name else page
        if not path.exists():
            broken.append(f"{short(page)}: {target}")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            broken.append(f"{short(page)}: {target}: no such heading")

    assert broken == []


def test_every_page_stands_in_the_list_of_pages():
    """F1: whoever begins at docs/README.md finds each of them."""
    listed = LINK.findall((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}

    assert pages - set(listed) == set()


MAPS = [ROOT / "src" / "foveate" / room / "__init__.py" for room in ("core", "service")]


@pytest.mark.parametrize("page", [*PAGES, *MAPS], ids=short)
def test_files_of_the_code_that_a_page_names_are_there(page):
    """F1: whoever follows a page, or the map of a room, to the code arrives."""
    ours = page in MAPS or page.name == "DESIGN.md"  # a page's `app.py` may be the reader's own
    pattern = r"`([\w/]+\.py)`" if ours else r"`([\w/]+/\w+\.py)`"
    named = set(re.findall(pattern, page.read_text(encoding="utf-8")))
    folders = ("bench", "examples", "src", "tests", "tools")
    files = [f"/{file.as_posix()}" for folder in folders for file in (ROOT / folder).rglob("*.py")]

    assert {name for name in named if not any(file.endswith(f"/{name}") for file in files)} == set()


def test_the_map_of_the_core_gives_paths_from_its_folder():
    """F1: each file of its table is where it says, so that one look finds it."""
    core = ROOT / "src" / "foveate" / "core"
    table = (core / "__init__.py").read_text(encoding="utf-8").partition("| what | file |")[2]
    rows = [re.findall(r"`([^`]+)`", line) for line in table.splitlines() if line.startswith("| ")]

    assert len(rows) > 15
    assert [name for named in rows for name in named if not (core / name).is_file()] == []


def test_common_tasks_are_one_click_from_the_list_of_pages():
    """F1: twelve tasks stand before everything else, each with the page that answers it."""
    first = (ROOT / "docs" / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    wanted = {
        *("install.md", "quickstart.md", "langchain.md", "rerankers.md", "budget-for-a-model.md"),
        *("decisions.md", "multi-tenant.md", "service-safety.md", "scale.md", "evaluation.md"),
        *("add-a-stage.md", "prompt-caching.md"),
    }

    assert wanted - {link.partition("#")[0] for link in LINK.findall(first)} == set()
